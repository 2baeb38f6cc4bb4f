#pragma once

#include "generator/generate.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/export/export_folder.hpp"

#include <string>

namespace jitgemm {

struct ExportOptions {
    std::string name;    ///< C identifier with which files and functions begin; empty: "gemm_<type>_<layout>"
    bool force = false;  ///< write into a folder that is not empty; files of the same names are replaced
};

/// Writes a kernel that needs neither jitgemm nor NVRTC at run time: <directory>/{NAME.cubin, NAME.h, NAME.c (a
/// launcher on the Driver API), NAME.cu (the compiled source), meta.json}. A new folder appears whole or not at all. An
/// existing folder keeps its mode, owner and other contents. Throws Error if it is not empty (unless forced) or cannot
/// be written, or if the name is no C identifier.
void export_kernel(const KernelSource& source, const Problem& problem, const CompiledKernel& compiled,
                   const std::string& directory, const ExportOptions& options = {});

/// The name of the options, or the default one. Throws ConfigError if it is no C identifier. Throws SpecError for a
/// problem with the text of an epilogue.
[[nodiscard]] std::string checked_export_name(const ExportOptions& options, const GemmSpec& spec);

}  // namespace jitgemm
