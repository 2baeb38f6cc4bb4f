#pragma once

#include "generator/kernel_set.hpp"
#include "runtime/export/export.hpp"

#include <functional>
#include <string>

namespace jitgemm {

/// Compiles one kernel. `problem` has the first m that it serves.
using CompileForExport = std::function<CompiledKernel(const KernelSource& source, const Problem& problem)>;

/// Writes a set that needs neither jitgemm nor NVRTC at run time: NAME.c and NAME.h (the dispatcher), for each kernel i
/// the launcher NAME_i.c and NAME_i.h, for each compiled text NAME_i.cubin and NAME_i.cu, and meta.json with the set.
/// Each text is compiled once. Throws the errors of export_kernel and of `compile`.
void export_kernel_set(const KernelSet& set, const Arch& arch, const TemplateSet& templates,
                       const CompileForExport& compile, const std::string& directory,
                       const ExportOptions& options = {});

}  // namespace jitgemm
