#pragma once

#include "generator/base/kernel_source.hpp"
#include "runtime/compiler/compiler.hpp"

#include <memory>

namespace jitgemm::testing {

/// By the NVRTC that the environment names, without a cache.
[[nodiscard]] inline CompiledKernel compiled(const KernelSource& source) {
    static const std::shared_ptr<Compiler> kCompiler = make_nvrtc_compiler(Options::from_environment(), 0, {});
    return kCompiler->compile(compile_request(source));
}

}  // namespace jitgemm::testing
