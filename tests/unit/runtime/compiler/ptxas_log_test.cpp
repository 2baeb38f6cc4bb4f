#include "runtime/compiler/compiler.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

namespace {

// As NVRTC 13.0 wrote it, for a module of two functions.
constexpr const char* kLog130 = R"(kernel.cu(4): warning #177-D: variable "unused" was declared but never referenced
      int unused = 3;
          ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

ptxas info    : 0 bytes gmem
ptxas info    : CompileService entry function 'k2' for 'sm_90a'
ptxas info    : Function properties for k2
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers
ptxas info    : Compile time = 9.623 ms
ptxas info    : CompileService entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
ptxas         .     160 bytes stack frame, 24 bytes spill stores, 36 bytes spill loads
ptxas info    : Used 112 registers, used 1 barriers, 160 bytes cumulative stack size, 4096 bytes smem
ptxas info    : Compile time = 37.272 ms
)";

// As NVRTC 12.4 wrote it.
constexpr const char* kLog124 = R"(ptxas info    : 0 bytes gmem
ptxas info    : CompileService entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
ptxas         .     160 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads
ptxas info    : Used 112 registers, 160 bytes cumulative stack size, 4096 bytes smem, 400 bytes cmem[0]
)";

}  // namespace

TEST_CASE("the ptxas log of NVRTC 13.0") {
    const PtxasReport report = parse_ptxas_log(kLog130);
    CHECK(report.registers == 112);
    CHECK(report.spill_store_bytes == 24);
    CHECK(report.spill_load_bytes == 36);
    CHECK(report.stack_bytes == 160);
    CHECK(report.static_shared_bytes == 4096);
    CHECK(report.warnings ==
          std::vector<std::string>{
              "kernel.cu(4): warning #177-D: variable \"unused\" was declared but never referenced"});
}

TEST_CASE("the ptxas log of NVRTC 12.4") {
    const PtxasReport report = parse_ptxas_log(kLog124);
    CHECK(report.registers == 112);
    CHECK(report.spill_store_bytes == 8);
    CHECK(report.spill_load_bytes == 4);
    CHECK(report.stack_bytes == 160);
    CHECK(report.static_shared_bytes == 4096);
    CHECK(report.warnings.empty());
}

TEST_CASE("spills of several functions add up") {
    const PtxasReport report = parse_ptxas_log(
        "  0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n"
        "  0 bytes stack frame, 16 bytes spill stores, 2 bytes spill loads\n");
    CHECK(report.spill_store_bytes == 24);
    CHECK(report.spill_load_bytes == 6);
}

TEST_CASE("advisories and warnings of ptxas are kept") {
    const char* const advisory =
        "ptxas info    : (C7511) Potential Performance Loss: wgmma.mma_async instructions are serialized "
        "due to insufficient register resources for the wgmma pipeline in the function 'k'";
    const char* const warning =
        "ptxas warning : Value of threads per SM for entry k is out of range. .minnctapersm will be ignored";
    const PtxasReport report = parse_ptxas_log(std::string(advisory) + "\n" + warning + "\r\n");
    CHECK(report.warnings == std::vector<std::string>{advisory, warning});
}

TEST_CASE("an empty log tells nothing") { CHECK(parse_ptxas_log("") == PtxasReport{}); }
