#pragma once

#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm::cli {

// The tool's exit codes.
inline constexpr int kExitFine = 0;
inline constexpr int kExitFailed = 1;         ///< compile error, driver error, wrong result, damaged cache ...
inline constexpr int kExitUsage = 2;          ///< mistyped verb or option, unsound problem, kernel that does not fit it
inline constexpr int kExitInterrupted = 130;  ///< Ctrl-C, as a shell reports it

/// A command line that makes no sense.
class UsageError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
    explicit UsageError(const std::string& message) : ReasonedError(message, {}) {}
};

/// Throws UsageError, with the option and the nearest known word, if the value is none of the known words.
inline void require_one_of(std::string_view option, std::string_view value, std::span<const std::string_view> known) {
    if (std::ranges::find(known, value) == known.end())
        throw UsageError(fmt::format("{} is '{}': {}", option, value, expected_one_of(value, known)));
}

}  // namespace jitgemm::cli
