#include "runtime/verify/reference_kernels.hpp"

#include "runtime/compiler/compiler.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

TEST_CASE("the reference kernels compile for old and new architectures, without a header and without spills") {
    const std::shared_ptr<Compiler> compiler = make_nvrtc_compiler(Options::from_environment(), 0, "");
    for (const char* arch : {"sm_80", "sm_90a"}) {
        INFO(arch);
        const CompiledKernel kernel = compiler->compile(compile_request(reference_kernel_source(find_arch(arch))));
        INFO(kernel.log);
        CHECK(
            kernel.binary.starts_with("\x7f"
                                      "ELF"));
        CHECK(kernel.report.spill_store_bytes == 0);
        CHECK(kernel.report.spill_load_bytes == 0);
        CHECK(kernel.report.stack_bytes == 0);
        CHECK(kernel.report.warnings.empty());
        for (const KernelEntry& entry : reference_kernel_source(find_arch(arch)).entries)
            CHECK(kernel.binary.find(".text." + entry.function) != std::string::npos);
    }
}
