#include "generator/families/mma_multistage/shared_accesses.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wavefronts.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

const SharedAccess& find(const std::vector<SharedAccess>& accesses, const std::string& what) {
    const auto found = std::ranges::find(accesses, what, &SharedAccess::what);
    REQUIRE(found != accesses.end());
    return *found;
}

// ---- the device code once more: templates/multistage/shared_layout.cuh and shared_to_registers.cuh, word by word ----

int device_offset(bool swizzle, int pitch, int row, int chunk) {
    if (!swizzle) return row * pitch + chunk * 16;
    const int chunks = pitch / 16;
    const int span = chunks % 8 == 0 ? 8 : chunks % 4 == 0 ? 4 : chunks % 2 == 0 ? 2 : 1;
    return row * pitch + (chunk ^ (row / (8 / span) % span)) * 16;
}

struct DeviceWavefronts {
    int instructions = 0;
    std::int64_t wavefronts = 0;
};

/// load_fragments_a in every warp and k-block.
DeviceWavefronts device_ldmatrix_a(const MmaMultistageConfig& c, bool k_major) {
    const int padding = c.shared_layout == SharedLayout::swizzle ? 0 : 16;
    const int pitch = (k_major ? c.block.k : c.block.m) * 2 + padding;
    const int atom_k8 = c.mma.k / 8;
    const auto matrix_row = [&](int q) { return q / (2 * atom_k8) * 16 + q % 2 * 8; };
    const auto matrix_k = [&](int q) { return q / 2 % atom_k8 * 8; };
    const int fragment = c.warp.m / c.mma.m * (c.mma.m * c.mma.k / 64);
    DeviceWavefronts sum;
    for (int warp = 0; warp < c.block.m / c.warp.m * (c.block.n / c.warp.n); ++warp) {
        const int warp_row = warp / (c.block.n / c.warp.n) * c.warp.m;
        for (int k_block = 0; k_block < c.block.k / c.mma.k; ++k_block) {
            for (int q = 0; q < fragment; q += c.ldmatrix_a) {
                const int wavefronts = ldmatrix_wavefronts(c.ldmatrix_a, [&](int lane) {
                    const int own = lane / 8 % c.ldmatrix_a;
                    if (k_major) {
                        const int chunk = matrix_k(own) / 8 + (k_block * c.mma.k + matrix_k(q)) / 8;
                        return device_offset(padding == 0, pitch, warp_row + matrix_row(own) + lane % 8, chunk) +
                               matrix_row(q) * pitch;
                    }
                    const int chunk = (warp_row + matrix_row(own)) / 8 + matrix_row(q) / 8;
                    return device_offset(padding == 0, pitch, matrix_k(own) + lane % 8, chunk) +
                           (k_block * c.mma.k + matrix_k(q)) * pitch;
                });
                ++sum.instructions;
                sum.wavefronts += wavefronts;
            }
        }
    }
    return sum;
}

}  // namespace

TEST_CASE("the accesses of the default kernel, counted by hand") {
    // 128x128x32 in 4 warps of 64x64, stages of 64-byte rows: a warp copies 8 rows with one cp.async.
    const GemmSignature bf16;
    const auto accesses = mma_multistage_shared_accesses(bf16, {});
    REQUIRE(accesses.size() == 6);
    for (const char* operand : {"A", "B"}) {
        const SharedAccess& copy = find(accesses, std::string("cp.async ") + operand);
        CHECK(copy.instruction == "cp.async of 16 bytes");
        CHECK(copy.instructions == 128 / 8);
        CHECK(copy.ideal == 128 * 64 / 128);  // bytes of the tile over 128
        CHECK(copy.wavefronts == copy.ideal);
        const SharedAccess& load = find(accesses, std::string("ldmatrix ") + operand);
        CHECK(load.instruction == "ldmatrix.x4");
        CHECK(load.instructions == 4 * 2 * 4);  // warps, k-blocks, 16 matrices by four
        CHECK(load.wavefronts == 4 * load.instructions);
        CHECK(load.worst == Wavefronts{4, 4});
    }
    // bf16 pairs into rows of 72 elements, 8 vectors of 16 bytes per row out of them.
    const SharedAccess& store = find(accesses, "epilogue store");
    CHECK_FALSE(store.in_mainloop);
    CHECK(store.instruction == "st.shared of 4 bytes");
    CHECK(store.instructions == 4 * 4 * 2 * 8);
    CHECK(store.wavefronts == store.ideal);
    const SharedAccess& load = find(accesses, "epilogue load");
    CHECK(load.instructions == 4 * 4 * (16 * 8 / 32));
    CHECK(load.worst == Wavefronts{4, 4});
}

