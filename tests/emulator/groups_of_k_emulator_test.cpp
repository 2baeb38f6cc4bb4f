/// Groups of K on the emulator: every variant that serves them, sizes, NaN in what is not theirs, texts, C, wrong ends.
/// verify() checks each group from the same offsets. K behind the last group is NaN there.

#include "runtime/context/context_state.hpp"
#include "runtime/verify/group_sizes.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/emulator/uploads.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec groups_of_k(std::int64_t groups, const Sizes& size, DataType type = DataType::bf16) {
    GemmSpec spec = spec_of(GemmLayout::nt, size[0], size[1], size[2], type);
    spec.groups = groups;
    spec.ragged = Ragged::k;
    return spec;
}

bool serves_groups(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& config) {
    return WgmmaWarpSpecialized::violations(problem_of(spec), config, find_arch("sm_90a")).empty();
}

/// Whether a variant serves groups of K. If so, it is checked when it is its turn.
bool check_variant(std::string_view variant, std::size_t i, OneIn& tried) {
    using enum DataType;
    GemmSpec spec = groups_of_k(static_cast<std::int64_t>(2 + i % 4), {136, 104, 24 * static_cast<std::int64_t>(9 + i)},
                                i % 4 == 0 ? f16 : bf16);
    spec.d = std::array{spec.a, f32, spec.a}.at(i % 3);
    WgmmaWarpSpecializedConfig config = wgmma_config(variant);
    if (i % 2 == 1 && !config.swap_ab) spec.c = spec.d;
    config.slices = std::min(config.slices, 2);  // the table of groups takes shared memory, too
    if (config.stages > 3) --config.stages;
    INFO(variant << ", " << i << ", " << to_string(spec));
    if (!serves_groups(spec, config)) return false;
    if (!tried.next()) return true;
    static_cast<void>(check_kernel(on_hopper(), spec, KernelConfig{config},
                                   {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F, .seed = 1 + i}));
    return true;
}

/// A product of small integers in bf16, with ends of the caller's. D is f32, and C is D.
class Product {
public:
    Product(const GemmSpec& asked, std::string_view config) : spec_(asked) {
        spec_.d = DataType::f32;
        spec_.c = DataType::f32;
        kernel_ = state_of(on_hopper()).build(problem_of(spec_), KernelConfig{wgmma_config(config)});
        a_ = small_integers(static_cast<std::size_t>(spec_.m * spec_.k), 1);
        b_ = small_integers(static_cast<std::size_t>(spec_.n * spec_.k), 2);
    }

    /// D of all groups. The product is added to a D of sevens. Elements of A and B with a k outside of `only` are
    /// NaN or infinite.
    [[nodiscard]] std::vector<float> run(const std::vector<std::int32_t>& ends, GroupRows only) const {
        const auto spoilt = [&](std::vector<float> values, std::int64_t lines) {
            for (std::size_t i = 0; i < values.size(); ++i) {
                const std::int64_t k = static_cast<std::int64_t>(i) / lines;
                if (k < only.first || k >= only.first + only.count) values[i] = i % 2 == 0 ? kNan : kInfinite;
            }
            return values;
        };
        const DeviceBuffer a = upload(spoilt(a_, spec_.m)), b = upload(spoilt(b_, spec_.n)), offsets = upload(ends);
        std::vector<float> d(ends.size() * static_cast<std::size_t>(spec_.m * spec_.n), 7);
        DeviceBuffer result = on_hopper().allocate(4 * d.size());
        result.copy_from_host(d.data(), 4 * d.size());
        kernel_.launch({.a = a.data(),
                        .b = b.data(),
                        .c = result.data(),
                        .d = result.data(),
                        .beta = 1,
                        .offsets = offsets.data()});
        on_hopper().synchronize();
        result.copy_to_host(d.data(), 4 * d.size());
        return d;
    }

    /// The elements of a group that are wrong, where only its own part of K is finite.
    [[nodiscard]] int wrong_elements(const std::vector<std::int32_t>& ends, std::size_t group) const {
        const std::int64_t first = group == 0 ? 0 : ends[group - 1];
        const std::vector<float> d = run(ends, {first, ends[group] - first});
        int wrong = 0;
        for (std::int64_t m = 0; m < spec_.m; ++m)
            for (std::int64_t n = 0; n < spec_.n; ++n) {
                float sum = 7;
                for (std::int64_t k = first; k < ends[group]; ++k) sum += at(a_, k, spec_.m, m) * at(b_, k, spec_.n, n);
                wrong += d[(group * static_cast<std::size_t>(spec_.m) + static_cast<std::size_t>(m)) *
                               static_cast<std::size_t>(spec_.n) +
                           static_cast<std::size_t>(n)] != sum
                             ? 1
                             : 0;
            }
        return wrong;
    }

private:
    static constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
    static constexpr float kInfinite = std::numeric_limits<float>::infinity();

    static float at(const std::vector<float>& values, std::int64_t k, std::int64_t lines, std::int64_t line) {
        return values[static_cast<std::size_t>(k * lines + line)];
    }

    GemmSpec spec_;
    GemmKernel kernel_;
    std::vector<float> a_, b_;  // (k, m), (k, n)
};

constexpr std::array<std::string_view, 5> kSchedules{
    "block=128x64x64,warpgroup=64x64,stages=3", "block=64x40x64,warpgroup=64x40,schedule=pingpong,stages=4",
    "block=128x40x64,warpgroup=128x40,schedule=overlapped,stages=4",
    "block=64x64x64,warpgroup=64x64,stages=4,cluster=2x1", "block=64x64x128,warpgroup=64x64,stages=3,cluster=1x2"};

}  // namespace

