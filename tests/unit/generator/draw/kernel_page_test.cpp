#include "generator/draw/kernel_page.hpp"

#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/markup_check.hpp"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

/// 128×128×32 by four warps of 64×64, four stages, groups of eight: everything below is worked out by hand for it.
MmaMultistageConfig known_config() {
    MmaMultistageConfig config;
    config.block = {128, 128, 32};
    config.warp = {64, 64, 32};
    config.mma = {16, 8, 16};
    config.stages = 4;
    config.rasterization = Rasterization::grouped_m;
    config.group = 8;
    return config;
}

GemmSpec cube(std::int64_t extent, GemmLayout layout = GemmLayout::tn) {
    GemmSpec spec;
    spec.m = spec.n = spec.k = extent;
    spec.layout = layout;
    return spec;
}

KernelPage known_page() { return kernel_page(problem_of(cube(4096)), {known_config()}, find_gpu("h200")); }

std::string states(const PipelineStep& step) {
    std::string text;
    for (const StageUse& use : step.stages) {
        if (use.state == StageState::empty) text += "- ";
        if (use.state == StageState::copy_issued) text += fmt::format("c{} ", use.k_tile);
        if (use.state == StageState::in_flight) text += fmt::format("w{} ", use.k_tile);
        if (use.state == StageState::computed) text += fmt::format("x{} ", use.k_tile);
    }
    text.pop_back();
    return text;
}

}  // namespace

TEST_CASE("a kernel's page: tiling of a known kernel") {
    const KernelTiling tiling = known_page().tiling;
    CHECK(tiling.warps_m == 2);
    CHECK(tiling.warps_n == 2);
    CHECK(tiling.atoms_m == 4);
    CHECK(tiling.atoms_n == 8);
    CHECK(tiling.k_blocks == 2);
    REQUIRE(tiling.warp_of_atom.size() == 8 * 16);
    for (int row = 0; row < 8; ++row) {
        for (int column = 0; column < 16; ++column)
            CHECK(tiling.warp_of_atom[16 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)] ==
                  (row < 4 ? 0 : 2) + (column < 8 ? 0 : 1));
    }
}

TEST_CASE("a kernel's page: shared memory of a known kernel") {
    const KernelSharedTile tile = known_page().shared_a;
    CHECK(tile.k_major);
    CHECK(tile.rows == 128);
    CHECK(tile.chunks == 4);
    CHECK(tile.pitch_bytes == 64);
    CHECK(tile.span_bytes == 64);
    const auto offset = [&](int row, int chunk) { return tile.offset_of(row, chunk); };
    CHECK(offset(0, 3) == 48);
    CHECK(offset(1, 0) == 64);   // two rows of 64 bytes share a term
    CHECK(offset(2, 0) == 144);  // 0 XOR 1
    CHECK(offset(2, 1) == 128);
    CHECK(offset(7, 0) == 496);  // 0 XOR 3
    CHECK(offset(8, 0) == 512);  // the pattern begins again
    CHECK(tile.ldmatrix == LdmatrixChoice{4, false, 16, 4});
    REQUIRE(tile.lanes.size() == 32);
    for (int lane = 0; lane < 32; ++lane) {
        CHECK(tile.lanes[static_cast<std::size_t>(lane)].row == lane % 16);
        CHECK(tile.lanes[static_cast<std::size_t>(lane)].chunk == lane / 16);
    }
    CHECK(tile.lanes[31].offset == 15 * 64 + (1 ^ 3) * 16);
    CHECK(tile.wavefronts == Wavefronts{4, 4});
    CHECK(first_bank(tile.lanes[31].offset) == 24);
}

