/// Scales of blocks of K on the emulator: every pair of kinds, in both orders of memory, in every variant that serves
/// them; batches and groups of rows; edges; planted faults.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/support/eight_bits.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/random_bits.hpp"
#include "tests/support/says.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr std::array<std::string_view, 5> kOfA{"sa[m,k/128]", "sa[k/128,m]", "sa[m/128,k/128]", "sa[k/128,m/128]", ""};
constexpr std::array<std::string_view, 5> kOfB{"sb[n,k/128]", "sb[k/128,n]", "sb[n/128,k/128]", "sb[k/128,n/128]", ""};

/// Schedules, one to three consumers, waves of the whole width and of a part, one set of partial sums and two, both
/// stores, stream-K, D^T, early copies.
constexpr std::array<std::string_view, 9> kScaledVariants{
    "block=64x64x128,warpgroup=64x64,stages=3",
    "block=128x96x128,warpgroup=64x96,stages=3,rasterization=row",
    "block=256x128x128,warpgroup=128x128,stages=2,slices=1",
    "block=128x192x128,warpgroup=64x192,stages=2,slices=1",
    "block=192x64x128,warpgroup=64x64,stages=2,store=smem",
    "block=128x32x128,warpgroup=128x32,schedule=pingpong,stages=4",
    "block=128x64x128,warpgroup=64x64,stages=3,stream_k=7",
    "block=64x24x128,warpgroup=64x24,swap_ab=1,stages=4",
    "block=64x64x128,warpgroup=64x64,stages=4,dependent_launch=1,early=b"};

GemmSpec scaled(std::string_view of_a, std::string_view of_b, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec = spec_of(GemmLayout::tn, m, n, k, DataType::e4m3);
    spec.b = DataType::e5m2;
    spec.constant_b = true;
    std::string text = "d = acc";
    for (const std::string_view scale : {of_a, of_b})
        if (!scale.empty()) text += " * " + std::string(scale);
    spec.epilogue = text + " + bias[n]";
    return spec;
}

constexpr std::array<std::string_view, 3> kOfRows{"sa[m,k/128]", "sa[k/128,m]", ""};
constexpr std::array<std::string_view, 6> kOfGroups{"sb[b,n,k/128]",     "sb[b,k/128,n]",   "sb[b,n/128,k/128]",
                                                    "sb[b,k/128,n/128]", "sb[n/128,k/128]", ""};

/// Of kScaledVariants, those that take one tile after the other.
constexpr std::size_t kVariantsOfGroups = 6;

GemmSpec in_groups(std::int64_t groups, GemmSpec spec) {
    spec.constant_b = false;
    spec.groups = groups;
    return spec;
}

/// Rows or columns for a kind of scales. TMA reads four scales at a time, so blocks that lie side by side are four.
std::int64_t needed(std::string_view scale, std::int64_t four_blocks) {
    constexpr std::int64_t kTwoBlocks = 136;
    const bool side_by_side = scale.ends_with("m/128]") || scale.ends_with("n/128]");
    return side_by_side ? four_blocks : std::min(four_blocks, kTwoBlocks);
}

/// Every kind of scales that groups have.
void check_groups(const Sizes& size, std::string_view more) {
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view of_a : kOfRows)
        for (const std::string_view of_b : kOfGroups) {
            if (of_a.empty() && of_b.empty()) continue;
            const auto variant = std::string(kScaledVariants.at(++i % kVariantsOfGroups)) + ",promote=128";
            GemmSpec spec = in_groups(static_cast<std::int64_t>(2 + 5 * i % 12),
                                      scaled(of_a, of_b, size[0], needed(of_b, size[1]), size[2]));
            spec.d = std::array{DataType::bf16, DataType::f32, DataType::f16}.at(i % 3);
            if (!tried.next()) continue;
            INFO(variant << ", " << to_string(spec));
            check_wgmma(on_hopper(), spec, variant + std::string(more), {.seed = i});
        }
}

