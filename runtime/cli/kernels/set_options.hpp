#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/target.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>

namespace jitgemm::cli {

/// The options that name a kernel set: a problem, a range of m, and limits.
struct SetOptions {
    ProblemOptions problem;
    KernelSetOptions set;
    std::int64_t most = 10;

    void declare_limits(CLI::App& app);
    /// Throws UsageError for a limit that is none.
    void check_limits() const;
    /// `set` with the limits as they were given.
    [[nodiscard]] KernelSetOptions limits() const;
};

/// A chosen set and the GPU that it is chosen for.
struct ChosenSet {
    KernelSet set;
    Target target;
};

/// The set that a context on the target would use. It takes the range of m out of the options.
[[nodiscard]] ChosenSet choose_set(SetOptions& options);

}  // namespace jitgemm::cli