TEST_CASE("ldmatrix of A conflicts just as often as the device code's addresses do") {
    for (const SharedLayout layout : {SharedLayout::swizzle, SharedLayout::padding})
        for (const bool k_major : {true, false})
            for (const int mma_k : {8, 16})
                for (const int x : {1, 2, 4})
                    for (const TileShape block : {TileShape{128, 64, 32}, {32, 32, 64}, {64, 32, 16}, {192, 64, 64}}) {
                        MmaMultistageConfig c;
                        c.block = block;
                        c.warp = {block.m / 2, 32, block.k};
                        c.mma.k = mma_k;
                        c.ldmatrix_a = x;
                        c.shared_layout = layout;
                        if (c.warp.m / 16 * mma_k / 4 % x != 0) continue;  // x doesn't divide the matrices
                        GemmSignature signature;
                        signature.layout = k_major ? GemmLayout::tn : GemmLayout::nn;
                        const auto accesses = mma_multistage_shared_accesses(signature, c);
                        const SharedAccess& counted = find(accesses, "ldmatrix A");
                        const DeviceWavefronts device = device_ldmatrix_a(c, k_major);
                        REQUIRE(counted.instructions == device.instructions);
                        REQUIRE(counted.wavefronts == device.wavefronts);
                    }
}

TEST_CASE("no candidate of the heuristic has a bank conflict in its mainloop, whatever the problem") {
    constexpr std::int64_t kShapes[][3] = {{4096, 4096, 4096}, {1000, 777, 512}, {16, 8192, 4096}, {33, 31, 4099}};
    std::size_t kernels = 0;
    std::set<int> copied_bytes;
    for (const GemmLayout layout : kLayouts)
        for (const int align : {16, 8, 4, 2})
            for (const auto& [m, n, k] : kShapes)
                for (const DataType type : {DataType::bf16, DataType::f16}) {
                    if (type == DataType::f16 && align != 16) continue;  // changes no address
                    GemmSpec spec = spec_of(layout, m, n, k);
                    spec.a = spec.b = spec.d = type;
                    if (type == DataType::f16) spec.accumulator = DataType::f16;
                    const GemmSpec packed = resolved(spec);
                    spec.align_a = std::min(align, packed.align_a);
                    spec.align_b = std::min(align, packed.align_b);
                    const GemmSignature problem = problem_of(spec).signature;
                    std::set<std::string> seen;  // stages and splits change no address
                    for (const Candidate& candidate :
                         list_candidates(problem_of(spec), find_gpu("h200"),
                                         {.kernel = {}, .family = "mma_multistage", .parameters = {}})
                             .accepted) {
                        auto c = std::get<MmaMultistageConfig>(candidate.config.family);
                        c.stages = 2;
                        c.split_k = 1;
                        if (!seen.insert(kernel_name({problem, {c}})).second) continue;
                        ++kernels;
                        for (const SharedAccess& access : mma_multistage_shared_accesses(problem, c)) {
                            if (!access.in_mainloop) continue;
                            INFO(kernel_name({problem, {c}}) << ": " << access.what << ", " << access.instruction);
                            REQUIRE(access.instructions > 0);
                            REQUIRE(access.wavefronts == access.ideal);
                        }
                        copied_bytes.insert(geometry(problem, c).a.vector_bytes);
                    }
                }
    CHECK(kernels > 1000);
    CHECK(copied_bytes == std::set<int>{4, 8, 16});
}

TEST_CASE("a legal swizzle leaves no conflict in any tile, also in those no heuristic thinks of") {
    for (const GemmLayout layout : kLayouts)
        for (const int align : {16, 8, 4, 2})
            for (const int block_m : {16, 32, 64, 128, 192, 256})
                for (const int block_k : {32, 64, 128})
                    for (const int x : {1, 2, 4}) {
                        MmaMultistageConfig c;
                        c.block = {block_m, 64, block_k};
                        c.warp = {16, 32, block_k};
                        c.ldmatrix_a = x;
                        c.ldmatrix_b = x;
                        GemmSpec spec = spec_of(layout, 1024, 1024, 1024);
                        spec.align_a = spec.align_b = align;
                        if (!MmaMultistage::violations(problem_of(spec), {c}, find_arch("sm_90a")).empty()) continue;
                        const auto accesses = mma_multistage_shared_accesses(problem_of(spec).signature, c);
                        INFO(kernel_name(problem_of(spec), {c}));
                        REQUIRE(mainloop_slowdown(accesses) == 1.0);
                    }
}