/// Every variant, the kinds and the sizes from one to the next.
void check_kinds(std::size_t first, std::initializer_list<Sizes> sizes, std::string_view more) {
    std::size_t i = first;
    OneIn tried(2);
    for (std::size_t of_a = 0; of_a < kOfA.size(); ++of_a)
        for (std::size_t of_b = 0; of_b < kOfB.size(); ++of_b) {
            if (kOfA.at(of_a).empty() && kOfB.at(of_b).empty()) continue;
            const std::string variant = std::string(kScaledVariants.at(i++ % kScaledVariants.size())) + ",promote=128";
            if (variant.find("x24x") != variant.npos && kOfA.at(of_a).find("m/128") != std::string_view::npos) continue;
            if (!tried.next()) continue;
            const Sizes& size = std::data(sizes)[i % sizes.size()];
            check_wgmma(on_hopper(),
                        scaled(kOfA.at(of_a), kOfB.at(of_b), needed(kOfA.at(of_a), size[0]),
                               needed(kOfB.at(of_b), size[1]), size[2]),
                        variant + std::string(more));
        }
}

/// Small numbers, scaled by zeros and powers of two: D is exact. The scales of a row of A lie side by side along K, or
/// those of a block of K do. Row 7 has zeros alone for scales, row 9 for elements.
void check_zeros(Context& context, bool along_k) {
    constexpr std::int64_t kM = 72, kN = 136, kBlocks = 3, kK = 128 * kBlocks;
    GemmSpec spec = float8_spec(kM, kN, kK);
    spec.d = DataType::f32;
    spec.epilogue = along_k ? "d = acc * sa[m,k/128] * sb[n/128,k/128]" : "d = acc * sa[k/128,m] * sb[n/128,k/128]";
    constexpr std::array<std::uint8_t, 5> kSmall{0x00, 0x38, 0xb8, 0x40, 0xc0};  // 0, 1, -1, 2, -2
    RandomBits random(3);
    std::vector<std::uint8_t> a(kM * kK), b(kN * kK);
    for (std::size_t i = 0; i < a.size(); ++i) {
        const std::size_t row = i / kK, block = i % kK / 128;
        a[i] = row == 9 || row % 4 == block ? 0 : kSmall.at(random.below(5));
    }
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = i / kK >= 128 && i % kK < 128 ? 0 : kSmall.at(random.below(5));
    std::vector<float> of_a(kM * kBlocks), of_b(2 * kBlocks), d(kM * kN, 1);
    const auto scale_a = [&](std::size_t row, std::size_t block) -> float& {
        return of_a.at(along_k ? row * kBlocks + block : block * kM + row);
    };
    for (std::size_t row = 0; row < kM; ++row)
        for (std::size_t block = 0; block < kBlocks; ++block)
            scale_a(row, block) = row == 7 || row % 5 == block
                                      ? 0
                                      : std::ldexp(row % 2 == 0 ? 1.0F : -1.0F, static_cast<int>(row % 9) - 4);
    for (std::size_t i = 0; i < of_b.size(); ++i) of_b[i] = i == 1 || i == 5 ? 0 : i % 2 == 0 ? 0.5F : -4;

    const GemmKernel kernel = context.kernel(spec);
    const auto on_device = [&](const auto& elements) {
        DeviceBuffer buffer = context.allocate(elements.size() * sizeof elements[0]);
        buffer.copy_from_host(elements.data(), elements.size() * sizeof elements[0]);
        return buffer;
    };
    const DeviceBuffer device_a = on_device(a), device_b = on_device(b), device_d = on_device(d);
    const DeviceBuffer device_of_a = on_device(of_a), device_of_b = on_device(of_b);
    GemmArguments arguments{.a = device_a.data(), .b = device_b.data(), .d = device_d.data()};
    arguments.operands = {{"sa", device_of_a.data()}, {"sb", device_of_b.data()}};
    kernel.launch(arguments);
    context.synchronize();
    device_d.copy_to_host(d.data(), d.size() * sizeof d[0]);
    int wrong = 0, zeros = 0;
    for (std::size_t row = 0; row < kM; ++row)
        for (std::size_t column = 0; column < kN; ++column) {
            double right = 0;
            for (std::size_t k = 0; k < kK; ++k)
                right += float8_value(a[row * kK + k], spec.a) * float8_value(b[column * kK + k], spec.b) *
                         static_cast<double>(scale_a(row, k / 128)) *
                         static_cast<double>(of_b[column / 128 * kBlocks + k / 128]);
            wrong += static_cast<double>(d[row * kN + column]) == right ? 0 : 1;
            zeros += right == 0 ? 1 : 0;
        }
    CHECK(wrong == 0);
    CHECK(zeros >= 2 * kN);
    CHECK(zeros < kM * kN / 2);
}

}  // namespace

