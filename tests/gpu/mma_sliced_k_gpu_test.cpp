/// mma_sliced_k on a GPU: every variant over layouts, types and sizes, and what the heuristic chooses.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/sliced_k_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

#define REQUIRE_TMA() \
    REQUIRE_GPU();    \
    if (!state_of(context()).device->model().arch->has_tma) SKIP_TEST("this GPU has no TMA")

}  // namespace

TEST_CASE("sliced-K: every variant over layouts, types and sizes") {
    REQUIRE_TMA();
    for (const GemmLayout layout : kLayouts)
        check_sliced_k_variants(context(), layout,
                                {{1, 1}, {63, 65}, {1000, 127}, {130, 1100}, {9001, 264}, {333, 10007}});
}

TEST_CASE("sliced-K: the heuristic's choices for few rows and columns, both operands constant or none") {
    REQUIRE_TMA();
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] : {Sizes{1, 4096, 4096}, Sizes{8, 2112, 7168}, Sizes{24, 20000, 776},
                                      Sizes{5000, 16, 1024}, Sizes{32, 32, 100000}, Sizes{300, 1, 64}})
            for (const bool constant : {false, true}) {
                GemmSpec spec = spec_of(layout, m, n, k);
                spec.constant_a = spec.constant_b = constant;
                static_cast<void>(check_chosen(context(), spec));
            }
}
