#include "runtime/bench/epilogue_pass_text.hpp"

#include "runtime/compiler/compiler.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

TEST_CASE("an epilogue's pass compiles for old and new architectures, without spills, and reads 16 bytes at a time") {
    const std::shared_ptr<Compiler> compiler = make_nvrtc_compiler(Options::from_environment(), 0, "");
    const GemmSpec spec = resolved(
        {.m = 4096, .n = 4096, .k = 64, .epilogue = "d = silu(acc + bias[n]) * up[m,n] + beta * residual[m,n]"});
    for (const char* arch : {"sm_80", "sm_90a"}) {
        INFO(arch);
        const CompiledKernel kernel =
            compiler->compile(compile_request(pass_kernel(pass_problem(spec), find_arch(arch))));
        INFO(kernel.log);
        CHECK(kernel.report.spill_store_bytes == 0);
        CHECK(kernel.report.stack_bytes == 0);
        CHECK(kernel.report.registers <= 64);  // four blocks of 256 threads on an SM
        CHECK(kernel.report.warnings.empty());
    }
    CompileRequest for_emulator = compile_request(pass_kernel(pass_problem(spec), find_arch("sm_90a")));
    for_emulator.arch = "compute_90a";
    const std::string ptx = compiler->compile(for_emulator).binary;
    std::size_t at = ptx.find("ld.global");
    REQUIRE(at != std::string::npos);
    for (; at != std::string::npos; at = ptx.find("ld.global", at + 1))
        CHECK(ptx.substr(at).starts_with("ld.global.v4."));
}
