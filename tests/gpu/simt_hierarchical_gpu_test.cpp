/// simt_hierarchical on a GPU: the emulator's tests on larger shapes, and the heuristic's choices.

#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_hierarchical_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

}  // namespace

TEST_CASE("simt_hierarchical: every variant over odd shapes and layouts") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        check_hierarchical_variants(context(), layout,
                                    {{1, 1, 1}, {513, 1, 129}, {41, 55, 1000}, {512, 640, 520}, {509, 521, 503}});
}

TEST_CASE("simt_hierarchical: the heuristic's choices are right from 1x1x1 up") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] :
             {Sizes{1, 1, 1}, {1, 4096, 513}, {1000, 1000, 1000}, {3000, 500, 777}, {5000000, 8, 8}}) {
            const GemmSpec spec = spec_of(layout, m, n, k, DataType::f32);
            CHECK(check_chosen(context(), spec).info().spill_bytes == 0);
        }
}
