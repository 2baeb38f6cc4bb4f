/// mma_sliced_k: names, rules, what it is chosen for, who owns an element.

#include "generator/base/round_up.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/mma_sliced_k/geometry.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/sliced_k_checks.hpp"

#include <fmt/format.h>

#include <set>
#include <tuple>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Config = MmaSlicedKConfig;

Config config_with(std::string_view parameters) {
    return std::get<Config>(with_parameters({Config{}}, parse_parameters(std::string(parameters))).family);
}

std::string violations(const GemmSpec& spec, std::string_view parameters, std::string_view arch = "sm_90a") {
    return fmt::format(
        "{}", fmt::join(MmaSlicedK::violations(problem_of(spec), config_with(parameters), find_arch(arch)), "; "));
}

GemmSpec few_rows(std::int64_t m) { return spec_of(GemmLayout::tn, m, 4096, 4096); }

constexpr std::string_view kRows = "swap_ab=1";

}  // namespace

TEST_CASE("sliced-K: the variants that are tested are kernels, and their names read back") {
    for (const std::string_view variant : kSlicedKVariants) {
        GemmSpec spec = spec_of(GemmLayout::tn, 8, 8, 512);
        spec.constant_a = spec.constant_b = true;
        CHECK(violations(spec, variant).empty());
        const KernelId id{problem_of(spec).signature, {config_with(variant)}};
        CHECK(parse_kernel_name(kernel_name(id)) == id);
        CHECK(kernel_name(id).size() < 110);
    }
    CHECK(kernel_name(problem_of(few_rows(8)), {config_with(kRows)}) == "mma_sliced_k_bf16_tn_16x8x512_swapab_stages6");
}

TEST_CASE("sliced-K: what can't be is refused with its reason") {
    CHECK(violations(few_rows(8), kRows).empty());
    CHECK_THAT(violations(few_rows(8), kRows, "sm_80"), Says("needs", "sm_90", "TMA", "sm_80"));
    CHECK_THAT(violations(few_rows(33), kRows), Says("at most", "32", "33", "4096"));
    CHECK_THAT(violations(spec_of(GemmLayout::tn, 8, 4096, 4095), kRows), Says("A", "aligned", "16", "2"));
    GemmSpec wide = few_rows(8);
    wide.ldb = std::int64_t{1} << 39;
    CHECK_THAT(violations(wide, kRows), Says("B", "1099511627776", "TMA", "pitch"));
    GemmSpec f32 = spec_of(GemmLayout::tn, 8, 4096, 4096, DataType::f32);
    CHECK_THAT(violations(f32, kRows), Says("multiplies", "f16", "bf16"));
    CHECK_THAT(violations(few_rows(8), ""), Says("4096", "more", "block_tile.n = 8"));
    CHECK_THAT(violations(few_rows(9), kRows), Says("swap_ab = 1", "D", "9", "block_tile.n = 8"));
    CHECK_THAT(violations(few_rows(8), "swap_ab=1,block=24x8x512"), Says("block_tile.m = 24", "16", "32", "64"));
    CHECK_THAT(violations(few_rows(8), "swap_ab=1,block=16x24x512"), Says("block_tile.n = 24", "8", "16", "32"));
    CHECK_THAT(violations(few_rows(8), "swap_ab=1,block=16x8x500"), ContainsSubstring("block_tile.k"));
    CHECK_THAT(violations(few_rows(8), "swap_ab=1,block=16x8x1088"), ContainsSubstring("warps (block_tile.k / 64)"));
    CHECK_THAT(violations(few_rows(8), "swap_ab=1,stages=1"), ContainsSubstring("stages = 1"));
    CHECK_THAT(violations(few_rows(8), "swap_ab=1,block=64x8x512,stages=4"),
               Says("shared memory", "294912", "17408", "sm_90a"));
    CHECK_THAT(violations(few_rows(8), "swap_ab=1,early=1"), Says("early", "B", "constant"));
    GemmSpec constant = few_rows(8);
    constant.constant_b = true;
    CHECK(violations(constant, "swap_ab=1,early=1").empty());
    CHECK_THAT(violations(constant, "swap_ab=1,early=1,dependent_launch=0"),
               Says("early", "without", "dependent_launch"));
}

