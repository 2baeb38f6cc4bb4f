#pragma once

#include "jitgemm/options.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"

#include <memory>
#include <string>

namespace jitgemm::tuning {

/// The work of a compile worker: it generates, compiles with NVRTC, and leaves the binary in the scratch cache
/// (`command.options.cache_directory`), where ContextState::load() finds it. Throws Error if there is no NVRTC.
[[nodiscard]] std::unique_ptr<CompileWork> make_compile_work(const WorkerCommand& command);
/// The same with another compiler. A CompileError with a log means that it refused the kernel.
[[nodiscard]] std::unique_ptr<CompileWork> make_compile_work(const Options& options,
                                                             std::shared_ptr<Compiler> compiler);

/// Equal for kernels with the same machine code (cubin_text, or ptx_text for PTX) and the same launch.
[[nodiscard]] std::string text_hash(const KernelText& kernel, const CompiledKernel& compiled);

}  // namespace jitgemm::tuning