TEST_CASE("a kernel's page: every chunk of a tile has bytes of its own, in every order and layout") {
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt}) {
        for (const SharedLayout shared : {SharedLayout::swizzle, SharedLayout::padding}) {
            MmaMultistageConfig config = known_config();
            config.shared_layout = shared;
            const KernelPage page = kernel_page(problem_of(cube(512, layout)), {config}, find_gpu("h200"));
            for (const KernelSharedTile& tile : {page.shared_a, page.shared_b}) {
                std::set<int> seen;
                for (const int offset : tile.offset) {
                    CHECK(offset % 16 == 0);
                    CHECK(seen.insert(offset).second);
                }
                CHECK(static_cast<int>(seen.size()) == tile.rows * tile.chunks);
                CHECK(*seen.rbegin() + 16 <= tile.rows * tile.pitch_bytes);
                CHECK((tile.span_bytes == 0) == (shared == SharedLayout::padding));
            }
        }
    }
}

TEST_CASE("a kernel's page: accumulators of a known kernel") {
    const KernelAccumulators accumulators = known_page().accumulators;
    CHECK(accumulators.atom == "SM80_16x8x16_F32BF16BF16F32_TN");
    CHECK(accumulators.registers == 128);
    CHECK(accumulators.registers_per_atom == 4);
    REQUIRE(accumulators.atom_holders.size() == 16 * 8);
    // PTX ISA, m16n8k16: rows g and g + 8 of lane group g, columns 2t and 2t + 1 of thread t in its group.
    for (int row = 0; row < 16; ++row) {
        for (int column = 0; column < 8; ++column) {
            const auto& holder =
                accumulators.atom_holders[8 * static_cast<std::size_t>(row) + static_cast<std::size_t>(column)];
            CHECK(holder.lane == row % 8 * 4 + column / 2);
            CHECK(holder.value == row / 8 * 2 + column % 2);
            CHECK(holder.accumulator_register == holder.value);
        }
    }
    REQUIRE(accumulators.first_register.size() == 4 * 8);
    for (int atom = 0; atom < 32; ++atom)
        CHECK(accumulators.first_register[static_cast<std::size_t>(atom)] == 4 * atom);
}

TEST_CASE("a kernel's page: the pipeline fills, runs and drains") {
    const KernelPipeline pipeline = known_page().pipeline;
    CHECK(pipeline.k_tiles == 128);
    REQUIRE(pipeline.steps.size() == 3 + 10 + 4);  // prologue, first and last iterations
    CHECK(states(pipeline.steps[0]) == "c0 - - -");
    CHECK(states(pipeline.steps[2]) == "w0 w1 c2 -");
    CHECK(states(pipeline.steps[3]) == "x0 w1 w2 c3");
    CHECK(states(pipeline.steps[4]) == "c4 x1 w2 w3");
    CHECK(states(pipeline.steps[13]) == "x124 w125 w126 c127");
    CHECK(states(pipeline.steps[14]) == "- x125 w126 w127");
    CHECK(states(pipeline.steps[16]) == "- - - x127");
}

TEST_CASE("a kernel's page: a pipeline longer than its k-tiles") {
    const KernelPage page = kernel_page(problem_of(cube(64)), {known_config()}, find_gpu("h200"));
    CHECK(page.pipeline.k_tiles == 2);
    REQUIRE(page.pipeline.steps.size() == 5);
    CHECK(states(page.pipeline.steps[2]) == "w0 w1 - -");
    CHECK(states(page.pipeline.steps[3]) == "x0 w1 - -");
    CHECK(states(page.pipeline.steps[4]) == "- x1 - -");
}

TEST_CASE("a kernel's page: no stage is overwritten before it was computed on, whatever the number of stages") {
    for (int stages = 2; stages <= 8; ++stages) {
        std::map<std::int64_t, int> copied;  // k-tile → step
        for (std::int64_t k_tile = 0; k_tile < 20; ++k_tile) {
            const PipelineStep step = iteration(stages, k_tile, 20);
            CHECK(step.stages[static_cast<std::size_t>(k_tile % stages)] == StageUse{StageState::computed, k_tile});
            for (const StageUse& use : step.stages) {
                if (use.state == StageState::copy_issued) CHECK(use.k_tile == k_tile + stages - 1);
                if (use.state == StageState::in_flight)
                    CHECK((use.k_tile > k_tile && use.k_tile < k_tile + stages - 1));
            }
        }
    }
}

