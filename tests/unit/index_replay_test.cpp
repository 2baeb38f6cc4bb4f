#include "tests/support/index_replay.hpp"
#include "tests/catch.hpp"
#include "tests/support/random_spec.hpp"

#include <fmt/format.h>

#include <array>
#include <random>
#include <string>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::IndexReplay;

namespace {

constexpr std::int64_t kMost = kLargestExtent;
constexpr std::int64_t k2To27 = std::int64_t{1} << 27;
constexpr double kMostBytes = 8e12;  // of a matrix: what IndexReplay's address space holds

const GpuModel& h200() { return find_gpu("h200"); }

GemmSpec shape(std::string_view line) { return parse_shape_line(line); }

Selection selection(std::string_view family, std::string_view parameters = "") {
    return {.kernel = {}, .family = std::string(family), .parameters = parse_parameters(parameters)};
}

/// Nothing wrong, or no means of telling.
void check_replay(const IndexReplay& replay) {
    const std::optional<std::string> wrong = replay.run();
    if (wrong) CHECK_THAT(*wrong, Catch::Matchers::Equals(""));
}

void add_chosen(IndexReplay& replay, const GemmSpec& spec, const Selection& asked = {}) {
    replay.add(spec, choose_config(problem_of(spec), h200(), asked));
}

bool fits_replay(const GemmSpec& asked) {
    const GemmSpec spec = resolved(asked);
    const OperandExtents extents = operand_extents(spec);
    for (const std::int64_t elements : {extents.a, extents.b, extents.c, extents.d})
        if (static_cast<double>(elements) * 4 > kMostBytes) return false;
    return true;
}

/// A size at one of the edges, or a small one.
std::int64_t edge(std::mt19937& random) {
    const std::int64_t around = static_cast<std::int64_t>(random() % 19) - 9;
    switch (random() % 4) {
        case 0: return k2To27 + around;
        case 1: return kMost - static_cast<std::int64_t>(random() % 10);
        case 2: return (std::int64_t{1} << (24 + random() % 7)) + around;
        default: return (std::int64_t{1} << 31) / (1 + static_cast<std::int64_t>(random() % 255)) + around;
    }
}

std::int64_t small(std::mt19937& random) { return 1 + static_cast<std::int64_t>(random() % 70); }

/// Mostly one long side; sometimes two of 2^16, whose products are long.
GemmSpec edge_spec(std::mt19937& random) {
    GemmSpec spec = gemm_spec_of_type(pick(random, {DataType::bf16, DataType::bf16, DataType::f16, DataType::f32}));
    spec.m = small(random);
    spec.n = small(random);
    spec.k = small(random);
    const std::array<std::int64_t*, 3> sides{&spec.m, &spec.n, &spec.k};
    const std::size_t first = random() % 3;
    if (random() % 3 != 0) {
        *sides[first] = edge(random);
    } else {
        *sides[first] = 65536 + static_cast<std::int64_t>(random() % 200) - 100;
        *sides[(first + 1) % 3] = 65536 + static_cast<std::int64_t>(random() % 200) - 100;
    }
    spec.layout = pick(random, {GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt});
    spec.d_order = pick(random, {Order::row, Order::column});
    if (random() % 3 == 0) spec.c = spec.d;
    return spec;
}

/// Pitches beyond the rows, so that offsets go over 2^31 and 2^32.
void widen(GemmSpec& spec, std::mt19937& random) {
    const GemmSpec packed = resolved(spec);
    const auto wide = [&](std::int64_t ld) { return ld + static_cast<std::int64_t>(random() % 100000); };
    spec.lda = wide(packed.lda);
    spec.ldb = wide(packed.ldb);
    spec.ldd = wide(packed.ldd);
    if (spec.c) spec.ldc = wide(packed.ldc);
}

/// A block of such a kernel walks all of D in steps of the grid: of 2^31 rows that is no replay but the whole
/// computation. They are there to learn from; the heuristic chooses none of them.
bool strides_over_grid(const Family& family) {
    const GemmSpec spec = shape(family.math_unit == MathUnit::tensor_cores ? "f16 tn 64 16 64" : "f32 tn 64 16 64");
    return parameters_of(choose_config(problem_of(spec), h200(), selection(family.name))).contains("grid");
}

}  // namespace

TEST_CASE("packing ends and packs every vector, whatever the rows") {
    IndexReplay replay;
    for (const char* line :
         {"bf16 tn 134217728 16 7", "bf16 tn 16 134217728 7", "bf16 tn 134217721 16 7", "bf16 tn 134217727 16 7",
          "bf16 tn 134217728 2 7", "bf16 tn 134217728 8 3", "bf16 tt 16 16777215 127"}) {
        add_chosen(replay, shape(line));
        for (const char* pack : {"a", "b"}) {
            if (resolved(shape(line)).align_a == 16 || resolved(shape(line)).align_b == 16) continue;
            replay.add(shape(line), choose_config(problem_of(shape(line)), h200(),
                                                  selection("mma_multistage", fmt::format("pack={}", pack))));
        }
    }
    check_replay(replay);
}

TEST_CASE("transposing ends and moves every block, whatever the sizes and pitches") {
    IndexReplay replay;
    for (const char* line :
         {"e4m3 nt 134217728 16 7", "e4m3 nt 16 134217721 33", "e4m3 nn 134217727 5 80", "e5m2 nt 5 3 2147418111",
          "e4m3 tt 16777215 130 127", "e4m3 nt 65637 65500 70000", "f32 nt 134217728 16 7", "f32 nt 16 134217721 33",
          "f32 nn 134217727 5 80", "f32 tn 16777215 130 127", "f32 nt 65637 65500 7000"}) {
        GemmSpec spec = shape(line);
        if (spec.a == DataType::f32) spec.math = Math::tf32;
        add_chosen(replay, spec, selection("wgmma_warp_specialized"));
        spec = resolved(spec);
        spec.lda += 100001;
        spec.ldb += 4;
        spec.align_a = spec.align_b = 0;
        if (fits_replay(spec)) add_chosen(replay, spec, selection("wgmma_warp_specialized"));
    }
    check_replay(replay);
}

