/// Groups of rows whose A is gathered, on the emulator: every variant that serves them, rows that repeat and rows
/// that A does not have, NaN in rows that no index names. verify() draws an index, and compares with a copy of
/// these rows.

#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/emulator/planted_faults.hpp"
#include "tests/emulator/uploads.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/wgmma_checks.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

GemmSpec gathered(std::int64_t groups, std::int64_t source_rows, GemmSpec spec) {
    spec.groups = groups;
    spec.source_rows = source_rows;
    return spec;
}

bool is_served(const GemmSpec& spec, const WgmmaWarpSpecializedConfig& config) {
    return WgmmaWarpSpecialized::violations(problem_of(spec), config, find_arch("sm_90a")).empty();
}

/// Whether a variant serves gathered rows. If so, it is checked when it is its turn.
bool check_variant(std::string_view variant, std::size_t i, OneIn& tried) {
    using enum DataType;
    const GemmLayout layout = i % 2 == 0 ? GemmLayout::tn : GemmLayout::tt;
    GemmSpec spec = gathered(static_cast<std::int64_t>(2 + i % 12), static_cast<std::int64_t>(9 + 17 * (i % 9)),
                             spec_of(layout, 8 * static_cast<std::int64_t>(12 + i % 5), 104, 136));
    spec.d = std::array{spec.a, f32, spec.a}.at(i % 3);
    if (i % 4 == 1) spec.c = spec.d;
    WgmmaWarpSpecializedConfig config = wgmma_config(variant);
    config.slices = std::min(config.slices, 2);  // the table of groups takes shared memory, too
    if (config.stages > 2) --config.stages;
    INFO(variant << ", " << i << ", " << to_string(spec));
    if (!is_served(spec, config)) return false;
    if (!tried.next()) return true;
    static_cast<void>(check_kernel(on_hopper(), spec, KernelConfig{config},
                                   {.alpha = 0.5F, .beta = spec.c ? 2.0F : 0.0F, .seed = 1 + i}));
    return true;
}

/// A product of small integers in bf16 with a row index of the caller's. D is f32. Its row i is 7 until it is written.
class Product {
public:
    Product(const GemmSpec& asked, std::string_view config) : spec_(asked) {
        spec_.d = DataType::f32;
        kernel_ = state_of(on_hopper()).build(problem_of(spec_), KernelConfig{wgmma_config(config)});
        a_ = small_integers(static_cast<std::size_t>(spec_.source_rows * spec_.k), 1);
        b_ = small_integers(static_cast<std::size_t>(spec_.groups * spec_.n * spec_.k), 2);
    }

    /// The wrong elements of D, where rows of A that no row of a group names are NaN, and so is what `index` holds for
    /// rows outside the groups.
    [[nodiscard]] int wrong_elements(const std::vector<std::int32_t>& offsets, std::vector<std::int32_t> index) const {
        const std::vector<std::int64_t> groups = groups_of_rows(offsets);
        std::set<std::int32_t> named;
        for (std::size_t row = 0; row < index.size(); ++row)
            if (groups[row] >= 0) named.insert(index[row]);
        std::vector<float> a = a_;
        for (std::size_t i = 0; i < a.size(); ++i)
            if (!named.contains(static_cast<std::int32_t>(static_cast<std::int64_t>(i) / spec_.k)))
                a[i] = std::numeric_limits<float>::quiet_NaN();
        const std::vector<float> d = run(a, offsets, index);
        int wrong = 0;
        for (std::int64_t m = 0; m < spec_.m; ++m)
            for (std::int64_t n = 0; n < spec_.n; ++n)
                wrong += d[static_cast<std::size_t>(m * spec_.n + n)] !=
                                 expected(groups[static_cast<std::size_t>(m)], index[static_cast<std::size_t>(m)], n)
                             ? 1
                             : 0;
        return wrong;
    }

private:
    [[nodiscard]] std::vector<float> run(const std::vector<float>& of_a, const std::vector<std::int32_t>& ends,
                                         const std::vector<std::int32_t>& index) const {
        const DeviceBuffer a = upload(of_a), b = upload(b_), offsets = upload(ends), rows = upload(index);
        std::vector<float> d(static_cast<std::size_t>(spec_.m * spec_.n), 7);
        DeviceBuffer result = on_hopper().allocate(4 * d.size());
        result.copy_from_host(d.data(), 4 * d.size());
        kernel_.launch(
            {.a = a.data(), .b = b.data(), .d = result.data(), .offsets = offsets.data(), .row_index = rows.data()});
        on_hopper().synchronize();
        result.copy_to_host(d.data(), 4 * d.size());
        return d;
    }