TEST_CASE("sliced-K: candidates fetch what is constant early, and enough of it. Where few rows serve there are some") {
    const GpuModel& gpu = find_gpu("h200");
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n] : {std::pair{1, 4096}, {8, 6144}, {16, 2112}, {32, 28672}, {5000, 24}, {24, 24}}) {
            GemmSpec spec = with_row_major_d(resolved(spec_of(layout, m, n, 4096)));
            spec.constant_b = true;
            if (spec.align_a < 16 || spec.align_b < 16) continue;
            INFO(shape_line(spec));
            CHECK_FALSE(MmaSlicedK::candidates(problem_of(spec), gpu).empty());
            for (const Config& config : MmaSlicedK::candidates(problem_of(spec), gpu)) {
                CHECK(config.early == config.swap_ab);
                CHECK(geometry(problem_of(spec).signature, config).pipeline_bytes >= 96 << 10);
            }
        }
    CHECK_FALSE(MmaSlicedK::unsupported(problem_of(few_rows(8)), find_arch("sm_80")).empty());
}

TEST_CASE("sliced-K: short lines that every SM asks for are predicted as slow as an H200 found them") {
    struct Fact {
        const char* shape;
        const char* kernel;
        double us;
    };
    for (const Fact& fact : {
             Fact{"bf16 nn 8 4096 4096", "mma_sliced_k_bf16_nn_64x8x512_swapab_stages2", 11.93},
             Fact{"bf16 nn 8 4096 4096", "mma_sliced_k_bf16_nn_16x8x512_swapab_stages6", 18.26},
             Fact{"bf16 nt 8 8192 8192", "mma_sliced_k_bf16_nt_16x8x512_swapab_stages6", 83.21},
             Fact{"bf16 nt 8 13224 320", "mma_sliced_k_bf16_nt_64x8x512_swapab_stages2", 8.03},
             Fact{"bf16 tt 1216 24 8896", "mma_sliced_k_bf16_tt_16x32x512_stages3", 29.25},
         }) {
        INFO(fact.shape << " " << fact.kernel);
        const GemmSpec spec = resolved(parse_shape_line(fact.shape));
        const KernelConfig config = parse_kernel_name(fact.kernel).config;
        const double predicted_us = family_of(config).cost(problem_of(spec), config, find_gpu("h200")).total_us;
        CHECK(predicted_us > 0.8 * fact.us);
        CHECK(predicted_us < 1.3 * fact.us);
    }
}

TEST_CASE("sliced-K: a few rows times long weights are its own, as they were the fastest there on an H200") {
    for (const auto& [m, n, k] : {std::tuple{1, 2112, 7168}, {8, 2112, 7168}, {1, 768, 1536}, {4, 1408, 704}}) {
        const GemmSpec spec = resolved(spec_of(GemmLayout::tn, m, n, k));
        INFO(shape_line(spec));
        CHECK(std::holds_alternative<Config>(choose_config(problem_of(spec), find_gpu("h200"), {}).family));
        CHECK_FALSE(std::holds_alternative<Config>(choose_config(problem_of(spec), find_gpu("a100"), {}).family));
    }
    GemmSpec same_bits = few_rows(8);
    same_bits.deterministic = Determinism::batch_invariant;  // its warps share K out
    CHECK_FALSE(std::holds_alternative<Config>(choose_config(problem_of(same_bits), find_gpu("h200"), {}).family));
}

TEST_CASE("sliced-K: every element of a tile is some lane's and register's, and no two the same") {
    for (const std::string_view variant : kSlicedKVariants) {
        const Config config = config_with(variant);
        const GemmSpec spec = resolved(config.swap_ab ? spec_of(GemmLayout::tn, config.block.n, 200, 64)
                                                      : spec_of(GemmLayout::tn, 200, config.block.n, 64));
        std::set<std::tuple<std::int64_t, int, int>> places;
        for (std::int64_t row = 0; row < spec.m; ++row)
            for (std::int64_t column = 0; column < spec.n; ++column) {
                const ElementOwner owner = MmaSlicedK::owner(problem_of(spec), config, row, column);
                CHECK(owner.block == (config.swap_ab ? column : row) / config.block.m);
                CHECK(owner.lane < 32);
                places.emplace(owner.block, owner.lane, owner.accumulator_register);
            }
        CHECK(places.size() == static_cast<std::size_t>(spec.m * spec.n));
    }
}
