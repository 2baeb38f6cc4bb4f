#pragma once

#include "jitgemm/context.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "runtime/cli/npy.hpp"
#include "runtime/cli/operand_files.hpp"
#include "runtime/cli/output.hpp"
#include "runtime/cli/problem_options.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// The files of a product on the user's arrays: D = alpha A B + beta C.
struct ArrayFiles {
    std::string a, b, c;                ///< empty: not given
    std::vector<std::string> outs;      ///< FILE.npy for D, NAME=FILE.npy for another output of an epilogue
    std::vector<std::string> operands;  ///< of an epilogue

    void declare(CLI::App& app);
    [[nodiscard]] bool any() const {
        return !(a.empty() && b.empty() && c.empty() && outs.empty() && operands.empty());
    }
};

/// The arrays of the files, and the problem that they make.
struct ArrayProblem {
    NpyMatrix a;
    NpyMatrix b;
    std::optional<NpyMatrix> c;
    OperandFiles operands;
    OutputFiles outputs;
    ProblemRequest request;
};

/// m, n, k and the orders come from the files; types come from the files and the options. Throws UsageError with
/// everything that does not fit together.
[[nodiscard]] ArrayProblem read_arrays(const ArrayFiles& files, const ProblemOptions& options, Output& output);

/// Multiplies the arrays on the device and writes all outputs.
void multiply_arrays(Context& context, const GemmKernel& kernel, const ArrayProblem& arrays, Output& output);

}  // namespace jitgemm::cli
