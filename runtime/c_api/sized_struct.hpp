#pragma once

#include "jitgemm/version.hpp"
#include "runtime/c_api/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace jitgemm::c_api {

/// Every version of a struct is smaller. A larger size means that the caller did not set it.
inline constexpr std::size_t kLargestStruct = 4096;

/// A C struct as this library knows it. Members that an older, shorter one lacks are zero. Throws InvalidArgument if no
/// version has this size, or if a newer struct has set a member that this library does not know.
template <typename Struct>
[[nodiscard]] Struct read_struct(const Struct* given, const char* name, std::size_t first_version_bytes) {
    const std::size_t size = checked(given, name).size;
    if (size < first_version_bytes || size > kLargestStruct ||
        size % alignof(Struct) != 0)  // no version ends within a member
        throw InvalidArgument(
            fmt::format("{0}.size is {1}: expected sizeof({0}), here {2}", name, size, sizeof(Struct)));
    const auto* const bytes = reinterpret_cast<const std::byte*>(given);
    const auto* const set = std::find_if(bytes + std::min(size, sizeof(Struct)), bytes + size,
                                         [](std::byte b) { return b != std::byte{}; });
    if (set != bytes + size)
        throw InvalidArgument(fmt::format("{} of {} bytes has byte {} set, of a field that jitgemm {} doesn't know",
                                          name, size, set - bytes, kVersion));
    Struct known{};
    std::memcpy(&known, given, std::min(size, sizeof(Struct)));
    return known;
}

}  // namespace jitgemm::c_api
