#pragma once

#include "generator/base/kernel_entry.hpp"
#include "runtime/compiler/compiler.hpp"
#include "tests/catch.hpp"

#include <memory>

namespace jitgemm::testing {

/// By the NVRTC that the environment names, without a cache.
[[nodiscard]] inline CompiledKernel compiled(const KernelText& source) {
    static const std::shared_ptr<Compiler> kCompiler = make_nvrtc_compiler(Options::from_environment(), 0, {});
    return kCompiler->compile(compile_request(source));
}

/// CHECKs that ptxas spills nothing and warns of nothing, and that its report was read: a kernel has more than
/// `fewer_registers` registers.
inline void check_no_spills(const KernelText& source, int fewer_registers) {
    INFO(source.name);
    const PtxasReport report = compiled(source).report;
    CHECK(report.registers > fewer_registers);
    CHECK(report.spill_store_bytes + report.spill_load_bytes + report.stack_bytes == 0);
    CHECK(report.warnings.empty());
}

}  // namespace jitgemm::testing