TEST_CASE("emulated groups of K: every variant of wgmma that takes one tile after the other") {
    std::size_t i = 0, serving = 0;
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaVariants) serving += check_variant(variant, ++i, tried) ? 1 : 0;
    for (const std::string_view variant : kWgmmaRegisterVariants) serving += check_variant(variant, ++i, tried) ? 1 : 0;
    CHECK(serving >= 30);
}

TEST_CASE("emulated groups of K: sizes from 0 on, with NaN and infinity in all that is not the group's") {
    for (const std::string_view config : kSchedules) {
        const Product product(groups_of_k(5, {72, 88, 328}), config);
        for (const std::vector<std::int32_t>& ends :
             {std::vector{1, 1, 64, 129, 258}, std::vector{0, 63, 64, 64, 328}, std::vector{0, 0, 328, 328, 328},
              std::vector{65, 193, 194, 320, 321}})
            for (std::size_t group = 0; group < 5; ++group) {
                INFO(config << ", ends " << fmt::format("{}", fmt::join(ends, " ")) << ", group " << group);
                CHECK(product.wrong_elements(ends, group) == 0);
            }
    }
}

TEST_CASE("emulated groups of K: wrong ends touch no memory outside, and other groups stay right") {
    const Product product(groups_of_k(4, {64, 64, 200}), kSchedules[0]);
    for (const std::vector<std::int32_t>& ends :
         {std::vector{50, 20, 100, 150}, std::vector{-7, -3, 500, 600}, std::vector{2147483647, -2147483647, 9, 200},
          std::vector{201, 201, 201, 201}})
        CHECK(product.run(ends, {0, 200}).size() == 4 * 64 * 64);
    CHECK(product.wrong_elements({50, 20, 100, 150}, 0) == 0);
    CHECK(product.wrong_elements({50, 20, 100, 150}, 3) == 0);
}

TEST_CASE("emulated groups of K: random problems") {
    std::mt19937_64 random(13);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    for (std::uint64_t i = 0; i < 16; ++i) {
        GemmSpec spec =
            groups_of_k(1 + below(i % 4 == 0 ? 60 : 9), {8 * (1 + below(20)), 8 * (1 + below(20)), 1 + below(500)},
                        below(2) == 0 ? DataType::bf16 : DataType::f16);
        if (below(2) == 0) spec.d = DataType::f32;
        if (below(2) == 0) spec.c = spec.d;
        if (below(3) == 0) spec.d_order = Order::column;
        if (below(3) == 0) spec.expected_rows = 1 + below(300);
        if (below(3) == 0) spec.deterministic = Determinism::batch_invariant;
        if (below(3) == 0) spec.lda = spec.m + 8, spec.ldb = spec.n + 16;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec, {.beta = spec.c ? 1.0F : 0.0F, .seed = i}));
    }
}

TEST_CASE("emulated groups of K: texts with values of each group") {
    std::uint64_t seed = 0;
    for (const std::string_view text :
         {"d = relu(acc + bias[b,n])", "x: f32[b,m,n]; d = acc + x[b,m,n]", "s: f32[b]; d = acc * s[b] + w[m]",
          "t = acc + bias[n]; d = relu(t); pre[b,m,n] = t"}) {
        GemmSpec spec = groups_of_k(5, {72, 64, 300});
        spec.epilogue = text;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec, {.seed = ++seed}));
    }
}

TEST_CASE("emulated groups of K: many groups, one, none of K, no alpha") {
    static_cast<void>(check_chosen(on_hopper(), groups_of_k(1024, {8, 8, 700})));
    static_cast<void>(check_chosen(on_hopper(), groups_of_k(1, {64, 72, 130})));
    static_cast<void>(check_chosen(on_hopper(), groups_of_k(3, {0, 64, 64})));
    check_unread_operands(groups_of_k(3, {64, 64, 64}), [](const GemmSpec& asked, const VerifyOptions& options) {
        static_cast<void>(check_chosen(on_hopper(), asked, options));
    });
}

TEST_CASE("emulated groups of K: planted faults are found") {
    const GemmSpec spec = groups_of_k(70, {64, 200, 3000});
    const KernelConfig config{wgmma_config("block=64x40x64,warpgroup=64x40,stages=2,slices=2")};
    check_faults(on_hopper(), spec, config,
                 {{"OperandA::clear_from(shared.stage_a(at.stage), rows",
                   "OperandA::clear_from(shared.stage_a(at.stage), kBlockK"},
                  {"OperandB::clear_from(shared.stage_b(at.stage), rows",
                   "OperandB::clear_from(shared.stage_b(at.stage), kBlockK"},
                  {"            fence_proxy_async();\n            __syncwarp();", "            __syncwarp();"},
                  {"mbarrier_wait(shared.landed_barrier(at.stage), phases >> at.stage & 1);", ""},
                  {"phases ^= 1u << at.stage;", ""},
                  {"ring.skip(walk.k_tiles);", "ring.skip(walk.k_tiles - 1);"},
                  {"k < tile.end_k ? k : tile.behind_k", "k"},
                  {"left > 0 && left < kBlockK", "left > 1 && left < kBlockK"},
                  {"tile.end_k = group_end(table, group() + 1)", "tile.end_k = group_end(table, group())"},
                  {"args.offsets[entry - 1]", "args.offsets[max(entry - 2, 0)]"},
                  {"args.map_d.problem = static_cast<int>(problem)", "args.map_d.problem = 0"}});
}