TEST_CASE("partial sums, groups and clusters count in as many bits as they need") {
    IndexReplay replay;
    const auto add = [&](const char* line, const char* family, const char* parameters) {
        add_chosen(replay, shape(line), selection(family, parameters));
    };
    add("bf16 tn 40000000 4 64", "mma_multistage", "split_k=64,reduction=workspace");
    add("f32 tn 40000000 4 64", "simt_hierarchical", "split_k=64");
    add("bf16 tn 33554433 129 64", "mma_multistage", "split_k=2,reduction=workspace");
    add("bf16 tn 40000000 4 640", "mma_multistage", "split_k=8,reduction=cluster");
    add("bf16 tn 4 2000000000 40", "mma_multistage", "split_k=1,rasterization=grouped_m,group=16");
    add("bf16 tn 2000000000 4 40", "mma_multistage", "split_k=1,rasterization=grouped_n,group=16");
    add("bf16 tn 2000000000 40 40", "mma_multistage", "split_k=1,rasterization=zigzag,group=1024");
    add("bf16 tn 2000000000 4 40", "mma_multistage", "split_k=1,rasterization=row");
    add("bf16 nn 4 2000000000 40", "mma_multistage", "split_k=1,rasterization=column");
    add("f32 nt 40000000 4 4096", "simt_long_k", "split_k=64");
    add("f32 tn 5 40000001 4096", "simt_long_k", "split_k=3");
    add("f32 tt 300000 130 40", "simt_hierarchical", "split_k=1,blocks_per_wave=132,predicated=1");
    add("f32 nn 300000 131 40", "simt_hierarchical", "split_k=1,blocks_per_wave=0,predicated=1,store=smem");
    check_replay(replay);
}

TEST_CASE("every family reckons with extents of 31 bits", "[heavy]") {
    IndexReplay replay;
    for (const Family& family : family_table()) {
        if (strides_over_grid(family)) continue;
        const char* const type = family.math_unit == MathUnit::tensor_cores ? "f16" : "f32";
        const char* const parameters =
            family.name == "simt_hierarchical" ? "split_k=1,blocks_per_wave=0,predicated=1" : "";
        for (const std::string& sizes : {fmt::format("tn {} 8 32", kMost), fmt::format("nt 16 {} 32", kMost - 7)})
            add_chosen(replay, shape(fmt::format("{} {}", type, sizes)), selection(family.name, parameters));
    }
    check_replay(replay);
}

TEST_CASE("a long K is walked to its end", "[heavy]") {
    IndexReplay replay;
    add_chosen(replay, shape(fmt::format("bf16 tn 16 16 {}", kMost)));
    add_chosen(replay, shape(fmt::format("bf16 nt 5 7 {}", k2To27 + 3)));
    add_chosen(replay, shape(fmt::format("f32 tt 3 5 {}", k2To27 - 1)), selection("simt_hierarchical"));
    add_chosen(replay, shape(fmt::format("bf16 tt 16 8 {}", k2To27)), selection("wmma_multistage"));
    for (const char* layout : {"tn", "nn", "nt", "tt"})
        add_chosen(replay, shape(fmt::format("f32 {} 3 40 {}", layout, kMost - 5)), selection("simt_long_k"));
    check_replay(replay);
}

TEST_CASE("no chosen kernel leaves its matrices at the edges of 32 bits", "[heavy]") {
    std::mt19937 random(32);
    IndexReplay replay;
    int refused = 0;
    for (int i = 0; i < 60; ++i) {
        GemmSpec spec = edge_spec(random);
        if (random() % 2 == 0) widen(spec, random);
        if (!fits_replay(spec)) continue;
        INFO(to_string(spec));
        try {
            add_chosen(replay, spec);
        } catch (const ConfigError& error) {  // more blocks than a grid holds, with the number
            CHECK_THAT(error.what(), ContainsSubstring("exceed the grid's"));
            ++refused;
        }
    }
    CHECK(refused < 12);
    check_replay(replay);
}

TEST_CASE("the replay sees steps of nothing and products that leave their type") {
    const auto wrong_with = [](std::string_view line, std::string_view parameters, const std::string& from,
                               const std::string& to) {
        const KernelConfig config =
            choose_config(problem_of(shape(line)), h200(), selection("mma_multistage", parameters));
        std::string body = generate(problem_of(shape(line)), config, find_arch("sm_90a")).body;
        const std::size_t at = body.find(from);
        REQUIRE(at != std::string::npos);
        IndexReplay replay(2);
        replay.add(shape(line), config, body.replace(at, from.size(), to));
        return replay.run().value_or(to);
    };
    CHECK_THAT(wrong_with("bf16 tn 134217728 16 7", "pack=a", "v += gridDim.x * kPackThreads",
                          "v += gridDim.x * kPackThreads * 256 /* spins */"),
               ContainsSubstring("spins"));
    CHECK_THAT(wrong_with("bf16 tn 40000000 4 64", "split_k=64,reduction=workspace", "split * (args.m * output.ldd)",
                          "split * args.m * output.ldd /* leaves its type */"),
               ContainsSubstring("leaves its type"));
    CHECK_THAT(wrong_with("bf16 tn 100 200 64", "split_k=1,pack=none", "(at.m) * kBlockM",
                          "(at.m) * kBlockM + 1 /* no business */"),
               ContainsSubstring("no business"));
}
