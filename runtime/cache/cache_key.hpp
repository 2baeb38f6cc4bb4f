#pragma once

#include "runtime/compiler/compiler.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace jitgemm {

/// Version of the layout and of the key of cache entries. A new version leaves old entries alone.
inline constexpr int kCacheFormat = 2;

/// Everything that decides a binary. The body enters by hash and length, so that meta.json is enough to check the key.
struct KeyFields {
    int format = kCacheFormat;
    std::string body_hash;
    std::size_t body_bytes = 0;
    std::string arch;
    std::vector<std::string> options;
    int nvrtc_version = 0;
    std::string nvrtc_build;  ///< of the library: a new patch level is another compiler with the same version
    friend bool operator==(const KeyFields&, const KeyFields&) = default;
};
[[nodiscard]] KeyFields key_fields(const CompileRequest& request, int nvrtc_version,
                                   const std::string& nvrtc_build = {});

/// 32 hexadecimal digits.
[[nodiscard]] std::string key_hash(const KeyFields& fields);

/// Names of the fields in which two keys differ: format, body, arch, options, nvrtc_version,
/// nvrtc_build.
[[nodiscard]] std::vector<std::string> differing_fields(const KeyFields& one, const KeyFields& other);

}  // namespace jitgemm