    /// Of each row of D; -1 where it has none.
    [[nodiscard]] std::vector<std::int64_t> groups_of_rows(const std::vector<std::int32_t>& offsets) const {
        std::vector<std::int64_t> groups(static_cast<std::size_t>(spec_.m), -1);
        std::int64_t before = 0;
        for (std::int64_t group = 0; group < spec_.groups; ++group) {
            const std::int64_t given = offsets[static_cast<std::size_t>(group)];
            const std::int64_t first = spec_.group_rows != 0 ? group * spec_.group_rows : before;
            const std::int64_t end = spec_.group_rows != 0 ? first + given : given;
            std::fill(groups.begin() + first, groups.begin() + end, group);
            before = end;
        }
        return groups;
    }

    [[nodiscard]] float expected(std::int64_t group, std::int64_t source, std::int64_t n) const {
        if (group < 0) return 7;
        float sum = 0;
        for (std::int64_t k = 0; k < spec_.k && source >= 0 && source < spec_.source_rows; ++k)
            sum += a_[static_cast<std::size_t>(source * spec_.k + k)] *
                   b_[static_cast<std::size_t>((group * spec_.n + n) * spec_.k + k)];
        return sum;
    }

    GemmSpec spec_;
    GemmKernel kernel_;
    std::vector<float> a_, b_;  // (source_rows, k), (groups, n, k)
};

constexpr std::array<std::string_view, 6> kConfigs{"block=128x64x64,warpgroup=64x64,stages=3",
                                                   "block=64x40x64,warpgroup=64x40,schedule=pingpong,stages=4",
                                                   "block=256x40x64,warpgroup=128x40,schedule=overlapped,stages=3",
                                                   "block=64x64x64,warpgroup=64x64,stages=4,cluster=2x1",
                                                   "block=64x64x128,warpgroup=64x64,stages=3,cluster=4x1",
                                                   "block=192x64x64,warpgroup=64x64,stages=3"};

/// Some are none of A's rows.
std::vector<std::int32_t> drawn(std::int64_t rows, std::int64_t source_rows, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::int32_t> index(static_cast<std::size_t>(rows));
    for (std::int32_t& one : index)
        one = random() % 5 == 0 ? -1 : static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(source_rows));
    return index;
}

}  // namespace

TEST_CASE("emulated gathered rows: every variant of wgmma that serves them") {
    std::size_t i = 0, serving = 0;
    OneIn tried(2);
    for (const std::string_view variant : kWgmmaVariants) serving += check_variant(variant, ++i, tried) ? 1 : 0;
    for (const std::string_view variant : kWgmmaRegisterVariants) serving += check_variant(variant, ++i, tried) ? 1 : 0;
    CHECK(serving >= 20);
}

TEST_CASE("emulated gathered rows: rows that repeat, rows that A does not have, and NaN in all that no index names") {
    constexpr std::int32_t kFar = std::numeric_limits<std::int32_t>::max();
    for (const std::string_view config : kConfigs) {
        const Product product(gathered(4, 37, spec_of(GemmLayout::tn, 200, 72, 200)), config);
        INFO(config);
        CHECK(product.wrong_elements({1, 64, 64, 190}, drawn(200, 37, 1)) == 0);
        CHECK(product.wrong_elements({0, 0, 200, 200}, drawn(200, 37, 2)) == 0);
        CHECK(product.wrong_elements({65, 66, 130, 199}, std::vector<std::int32_t>(200, 5)) == 0);
        CHECK(product.wrong_elements({65, 66, 130, 199}, std::vector<std::int32_t>(200, -1)) == 0);
        std::vector<std::int32_t> outside = drawn(200, 37, 3);
        for (std::size_t i = 0; i < outside.size(); i += 3) outside[i] = std::array{37, kFar, -kFar - 1}.at(i / 3 % 3);
        CHECK(product.wrong_elements({30, 60, 90, 200}, outside) == 0);
    }
}

TEST_CASE("emulated gathered rows: room for rows in each group, more rows in A than in D, one row") {
    for (const std::string_view config : kConfigs) {
        GemmSpec spec = gathered(4, 300, spec_of(GemmLayout::tn, 280, 72, 72));
        spec.group_rows = 70;
        INFO(config);
        CHECK(Product(spec, config).wrong_elements({70, 0, 1, 64}, drawn(280, 300, 4)) == 0);
        const Product one(gathered(2, 1, spec_of(GemmLayout::tn, 70, 8, 64)), config);
        CHECK(one.wrong_elements({69, 70}, drawn(70, 1, 5)) == 0);
    }
}

