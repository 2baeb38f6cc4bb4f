#pragma once

#include "generator/kernel_source.hpp"
#include "runtime/compiler.hpp"
#include "runtime/jitgemm.hpp"

#include <string>

namespace jitgemm {

struct ExportOptions {
    std::string name;    ///< C identifier that files and functions begin with; empty: "gemm_<type>_<layout>"
    bool force = false;  ///< write into a folder that holds something already; files of the same names are replaced
};

/// Writes a kernel to take away, which needs neither jitgemm nor NVRTC at run time: <directory>/{NAME.cubin, NAME.h,
/// NAME.c (a launcher on the Driver API), NAME.cu (what was compiled), meta.json}. The folder appears whole or not at
/// all. Throws Error when it is there and not empty (unless forced) or the name is no C identifier, std::system_error
/// when it cannot be written.
void export_kernel(const KernelSource& source, const GemmSpec& spec, const CompiledKernel& compiled,
                   const std::string& directory, const ExportOptions& options = {});
void export_kernel(const GemmKernel::State& kernel, const CompiledKernel& compiled, const std::string& directory,
                   const ExportOptions& options = {});

}  // namespace jitgemm
