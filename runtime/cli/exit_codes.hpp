#pragma once

#include "jitgemm/error.hpp"

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

}  // namespace jitgemm::cli
