/// simt_long_k on a GPU: the emulator's tests on longer K, and the heuristic's choices.

#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_long_k_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& long_k_context() {
    static Context shared;
    return shared;
}

}  // namespace

TEST_CASE("simt_long_k: every variant over odd shapes and layouts") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        check_long_k_variants(long_k_context(), layout, {{1, 1, 100001}, {37, 67, 20000}, {64, 64, 65536}});
}

TEST_CASE("simt_long_k: the heuristic's choices are right and spill a few registers at most") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] : {Sizes{1, 1, 100000},
                                      {3, 5, 1000001},
                                      {64, 1, 300002},
                                      {17, 33, 500000},
                                      {64, 64, 400000},
                                      {63, 61, 99999},
                                      {64, 64, 10000000}}) {
            const GemmKernel kernel = check_chosen(long_k_context(), spec_of(layout, m, n, k, DataType::f32));
            CHECK(kernel.info().name.starts_with("simt_long_k_"));
            CHECK(kernel.info().spill_bytes <= 256);
        }
}
