#pragma once

#include "generator/error.hpp"

namespace jitgemm::cli {

/// What the tool answers its caller with.
enum ExitCode : int {
    kExitFine = 0,
    kExitFailed = 1,            ///< compile error, driver error, wrong result, damaged cache ...
    kExitUsage = 2,             ///< mistyped verb or option, unsound problem, kernel that does not fit it
    kExitInterrupted = 130,     ///< Ctrl-C, as a shell reports it
};

/// The command line itself makes no sense.
class UsageError : public ReasonedError {
public:
    using ReasonedError::ReasonedError;
    explicit UsageError(const std::string& message) : ReasonedError(message, {}) {}
};

}  // namespace jitgemm::cli