TEST_CASE("a kernel's page: rasterization and footprint of a known kernel") {
    const KernelRasterization r = known_page().rasterization;
    CHECK(r.tiles == TileIndex{32, 32});
    CHECK(r.blocks == 1024);
    CHECK(r.blocks_per_sm == 2);     // 240 registers × 128 threads: two fit 65536
    CHECK(r.first_wave == 2 * 132);  // of 256 blocks in a group of eight: the first group and a column of the second
    CHECK(r.own.first_wave[0] == TileIndex{0, 0});
    CHECK(r.own.first_wave[9] == TileIndex{1, 1});
    CHECK(r.own.first_wave[263] == TileIndex{15, 0});
    const std::int64_t strip = std::int64_t{128} * 4096 * 2;
    CHECK(r.own.footprint == WaveFootprint{16 * strip, 32 * strip});
    CHECK(r.row_major.footprint == WaveFootprint{9 * strip, 32 * strip});
}

TEST_CASE("a kernel's page: of very many tiles the upper left ones are drawn, each with its own block") {
    GemmSpec wide = cube(64);
    wide.m = 128 * 50;
    wide.n = 128 * 3000;
    const KernelRasterization r = kernel_page(problem_of(wide), {known_config()}, find_gpu("h200")).rasterization;
    CHECK(r.drawn == TileIndex{40, 40});
    REQUIRE(r.own.block_of.size() == 1600);
    CHECK(r.own.block_of[40 * 9 + 2] == 8 * 3000 + 2 * 8 + 1);
    CHECK(r.row_major.block_of[40 * 39 + 39] == 39 * 3000 + 39);
    CHECK(r.own.first_wave.size() == 264);
    CHECK(count_of(rasterization_html(r), "data-h=") == 2 * 1600);
}

TEST_CASE("a kernel's page: the first wave of a D of millions of tiles is found, or said not to be known") {
    WgmmaWarpSpecializedConfig config;
    for (const Rasterization order : {Rasterization::row, Rasterization::column}) {
        config.rasterization = order;
        config.group = 1;
        GemmSpec huge = cube(64);
        huge.m = huge.n = 1 << 18;
        const KernelRasterization r = kernel_page(problem_of(huge), {config}, find_gpu("h200")).rasterization;
        INFO(r.order);
        CHECK(r.first_wave >= 132);
        CHECK(static_cast<std::int64_t>(r.own.first_wave.size()) == r.first_wave);
        CHECK(r.own.first_wave.at(0) == TileIndex{0, 0});
        CHECK(static_cast<std::int64_t>(r.row_major.first_wave.size()) == r.first_wave);
        CHECK(r.row_major.first_wave.back() == TileIndex{0, r.first_wave - 1});
    }
    GemmSpec f32 = gemm_spec_of_type(DataType::f32);
    f32.m = f32.n = f32.k = 1024;
    const KernelRasterization r =
        kernel_page(problem_of(f32), {SimtTile2dConfig{.grid = 77}}, find_gpu("h200")).rasterization;
    CHECK(r.own.first_wave.empty());
    CHECK(r.own.footprint == WaveFootprint{});
    CHECK(rasterization_html(r).find("are not known: a block takes several tiles") != std::string::npos);
}

