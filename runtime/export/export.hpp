#pragma once

#include "generator/generate.hpp"
#include "runtime/compiler/compiler.hpp"

#include <string>

namespace jitgemm {

struct ExportOptions {
    std::string name;    ///< C identifier that files and functions begin with; empty: "gemm_<type>_<layout>"
    bool force = false;  ///< write into a folder that holds something already; files of the same names are replaced
};

/// Writes a kernel to take away, which needs neither jitgemm nor NVRTC at run time: <directory>/{NAME.cubin, NAME.h,
/// NAME.c (a launcher on the Driver API), NAME.cu (what was compiled), meta.json}. A new folder appears whole or not at
/// all; one that is there keeps its mode and owner, and what else lies in it. Throws Error when it is not empty (unless
/// forced) or cannot be written, or when the name is no C identifier.
void export_kernel(const KernelSource& source, const Problem& problem, const CompiledKernel& compiled,
                   const std::string& directory, const ExportOptions& options = {});

/// Throws what export_kernel would of this folder: asked before seconds of compiling.
void require_export_folder(const std::string& directory, bool force);

}  // namespace jitgemm
