#pragma once

#include "generator/generate.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/compiler/compiler.hpp"

namespace jitgemm::cli {

/// A kernel generated for the problem of the options, with or without a GPU here.
struct GeneratedKernel {
    Problem problem;
    KernelSource source;
};

/// The heuristic's or the forced choice, rendered. Says on stderr if the architecture is assumed.
[[nodiscard]] GeneratedKernel generate_kernel(const ProblemOptions& problem, Output& output);

/// From the cache, else compiled by an NVRTC whose binaries this machine's driver (if any) takes.
[[nodiscard]] CompiledKernel compile_kernel(const GeneratedKernel& kernel, const CompileRequest& request,
                                            const Options& options, Output& output);

}  // namespace jitgemm::cli
