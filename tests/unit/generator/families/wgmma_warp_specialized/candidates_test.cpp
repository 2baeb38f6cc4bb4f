#include "generator/families/kernel_config.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"

#include <fmt/ranges.h>

#include <set>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

using Config = WgmmaWarpSpecializedConfig;

const GpuModel& h200() { return find_gpu("h200"); }

/// The stages with which a block tile is proposed in a cluster.
std::set<int> stages_of(const GemmSpec& spec, const TileShape& block, const TileShape& cluster, bool stream_k = false) {
    std::set<int> stages;
    for (const Config& c : WgmmaWarpSpecialized::candidates(problem_of(spec), h200()))
        if (c.block == block && c.cluster == cluster && (c.stream_k != 0) == stream_k) stages.insert(c.stages);
    return stages;
}

std::set<int> stages_of(const char* shape, const TileShape& block, const TileShape& cluster) {
    return stages_of(parse_shape_line(shape), block, cluster);
}

using Stages = std::set<int>;
const Stages kNone;
constexpr TileShape kAlone{1, 1, 1};

}  // namespace

TEST_CASE("wgmma: what candidates share in clusters, and how they share out shared memory") {
    SECTION(
        "pairs share whole eights of B's rows, clusters of four and eight any number, and a stage may take a slice's "
        "place") {
        const char* shape = "bf16 tn 3000 3000 3000";
        CHECK(stages_of(shape, {128, 144, 64}, {2, 1, 1}) == Stages{5});
        CHECK(stages_of(shape, {128, 152, 64}, {2, 1, 1}) == kNone);
        CHECK(stages_of(shape, {128, 152, 64}, {1, 2, 1}) == Stages{5});
        for (const TileShape& cluster :
             {TileShape{2, 2, 1}, TileShape{4, 1, 1}, TileShape{1, 4, 1}, TileShape{4, 2, 1}, TileShape{2, 4, 1}})
            CHECK(stages_of(shape, {128, 152, 64}, cluster) == Stages{5, 6});
    }
    SECTION("alone and in pairs it does in rings of three") {
        CHECK(stages_of("bf16 tn 3000 3000 3000", {256, 152, 64}, kAlone) == Stages{3, 4});
        CHECK(stages_of("bf16 tn 3000 3000 3000", {256, 152, 64}, {1, 2, 1}) == Stages{3, 4});
    }
    SECTION("clusters of more than two are for tiles that take longer to fetch than to multiply") {
        CHECK(stages_of("bf16 tn 3000 3000 3000", {256, 152, 64}, {2, 4, 1}) == kNone);
        CHECK(stages_of("bf16 tt 10464 392 2360", {256, 152, 64}, {2, 4, 1}) == Stages{3, 4});
        CHECK(stages_of("bf16 tn 4096 4096 4096", {128, 256, 64}, {2, 2, 1}) == kNone);
    }
    SECTION("where D is stored row by row, clusters of four share whole eights, too, and a slice is no stage") {
        const char* shape = "bf16 tn 4095 4097 4099";
        CHECK(stages_of(shape, {128, 152, 64}, {2, 2, 1}) == kNone);
        CHECK(stages_of(shape, {128, 96, 64}, {2, 2, 1}) == Stages{6});
        CHECK(stages_of(shape, {256, 152, 64}, kAlone) == Stages{3});
    }
    SECTION("of a K-major tile of B each block shares eight rows at least; an MN-major one is shared by rows of K") {
        CHECK(stages_of("bf16 tn 6720 24 2240", {64, 24, 128}, {4, 1, 1}) == kNone);
        CHECK(stages_of("bf16 nn 6720 24 2240", {64, 24, 128}, {4, 1, 1}) == kNone);
        CHECK(stages_of("bf16 nt 6720 24 2240", {64, 24, 128}, {4, 1, 1}) == Stages{6, 7});
        CHECK_FALSE(stages_of("bf16 tt 6720 24 2240", {64, 24, 128}, {4, 1, 1}).empty());
    }
    SECTION("stream-K with C and D row by row is for tiles of 64x152 at most") {
        GemmSpec spec = parse_shape_line("bf16 tn 4095 4097 4099");
        spec.c = spec.d;
        CHECK_FALSE(stages_of(spec, {64, 152, 64}, kAlone, true).empty());
        CHECK(stages_of(spec, {64, 160, 64}, kAlone, true).empty());
        CHECK_FALSE(stages_of(spec, {64, 160, 64}, kAlone).empty());
        spec.c.reset();
        CHECK_FALSE(stages_of(spec, {128, 96, 64}, kAlone, true).empty());
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
