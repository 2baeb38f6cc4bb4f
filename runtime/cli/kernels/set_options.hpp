#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/target.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <vector>

namespace jitgemm::cli {

/// --most, --mean and --worst.
class SetLimits {
public:
    void declare(CLI::App& app);
    /// Throws UsageError for a limit that is none.
    [[nodiscard]] KernelSetOptions options() const;
    [[nodiscard]] bool are_given() const;

private:
    KernelSetOptions set_;
    std::int64_t most_ = static_cast<std::int64_t>(set_.most_bodies);
    std::vector<const CLI::Option*> declared_;
};

/// The options that name a kernel set: a problem with a range of m, and limits.
struct SetOptions {
    ProblemOptions problem;
    SetLimits limits;
};

/// A chosen set and the GPU that it is chosen for.
struct ChosenSet {
    KernelSet set;
    Target target;
};

/// The set that a context on the target would use; with limits, the one that is chosen by these. It takes the range of
/// m out of the options.
[[nodiscard]] ChosenSet choose_set(SetOptions& options);

}  // namespace jitgemm::cli