TEST_CASE("emulated scales of blocks: every pair of kinds, copied by threads") {
    check_kinds(0, {{136, 200, 296}, {77, 264, 129}}, ",scales=threads");
}

// 400 and more rows and columns have four blocks of 128.
TEST_CASE("emulated scales of blocks: every pair of kinds, copied by TMA") { check_kinds(2, {{400, 408, 512}}, ""); }

TEST_CASE("emulated scales of blocks: rows with pitches of their own, D column-major, no K") {
    OneIn tried(2);
    for (const std::string_view variant : kScaledVariants) {
        if (!tried.next()) continue;
        GemmSpec spec = scaled("sa[m,k/128]", "sb[k/128,n]", 72, 136, 1000);
        spec.epilogue = spec.epilogue.with("sa", {.ld = 12}).with("sb", {.ld = 140});
        check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128");
        spec.d_order = Order::column;
        check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128");
        check_wgmma(on_hopper(), scaled("sa[m,k/128]", "sb[k/128,n]", 72, 136, 0),
                    std::string(variant) + ",promote=128,scales=threads");
    }
}

TEST_CASE("emulated scales of blocks: nothing is read where alpha is 0") {
    GemmSpec spec = scaled("", "", 72, 136, 512);
    spec.epilogue = "d = alpha * (acc * sa[m,k/128] * sb[k/128,n])";
    OneIn tried(3);
    for (const std::string_view variant : kScaledVariants)
        for (const std::string_view way : {"tma", "threads"})
            if (tried.next())
                check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128,scales=" + std::string(way),
                            {.alpha = 0.0F, .beta = 0.0F});
}

TEST_CASE("emulated scales of blocks: groups of rows, copied by TMA") { check_groups({136, 400, 512}, ""); }

TEST_CASE("emulated scales of blocks: groups of rows, copied by threads") {
    check_groups({131, 200, 208}, ",scales=threads");
}

TEST_CASE("emulated scales of blocks: a tile begins at any row of the scales") {
    for (const std::string_view variant :
         {"block=256x64x128,warpgroup=128x64,stages=2,slices=1", "block=256x32x128,warpgroup=256x32,stages=2,slices=1",
          "block=192x64x128,warpgroup=64x64,stages=2", "block=128x32x128,warpgroup=128x32,schedule=pingpong,stages=4"})
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            const GemmSpec spec = in_groups(3, scaled("sa[k/128,m]", "sb[b,n/128,k/128]", 700, 40, 512));
            INFO(variant << ", " << seed);
            check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128", {.seed = seed});
        }
}

TEST_CASE("emulated scales of blocks: random groups, with room for rows and without") {
    std::mt19937_64 random(19);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    OneIn tried(2);
    for (std::uint64_t i = 0; i < 24; ++i) {
        const std::string_view of_a = kOfRows.at(static_cast<std::size_t>(below(3)));
        const std::string_view of_b = kOfGroups.at(static_cast<std::size_t>(below(of_a.empty() ? 5 : 6)));
        GemmSpec spec = in_groups(1 + below(i % 6 == 0 ? 90 : 9),
                                  scaled(of_a, of_b, 1 + below(250), 8 * (1 + below(20)), 16 * (1 + below(24))));
        if (below(3) == 0) spec.group_rows = 1 + below(50), spec.m = spec.groups * spec.group_rows;
        if (below(3) == 0) spec.expected_rows = 1 + below(200);
        if (!of_a.empty() && below(2) == 0)
            spec.epilogue = spec.epilogue.with("sa", {.ld = (of_a == "sa[m,k/128]" ? 8 : spec.m) + below(9)});
        if (!of_b.empty() && of_b != "sb[n/128,k/128]" && below(2) == 0)
            spec.epilogue = spec.epilogue.with("sb", {.ld = 208, .batch_stride = 208 * 208 + 4 * below(3)});
        if (below(3) == 0) spec.batch_stride_b = 0;
        if (!tried.next()) continue;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec, {.seed = i}));
    }
}

