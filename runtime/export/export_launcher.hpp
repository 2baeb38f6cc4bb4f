#pragma once

#include "generator/base/kernel_source.hpp"
#include "generator/families/family.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <string>

namespace jitgemm {

/// What the launcher of an exported kernel is written from.
struct LauncherInput {
    std::string name;  ///< C identifier
    const KernelSource& source;
    const GemmSpec& spec;  ///< resolved, as asked
    WorkspaceLayout workspace;
};

/// NAME.h and NAME.c: C99 on cuda.h and libcuda alone.
[[nodiscard]] std::string launcher_header(const LauncherInput& input);
[[nodiscard]] std::string launcher_source(const LauncherInput& input);

}  // namespace jitgemm
