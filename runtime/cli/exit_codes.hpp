#pragma once

#include "generator/base/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::cli {

// What the tool answers its caller with.
inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;         ///< compile error, driver error, wrong result, damaged cache ...
inline constexpr int kExitUsage = 2;          ///< mistyped verb or option, unsound problem, kernel that does not fit it
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C, as a shell reports it

/// The command line itself makes no sense.
class UsageError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
    explicit UsageError(const std::string& message) : ReasonedError(message, {}) {}
};

/// Throws UsageError, naming the option and the nearest of the known words, where its value is none of them.
inline void require_one_of(std::string_view option, std::string_view value, std::span<const std::string_view> known) {
    if (std::ranges::find(known, value) == known.end())
        throw UsageError(fmt::format("{} is '{}': {}", option, value, expected_one_of(value, known)));
}

}  // namespace jitgemm::cli