TEST_CASE("a kernel's page: the footprint of a wave is what its blocks read, edges and splits of K included") {
    GemmSpec spec = resolved(cube(1));
    spec.m = 300;
    spec.n = 200;
    spec.k = 104;
    MmaMultistageConfig config = known_config();
    config.group = 2;
    for (const int splits : {1, 3}) {
        config.split_k = splits;
        for (std::int64_t count = 0; count <= 3 * 2 * splits; ++count) {
            std::set<std::pair<std::int64_t, std::int64_t>> a;  // elements, one by one
            std::set<std::pair<std::int64_t, std::int64_t>> b;
            for (std::int64_t block = 0; block < count; ++block) {
                const TileIndex tile = tile_of_block(config, block % 6, {3, 2});
                const KRange range = k_range_of_split(config, static_cast<int>(block / 6), spec.k);
                for (std::int64_t k = range.first; k < range.end; ++k) {
                    for (std::int64_t row = tile.m * 128; row < std::min<std::int64_t>(tile.m * 128 + 128, 300); ++row)
                        a.insert({row, k});
                    for (std::int64_t column = tile.n * 128; column < std::min<std::int64_t>(tile.n * 128 + 128, 200);
                         ++column)
                        b.insert({column, k});
                }
            }
            CHECK(wave_footprint(spec, config, count) ==
                  WaveFootprint{static_cast<std::int64_t>(a.size()) * 2, static_cast<std::int64_t>(b.size()) * 2});
        }
    }
}

TEST_CASE("a kernel's page: shared-memory map of a known kernel") {
    const KernelSharedMap map = known_page().shared_map;
    REQUIRE(map.mainloop.size() == 8);
    CHECK(map.mainloop[3].name == "A, stage 3");
    CHECK(map.mainloop[3].offset == 3 * 8192);
    CHECK(map.mainloop[4].name == "B, stage 0");
    CHECK(map.mainloop[4].offset == 4 * 8192);
    CHECK(map.mainloop[7].offset + map.mainloop[7].bytes == map.total_bytes);
    CHECK(map.total_bytes == 65536);
    REQUIRE(map.epilogue.size() == 4);
    CHECK(map.epilogue[3].bytes == 16 * (64 + 8) * 2);
    CHECK(map.epilogue[3].offset == 3 * 16 * (64 + 8) * 2);
    CHECK(map.block_limit == 227 * 1024);
}

TEST_CASE("a kernel's page is well-formed, small, loads nothing and has every section") {
    MmaMultistageConfig large = known_config();
    large.block = {256, 128, 64};
    large.warp.k = 64;
    large.stages = 3;
    large.rasterization = Rasterization::zigzag;
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        const std::string html =
            kernel_page_html(kernel_page(problem_of(cube(8192, layout)), {large}, find_gpu("h200")));
        CHECK(markup_fault(html, true).empty());
        CHECK(!loads_something(html));
        CHECK(html.size() < 1000000);
        for (const char* title : {"Tiling", "Shared memory, banks and ldmatrix", "Accumulators", "Pipeline",
                                  "Rasterization", "Shared-memory map", "Bank conflicts"})
            CHECK(count_of(html, fmt::format("<h2>{}</h2>", title)) == 1);
        CHECK(count_of(html, "row of lane ") == 64);        // 32 of A, 32 of B
        CHECK(count_of(html, "of its tile\n") == 16 * 16);  // a box for each mma of the block tile
    }
}

TEST_CASE("a kernel's page: a problem without work, and a column-major D") {
    GemmSpec nothing = cube(256);
    nothing.m = 0;
    CHECK(markup_fault(kernel_page_html(kernel_page(problem_of(nothing), {known_config()}, find_gpu("h200"))), true)
              .empty());
    GemmSpec turned = cube(256);
    turned.m = 512;
    turned.d_order = Order::column;
    const KernelPage page = kernel_page(problem_of(turned), {known_config()}, find_gpu("h200"));
    CHECK(page.problem.transposed);
    CHECK(page.rasterization.tiles == TileIndex{2, 4});
}

TEST_CASE("a kernel's page is refused with all reasons where the kernel does not fit") {
    MmaMultistageConfig config = known_config();
    config.stages = 17;
    config.warp.n = 48;
    try {
        (void)kernel_page(problem_of(cube(256)), {config}, find_gpu("h200"));
        FAIL("it was drawn");
    } catch (const ConfigError& error) {
        CHECK(error.reasons().size() >= 2);
    }
    CHECK_THROWS_AS(kernel_page(problem_of(cube(-1)), {known_config()}, find_gpu("h200")), SpecError);
}