TEST_CASE("emulated gathered rows: random problems") {
    std::mt19937_64 random(17);
    const auto below = [&](std::uint64_t end) { return static_cast<std::int64_t>(random() % end); };
    for (std::uint64_t i = 0; i < 16; ++i) {
        GemmSpec spec = gathered(1 + below(i % 4 == 0 ? 200 : 12), 1 + below(300),
                                 spec_of(below(2) == 0 ? GemmLayout::tn : GemmLayout::tt, 1 + below(200),
                                         8 * (1 + below(20)), 8 * (1 + below(16))));
        if (below(3) == 0) spec.c = spec.d;
        if (below(3) == 0) spec.group_rows = 1 + below(100), spec.m = spec.groups * spec.group_rows;
        if (below(3) == 0) spec.deterministic = Determinism::batch_invariant;
        if (below(3) == 0) spec.lda = spec.k + 16;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec, {.beta = spec.c ? 1.0F : 0.0F, .seed = i}));
    }
}

TEST_CASE("emulated gathered rows: other types, texts, matrices in the ring") {
    for (const DataType type : {DataType::e4m3, DataType::s8, DataType::f16}) {
        GemmSpec spec = gathered(5, 50, spec_of(GemmLayout::tn, 96, 64, 96, type));
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec));
    }
    for (const std::string_view text :
         {"d = w[m] * relu(acc + bias[b,n])", "d = silu(acc) * x[m,n]", "d[m,h] = silu(left(acc)) * right(acc)"}) {
        GemmSpec spec = gathered(7, 60, spec_of(GemmLayout::tn, 136, 64, 40));
        spec.epilogue = text;
        INFO(to_string(spec));
        static_cast<void>(check_chosen(on_hopper(), spec));
    }
    GemmSpec spec = gathered(5, 60, spec_of(GemmLayout::tn, 400, 128, 200));
    spec.epilogue = "sb: f32[b,n/128,k/128]; d = acc * sb[b,n/128,k/128]";
    spec.a = spec.b = DataType::e4m3;
    spec.k = 256;
    spec.d = DataType::bf16;
    static_cast<void>(check_chosen(on_hopper(), spec));
}

TEST_CASE("emulated gathered rows: C in the ring, which the threads that gather pass by") {
    GemmSpec spec = gathered(5, 60, spec_of(GemmLayout::tn, 2000, 520, 136));  // blocks take several tiles
    spec.c = spec.d;
    for (const std::string_view config : {"block=128x64x64,warpgroup=64x64,stages=3,slices=2",
                                          "block=64x64x64,warpgroup=64x64,schedule=pingpong,stages=5",
                                          "block=256x64x64,warpgroup=128x64,schedule=overlapped,stages=4,slices=2"}) {
        INFO(config);
        static_cast<void>(
            check_kernel(on_hopper(), spec, KernelConfig{wgmma_config(config)}, {.beta = 2.0F, .seed = 3}));
    }
}

TEST_CASE("emulated gathered rows: without rows, without K, without alpha") {
    static_cast<void>(check_chosen(on_hopper(), gathered(3, 8, spec_of(GemmLayout::tn, 0, 64, 64))));
    check_unread_operands(gathered(3, 50, spec_of(GemmLayout::tn, 64, 64, 64)),
                          [](const GemmSpec& asked, const VerifyOptions& options) {
                              static_cast<void>(check_chosen(on_hopper(), asked, options));
                          });
}

TEST_CASE("emulated gathered rows: planted faults are found") {
    GemmSpec spec = gathered(20, 90, spec_of(GemmLayout::tn, 1200, 520, 136));  // blocks take several tiles
    spec.c = spec.d;
    const KernelConfig config{wgmma_config("block=128x64x64,warpgroup=64x64,stages=3,slices=2")};
    check_faults(on_hopper(), spec, config,
                 {{"args.row_index[tile.row + row]", "args.row_index[(tile.row + row) ^ 1]"},
                  {"args.row_index[tile.row + row]", "max(args.row_index[tile.row + row], 0)"},
                  {"args.row_index[tile.row + row] : -1", "row : -1"},
                  {"tile.row + row < tile.end_row ?", "true ?"},
                  {"source >= 0 && ", ""},
                  {" && source < args.source_rows", ""},
                  {"sources.row[j] == 0 ? 0 : bytes", "bytes"},
                  {"max(min(walk.end_k - column, kChunkElements), 0) * kElementBytes", "16"},
                  {"row < first + kRowsOfWarp; row += 32", "row < first + 32; row += 32"},
                  {"(chunk ^ row) * 16", "chunk * 16"},
                  {"(target ^ j * 16)", "target"},
                  {"% kGatherWarps * kRowsOfWarp", "% kGatherWarps * 0"},
                  {"        fence_proxy_async();\n        fill(", "        fill("},
                  {"ring.land<kCopiesInFlight - 1>(shared)", "ring.land<kCopiesInFlight>(shared)"},
                  {"            ring.wait(shared);\n", ""},
                  {"ring.pass(shared, stages_of_panels(args, walk));", ""}});
}