TEST_CASE("emulated scales of blocks: groups without K, without alpha, with texts") {
    for (const std::string_view way : {"tma", "threads"}) {
        const std::string variant = "block=64x64x128,warpgroup=64x64,stages=3,promote=128,scales=" + std::string(way);
        GemmSpec spec = in_groups(5, scaled("", "", 144, 136, 512));
        spec.epilogue = "d = alpha * (acc * sa[k/128,m] * sb[b,k/128,n])";
        check_wgmma(on_hopper(), spec, variant, {.alpha = 0.0F, .beta = 0.0F});
        spec.epilogue =
            "w: f32[m]; x: bf16[m,n]; t = acc * sa[k/128,m] * sb[b,n/128,k/128]; pre[m,n] = t; "
            "d = silu(t + bias[b,n]) * w[m] + x[m,n]";
        check_wgmma(on_hopper(), spec, variant);
    }
    static_cast<void>(check_chosen(on_hopper(), in_groups(5, scaled("sa[k/128,m]", "sb[b,k/128,n]", 72, 144, 0))));
}

TEST_CASE("emulated scales of blocks: batches, with scales of each problem and of all") {
    constexpr std::array<std::string_view, 4> kOfEach{"sa[b,m,k/128]", "sa[b,k/128,m]", "sa[b,m/128,k/128]",
                                                      "sa[m,k/128]"};
    std::size_t i = 0;
    OneIn tried(2);
    for (const std::string_view of_a : kOfEach)
        for (const std::string_view of_b : kOfGroups) {
            const std::string_view variant = kScaledVariants.at(++i % kScaledVariants.size());
            if (variant.find("stream_k") != std::string_view::npos) continue;
            if (variant.find("x24x") != variant.npos && of_a.find("m/128") != std::string_view::npos) continue;
            if (!tried.next()) continue;
            const bool by_tma = i % 2 == 0;
            GemmSpec spec = scaled(of_a, of_b, by_tma ? 40 : 77, by_tma ? needed(of_b, 400) : 72, 512);
            spec.batch = 2;
            if (i % 3 == 0 && of_a.starts_with("sa[b")) spec.epilogue = spec.epilogue.with("sa", {.batch_stride = 0});
            if (i % 4 == 0) spec.d_order = Order::column;
            INFO(variant << ", " << to_string(spec));
            const std::string_view way = by_tma ? "tma" : "threads";
            check_wgmma(on_hopper(), spec, std::string(variant) + ",promote=128,scales=" + std::string(way));
        }
    GemmSpec chosen = scaled("sa[b,k/128,m]", "sb[b,n/128,k/128]", 40, 200, 384);
    chosen.batch = 4;
    static_cast<void>(check_chosen(on_hopper(), chosen));
    chosen.epilogue = chosen.epilogue.with("sb", {.ld = 5, .batch_stride = 37});
    static_cast<void>(check_chosen(on_hopper(), chosen));
}

TEST_CASE("emulated scales of blocks: zero scales and blocks of zeros make zeros, and cost the others nothing") {
    for (const bool along_k : {false, true})
        for (Context* const context : {&on_hopper(), &on_ada()}) {
            INFO((along_k ? "along K, " : "across K, ") << state_of(*context).device->model().arch->name);
            check_zeros(*context, along_k);
        }
}

TEST_CASE("emulated scales of blocks: arrays of scales at addresses that hold no f32 are refused") {
    GemmSpec spec = float8_spec(64, 64, 256);
    spec.epilogue = EpilogueText("d = acc * sa[k/128,m] * sb[n/128,k/128]").with("sa", {.align = 16});
    const GemmKernel kernel = on_hopper().kernel(spec);
    const DeviceBuffer memory = on_hopper().allocate(1 << 16);
    const auto at = [&](std::uint64_t bytes) { return DevicePointer(memory.data().address + bytes); };
    GemmArguments arguments{.a = at(0), .b = at(1 << 14), .d = at(1 << 15)};
    arguments.operands = {{"sa", at(49152 + 8)}, {"sb", at(57344 + 2)}};
    CHECK_THROWS_WITH(kernel.launch(arguments), Says("sa", "16") && Says("sb", "16"));
    arguments.operands = {{"sa", at(49152)}};
    CHECK_THROWS_WITH(kernel.launch(arguments), Says("sb"));
}