TEST_CASE(
    "padded rows of 64 bytes make copies conflict: allowed where asked for, slower in the model, never proposed") {
    // Two rows of four chunks, 80 bytes apart: chunks 0 to 3 and 5 to 8, and chunk 8 shares its banks with chunk 0.
    MmaMultistageConfig padded;
    padded.shared_layout = SharedLayout::padding;
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 4096, 4096, 4096));
    const auto accesses = mma_multistage_shared_accesses(problem_of(spec).signature, padded);
    CHECK(find(accesses, "cp.async A").worst == Wavefronts{8, 4});
    CHECK(find(accesses, "ldmatrix A").worst == Wavefronts{4, 4});
    const double slowdown = mma_multistage_conflict_slowdown(problem_of(spec).signature, padded);
    CHECK(slowdown == Approx((128.0 + 128 + 256) / (64 + 64 + 256)));  // copies twice, ldmatrix as before

    const auto reasons = MmaMultistage::discouraged(problem_of(spec), {padded});
    REQUIRE(reasons.size() == 2);
    CHECK_THAT(reasons.front(), ContainsSubstring("cp.async A") && ContainsSubstring("128 wavefronts") &&
                                    ContainsSubstring("64 would do"));
    CHECK(MmaMultistage::discouraged(problem_of(spec), {MmaMultistageConfig{}}).empty());

    Selection selection;
    selection.parameters = {{"shared", "padding"}};
    CHECK_FALSE(list_candidates(problem_of(spec), find_gpu("h200"), selection).accepted.empty());
    const Family& family = find_family("mma_multistage");
    MmaMultistageConfig swizzled = padded;
    swizzled.shared_layout = SharedLayout::swizzle;
    CHECK(family.cost(problem_of(spec), {padded}, find_gpu("h200")).shared_us >
          1.3 * family.cost(problem_of(spec), {swizzled}, find_gpu("h200")).shared_us);
}

TEST_CASE("epilogue: stores never conflict. Loads do where a phase spans two rows or a vector is wider than 16 bytes") {
    // A phase of 128 bytes covers two rows when a row holds less; the padding that keeps the stores apart then makes
    // the second row meet the first. A C in bf16 makes vectors of 8 f32: 32 bytes, taken in two loads whose lanes skip
    // 16 bytes.
    struct Case {
        int warp_n;
        bool f32_d, with_c;
        Wavefronts worst;
    };
    for (const auto& [warp_n, f32_d, with_c, worst] : {Case{64, false, false, {4, 4}},
                                                       {32, false, false, {8, 4}},
                                                       {16, false, false, {8, 4}},
                                                       {64, true, false, {4, 4}},
                                                       {32, true, false, {4, 4}},
                                                       {16, true, false, {8, 4}},
                                                       {64, false, true, {8, 4}},
                                                       {32, false, true, {8, 4}}}) {
        MmaMultistageConfig c;
        c.block = {128, 64, 32};
        c.warp = {64, warp_n, 32};
        GemmSignature signature;
        if (f32_d) signature.d = DataType::f32;
        if (with_c) signature.c = DataType::bf16;
        INFO("warp_tile.n " << warp_n << ", f32 D " << f32_d << ", C " << with_c);
        const auto accesses = mma_multistage_shared_accesses(signature, c);
        CHECK(find(accesses, "epilogue store").wavefronts == find(accesses, "epilogue store").ideal);
        CHECK(find(accesses, "epilogue load").worst == worst);
    }
}

TEST_CASE("copies of operands aligned to one element store 16-byte vectors, and small tiles leave warps out") {
    GemmSignature odd;
    odd.align_a = 2;
    const auto accesses = mma_multistage_shared_accesses(odd, {});
    CHECK(find(accesses, "st.shared A").instruction == "st.shared of 16 bytes");
    CHECK(find(accesses, "cp.async B").instruction == "cp.async of 16 bytes");

    // 4 warps cover 32 rows of 64 bytes at once; of a tile of 16 rows two of them have nothing to copy.
    MmaMultistageConfig c;
    c.block = {128, 16, 32};
    c.warp = {32, 16, 32};
    const auto uneven = mma_multistage_shared_accesses({}, c);
    CHECK(find(uneven, "cp.async A").instructions == 16);
    CHECK(find(uneven, "cp.async B").instructions == 2);
    CHECK(find(uneven, "cp.async B").ideal == 16 * 64 / 128);
}
