#pragma once

#include "generator/base/operand.hpp"
#include "generator/generate.hpp"

#include <string>

namespace jitgemm {

/// The input of an exported kernel's launcher.
struct LauncherInput {
    std::string name;  ///< C identifier
    const KernelSource& source;
    Problem problem;
    WorkspaceLayout workspace;
    OperandList operands = gemm_operands(problem.asked);
};

/// NAME.h and NAME.c: C99 that only needs cuda.h and libcuda.
[[nodiscard]] std::string launcher_header(const LauncherInput& input);
[[nodiscard]] std::string launcher_source(const LauncherInput& input);

}  // namespace jitgemm