TEST_CASE("emulated scales of blocks: planted faults in groups and batches are found") {
    constexpr std::string_view kTma = "block=64x96x128,warpgroup=64x96,stages=3,promote=128";
    constexpr std::string_view kTall = "block=256x32x128,warpgroup=128x32,stages=2,slices=1,promote=128";
    constexpr std::string_view kThreads = "block=64x96x128,warpgroup=64x96,stages=3,promote=128,scales=threads";
    struct Fault {
        std::string_view name, parameters, text, instead;
    };
    constexpr std::array kFaults{
        Fault{"boxes of scales begin at the tile", kTma, "tile.row & ~3", "tile.row"},
        Fault{"the box's first scale is the tile's", kTma, "tile.row % 4 * 4;", "0;"},
        Fault{"the second box is the first", kTall, "+ part * kRowScaleStep, k_block", ", k_block"},
        Fault{"the first group's scales of B", kTma, "args.map_sb.problem = ", "args.map_sb.problem = 0 * "},
        Fault{"the first group's scales of B", kThreads, "of_tile.sb, of_tile.ld_sb", "args.sb, of_tile.ld_sb"},
    };
    for (const Fault& fault : kFaults) {
        INFO(fault.name);
        const KernelConfig config =
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(fault.parameters)));
        GemmSpec spec = in_groups(3, scaled("sa[k/128,m]", "sb[b,n/128,k/128]", 560, 64, 512));
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
        spec.epilogue = "d = acc * sa[k/128,m] * sb[b,n/128,k/128]";
        CHECK(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.text).empty());
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
        if (fault.text.find("problem") == std::string_view::npos) continue;
        spec.groups = 0, spec.batch = 3, spec.m = 72;
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
    }
}

TEST_CASE("emulated scales of blocks: planted faults are found") {
    constexpr std::string_view kTma = "block=128x96x128,warpgroup=64x96,stages=3,promote=128";
    constexpr std::string_view kThreads = "block=128x96x128,warpgroup=64x96,stages=3,promote=128,scales=threads";
    struct Fault {
        std::string_view name, parameters, text, instead;
    };
    constexpr std::array kFaults{
        Fault{"the next block's scales of B", kTma, "neighbour % 4 * 4", "(neighbour + 1) % 4 * 4"},
        Fault{"the first block's scales of A", kTma, "kAlongK ? k_block % 4 * 4 : 0", "0"},
        Fault{"the lower rows have the upper rows' scales", kTma, "row_scales.at(row + 8,", "row_scales.at(row,"},
        Fault{"one part's scale for all columns", kTma, "partial.column_scale[part];", "partial.column_scale[0];"},
        Fault{"scales of an earlier stage", kTma, "stage * kScaleBytes + row * kStride", "row * kStride"},
        Fault{"a k-block is counted twice", kTma, "++a.k_block", "a.k_block += 2"},
        Fault{"scales of a tile's neighbours", kThreads, "first + part * kStep", "part * kStep"},
        Fault{"rows beyond the last one are read", kThreads, "min(first + part * kStep, end - 1)",
              "(first + part * kStep)"},
        Fault{"a pitch for each k-block", kThreads, "line * pitch + k_block", "line * pitch + k_block * pitch"},
        Fault{"a stage is full before its scales have come", kThreads, "ring.land<kCopiesInFlight - 1>",
              "ring.fill(shared, 0); ring.land<kCopiesInFlight - 1>"},
        Fault{"scales of the previous k-tile", kThreads, "kBlockK + k_tile;", "kBlockK + k_tile - (k_tile != 0);"},
    };
    for (const Fault& fault : kFaults) {
        INFO(fault.name);
        GemmSpec spec = scaled("sa[m,k/128]", "sb[n/128,k/128]", 200, 400, 512);
        const KernelConfig config =
            with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(fault.parameters)));
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
        spec.epilogue = "d = acc * sa[m,k/128] * sb[n/128,k/128]";  // D is judged as the product of a plain problem
        CHECK_FALSE(complaint_about(on_hopper(), resolved(spec), config, fault.text, fault.instead).empty());
    }
}
