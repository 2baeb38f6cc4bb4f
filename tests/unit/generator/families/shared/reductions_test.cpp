#include "generator/families/shared/reductions.hpp"

#include "generator/families/family.hpp"
#include "tests/catch.hpp"

using namespace jitgemm;

namespace {

Problem reducing_problem() {
    return problem_of(
        {.m = 200,
         .n = 300,
         .k = 64,
         .a = DataType::bf16,
         .b = DataType::bf16,
         .d = DataType::bf16,
         .epilogue = "d = acc; r[n] = sum(acc); q[m] = max(acc); low[0] = min(acc); s[m] = sum(acc * acc)"});
}

std::size_t bytes_of_parts(const Problem& problem, const KernelConfig& config) {
    const WorkspaceLayout layout = workspace_layout(problem, config);
    CHECK(layout.reduction_parts % 256 == 0);
    return layout.bytes - layout.reduction_parts;
}

}  // namespace

TEST_CASE("a kernel that reduces has room for parts, and an entry that combines them") {
    const Problem problem = reducing_problem();
    // Parts are of 16 rows or 256 columns: there are 13 of rows and 2 of columns.
    WgmmaWarpSpecializedConfig config{.block = {128, 256, 64}, .warpgroup = {64, 256, 64}};
    CHECK(bytes_of_parts(problem, {config}) == 4 * (13 * 300 + 2 * 200 + 13 * 2 + 2 * 200));
    const std::vector<KernelEntry> entries = family_of({config}).entries(problem.signature, {config});
    REQUIRE(entries.size() == 2);
    CHECK(entries.back().function == "gemm_finish_parts");
    CHECK(entries.back().arguments == entries.front().arguments);
    // D^T has 300 rows and 200 columns.
    config.swap_ab = true;
    config.block = config.warpgroup = {64, 104, 64};
    CHECK(bytes_of_parts(problem, {config}) == 4 * (2 * 300 + 19 * 200 + 19 * 2 + 19 * 200));
}

TEST_CASE("a kernel that makes no parts leaves each value once") {
    const Problem problem = reducing_problem();
    const KernelConfig config{MmaMultistageConfig{}};
    // acc, which three reductions go over, and its square; then parts of 32 rows or columns.
    CHECK(bytes_of_parts(problem, config) == 4 * (2 * 200 * 300 + 7 * 300 + 10 * 200 + 7 * 10 + 10 * 200));
    CHECK(family_of(config).entries(problem.signature, config).size() == 3);
}

TEST_CASE("a reduction over blocks of columns has kernels with wgmma alone, and no parts") {
    const Problem problem = problem_of({.m = 64, .n = 64, .k = 64, .epilogue = "d = acc; r[m,n/32] = max(acc)"});
    CHECK(count_of_reductions(problem.signature) == 0);
    for (const Family& family : family_table()) {
        INFO(family.name);
        CHECK(family.unsupported(problem, find_arch("sm_90a")).empty() == (family.name == "wgmma_warp_specialized"));
    }
    for (const char* const text : {"d = acc; r[m/32,n] = max(acc)", "d = acc; r[m,n/48] = max(acc)",
                                   "d = acc; r[m,n/32] = max(acc); s[m,n/64] = max(acc)"}) {
        INFO(text);
        const Problem refused = problem_of({.m = 64, .n = 64, .k = 64, .epilogue = text});
        for (const Family& family : family_table())
            CHECK_FALSE(family.unsupported(refused, find_arch("sm_90a")).empty());
    }
}
