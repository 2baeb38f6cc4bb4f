#include "generator/families/kernel_config.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"

#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

using Config = WgmmaWarpSpecializedConfig;

const GpuModel& h200() { return find_gpu("h200"); }

/// Bytes of A and B in one stage.
int stage_bytes(const Config& c) { return (c.block.m + c.block.n) * c.block.k * 2; }

bool fits(const Problem& problem, const Config& c) {
    return WgmmaWarpSpecialized::violations(problem, c, *h200().arch).empty();
}

}  // namespace

TEST_CASE("wgmma: blocks of a cluster share rows of B that suit its copies") {
    for (const char* const shape : {"bf16 tn 3000 3000 3000", "bf16 tn 4095 4097 4099", "bf16 tt 10464 392 2360",
                                    "bf16 tn 6720 24 2240", "bf16 nn 6720 24 2240", "bf16 nt 6720 24 2240"}) {
        const Problem problem = problem_of(parse_shape_line(shape));
        const bool k_major = order_b(problem.row_major().layout) == Order::column;
        for (const Config& c : WgmmaWarpSpecialized::candidates(problem, h200())) {
            if (!k_major || c.swap_ab || c.cluster.m == 1) continue;
            INFO(shape << ": " << parameters_text(KernelConfig{c}));
            const int rows = c.block.n / c.cluster.m;
            CHECK(rows >= 8);  // a box of a panel
            if (c.cluster.m * c.cluster.n == 2 || c.store == OutputStore::shared) CHECK(rows % 8 == 0);
        }
    }
}

TEST_CASE("wgmma: the ring of a large tile leaves room for one stage at most") {
    constexpr int kLarge = 32 * 1024;
    for (const char* const shape : {"bf16 tn 3000 3000 3000", "bf16 tn 4095 4097 4099", "bf16 nt 4096 4096 4096"}) {
        const Problem problem = problem_of(parse_shape_line(shape));
        int seen = 0;
        for (Config c : WgmmaWarpSpecialized::candidates(problem, h200())) {
            if (stage_bytes(c) < kLarge) continue;
            INFO(shape << ": " << parameters_text(KernelConfig{c}));
            ++seen;
            c.stages += 2;
            CHECK_FALSE(fits(problem, c));
        }
        CHECK(seen > 10);
    }
}

TEST_CASE("wgmma: no candidate breaks a rule") {
    for (const GemmLayout layout : kLayouts)
        for (const std::int64_t size : {1000, 1001})
            for (const bool with_c : {false, true})
                for (const bool broadcast : {false, true}) {
                    if (broadcast && !with_c) continue;
                    GemmSpec asked = spec_of(layout, size, 3 * size, 500 + size);
                    if (with_c) asked.c = asked.d;
                    asked.broadcast_c = broadcast;
                    const Problem problem = problem_of(asked);
                    const std::vector<Config> candidates = WgmmaWarpSpecialized::candidates(problem, h200());
                    CHECK(candidates.size() > 500);
                    for (const Config& c : candidates) {
                        const std::vector<std::string> broken =
                            WgmmaWarpSpecialized::violations(problem, c, *h200().arch);
                        if (broken.empty()) continue;
                        FAIL_CHECK(to_string(asked)
                                   << ": " << parameters_text(KernelConfig{c}) << ": " << broken.front());
                    }
                }
}
