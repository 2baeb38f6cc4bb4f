#include "generator/heuristics.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/says.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/timing.hpp"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <iterator>
#include <random>
#include <set>
#include <string>

namespace {

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

GemmSpec square(std::int64_t size) {
    GemmSpec spec;
    spec.m = spec.n = spec.k = size;
    return spec;
}

const Selection kMmaMultistage{.kernel = {}, .family = "mma_multistage", .parameters = {}};

MmaMultistageConfig chosen_mma(const GemmSpec& spec) {
    return std::get<MmaMultistageConfig>(choose_config(problem_of(spec), find_gpu("h200"), kMmaMultistage).family);
}

bool is_untimed(const KernelConfig& config) { return family_of(config).is_untimed(config); }

}  // namespace

TEST_CASE("kernels that nobody has timed are chosen where nothing else has what is asked for, and only there") {
    const GpuModel& gpu = find_gpu("h200");
    for (const std::int64_t size : {500, 1000, 1400, 2500, 3000, 4097}) {
        CHECK_FALSE(is_untimed(choose_config(problem_of(square(size)), gpu)));
        CHECK_FALSE(is_untimed(list_candidates(problem_of(square(size)), gpu).accepted.back().config));
        const Selection asked{.kernel = {}, .family = {}, .parameters = {{"a_source", "rmem"}}};
        const KernelConfig config = choose_config(problem_of(square(size)), gpu, asked);
        CHECK(is_untimed(config));
        CHECK(config == list_candidates(problem_of(square(size)), gpu, asked).accepted.front().config);
        CHECK_FALSE(is_untimed(choose_config(problem_of(square(size)), gpu, {{}, {}, {{"stages", "3"}}})));
    }
}

TEST_CASE("candidates come in order of predicted time, and the choice is their head") {
    for (const std::int64_t size : {64, 1000, 4096}) {
        const CandidateList list = list_candidates(problem_of(square(size)), find_gpu("h200"));
        REQUIRE(list.accepted.size() > 20);
        CHECK(std::is_sorted(list.accepted.begin(), list.accepted.end(),
                             [](const Candidate& left, const Candidate& right) {
                                 return std::pair(is_untimed(left.config), left.cost.total_us) <
                                        std::pair(is_untimed(right.config), right.cost.total_us);
                             }));
        CHECK(choose_config(problem_of(square(size)), find_gpu("h200")) == list.accepted.front().config);
        for (const RejectedCandidate& rejected : list.rejected) CHECK_FALSE(rejected.reasons.empty());
    }
}

TEST_CASE("no family proposes a kernel twice") {
    for (const Family& family : family_table()) {
        const GpuModel& gpu = find_gpu("h200");
        const GemmSpec spec = resolved({.m = 96, .n = 520, .k = 5000});
        std::set<ParameterMap> seen;
        for (const KernelConfig& config : family.candidates(problem_of(spec), gpu)) {
            INFO(family.name << ": " << kernel_name(problem_of(spec), config));
            CHECK(seen.insert(family.parameters(config)).second);
        }
    }
}

TEST_CASE("predictions keep to the physics") {
    for (const Candidate& candidate : list_candidates(problem_of(square(4096)), find_gpu("h200")).accepted) {
        const double per_clock = candidate.config.family.index() == KernelConfig{MmaMultistageConfig{}}.family.index()
                                     ? 2729.0
                                     : 4096.0;  // mma.sync, wgmma
        const double peak_us = 2.0 * 4096 * 4096 * 4096 / (per_clock * 132 * find_gpu("h200").clock_mhz * 1e6) * 1e6;
        REQUIRE(candidate.cost.total_us > peak_us);
        REQUIRE(candidate.cost.blocks_per_sm >= 1);
    }
}

TEST_CASE("few tiles and a deep K are split, a large problem is not") {
    GemmSpec deep = square(128);
    deep.k = 65536;
    CHECK(chosen_mma(deep).split_k > 1);
    CHECK(chosen_mma(square(4096)).split_k == 1);
}

TEST_CASE("large operands of odd pitch are packed") {
    GemmSpec odd = square(4097);
    CHECK(chosen_mma(odd).pack == Pack::ab);
    CHECK(chosen_mma(square(4096)).pack == Pack::none);
}

TEST_CASE("the selection fixes parameters, family and kernel") {
    Selection selection;
    selection.parameters = {{"stages", "7"}, {"block", "64x64x32"}, {"warp", "32x32"}};
    const CandidateList list = list_candidates(problem_of(square(1024)), find_gpu("h200"), selection);
    REQUIRE_FALSE(list.accepted.empty());
    for (const Candidate& candidate : list.accepted)
        CHECK(std::get<MmaMultistageConfig>(candidate.config.family).stages == 7);

    selection = {};
    selection.family = "mma_multistag";
    CHECK_THROWS_WITH(list_candidates(problem_of(square(1024)), find_gpu("h200"), selection),
                      ContainsSubstring("did you mean 'mma_multistage'"));

    selection = {};
    const KernelConfig second = list_candidates(problem_of(square(1024)), find_gpu("h200")).accepted[1].config;
    selection.kernel = kernel_name(problem_of(square(1024)), second);
    CHECK(choose_config(problem_of(square(1024)), find_gpu("h200"), selection) == second);
    GemmSpec other = square(1024);
    other.layout = GemmLayout::nn;
    CHECK_THROWS_WITH(choose_config(problem_of(other), find_gpu("h200"), selection),
                      ContainsSubstring("for another problem"));
}

TEST_CASE("a forced kernel that does not fit names every reason") {
    Selection selection;
    MmaMultistageConfig wrong;
    wrong.block = {256, 256, 64};
    wrong.warp = {64, 64, 64};
    wrong.stages = 8;
    wrong.split_k = 100;
    selection.kernel = kernel_name(problem_of(square(1024)), {wrong});
    try {
        static_cast<void>(choose_config(problem_of(square(1024)), find_gpu("a100"), selection));
        FAIL("accepted");
    } catch (const ConfigError& error) {
        CHECK(error.reasons().size() >= 3);
        CHECK_THAT(error.what(), ContainsSubstring("split_k = 100") && ContainsSubstring("bytes of shared memory"));
    }
}

TEST_CASE("types without a family are refused with the reason") {
    GemmSpec spec = gemm_spec_of_type(DataType::tf32);
    spec.m = spec.n = spec.k = 256;
    CHECK_THROWS_AS(choose_config(problem_of(spec), find_gpu("h200")), ConfigError);
    CHECK_THAT(list_candidates(problem_of(spec), find_gpu("h200")).unsupported.front(), ContainsSubstring("tf32"));
}

TEST_CASE("a choice takes less than a few milliseconds") {
    static_cast<void>(choose_config(problem_of(square(777)), find_gpu("h200")));
#ifdef NDEBUG
    constexpr bool kIsHeld = true;
#else
    constexpr bool kIsHeld = false;  // unoptimised and sanitized builds only print it
#endif
    int size = 1000;
    const auto holds = [](const std::vector<double>& us) { return !kIsHeld || us[0] < 3000; };
    const std::vector<double> us =
        testing::fastest_us({[&] { static_cast<void>(choose_config(problem_of(square(++size)), find_gpu("h200"))); }},
                            {.rounds = 4, .calls = 5}, holds);
    INFO("one choice: " << us[0] << " us");
    CHECK(holds(us));
}

TEST_CASE("a matrix of short rows is not packed to a multiple of its size") {
    GemmSpec column;  // 34 GB packed
    column.m = kLargestExtent;
    column.n = column.k = 1;
    const auto pack_of = [](const KernelConfig& config) { return std::get<MmaMultistageConfig>(config.family).pack; };
    CHECK_FALSE(packs_a(pack_of(choose_config(problem_of(column), find_gpu("h200")))));
    const GemmSpec three = parse_shape_line("bf16 tn 134217728 8 3");
    CHECK_FALSE(packs_a(pack_of(choose_config(problem_of(three), find_gpu("h200")))));

    const auto packing_us = [](std::int64_t k) {
        const GemmSpec spec = resolved(parse_shape_line("bf16 tn 4194304 256 " + std::to_string(k)));
        MmaMultistageConfig packed;
        packed.pack = Pack::a;
        const auto cost_of = [&](const MmaMultistageConfig& c) {
            return family_of({c}).cost(problem_of(spec), {c}, find_gpu("h200"));
        };
        return cost_of(packed).overhead_us - cost_of(MmaMultistageConfig{}).overhead_us;
    };
    CHECK(packing_us(9) > 1.4 * packing_us(8));  // rows of 16 to write
}

TEST_CASE("tiles beyond all bounds are refused with reasons") {
    const GpuModel& gpu = find_gpu("h200");
    for (const Family& family : family_table()) {
        const bool half = family.math_unit == MathUnit::tensor_cores;
        const GemmSpec spec = resolved(parse_shape_line(half ? "bf16 tn 256 16 256" : "f32 tn 256 16 256"));
        const KernelConfig usual = family.candidates(problem_of(spec), gpu).front();
        const auto check_refused = [&](const ParameterMap& parameters) {
            const KernelConfig config = family.with_parameters(usual, parameters);
            const std::string kernel = kernel_name(problem_of(spec), config);
            INFO(kernel);
            CHECK_THROWS_AS(choose_config(problem_of(spec), gpu, {.kernel = kernel, .family = {}, .parameters = {}}),
                            ConfigError);
            CHECK_THROWS_AS(choose_config(problem_of(spec), gpu,
                                          {.kernel = {}, .family = std::string(family.name), .parameters = parameters}),
                            ConfigError);
        };
        ParameterMap all;
        for (const auto& [name, value] : family.parameters(usual)) {
            if (value.find('x') == std::string::npos) continue;  // no shape
            const std::string huge =
                std::count(value.begin(), value.end(), 'x') == 2 ? "65536x65536x65536" : "65536x65536";
            check_refused({{name, huge}});
            all[name] = huge;
        }
        check_refused(all);
    }
}

TEST_CASE("small problems are served on every architecture, and empty ones of any size") {
    for (const Arch& arch : arch_table()) {
        const GpuModel& gpu = typical_gpu(arch);
        for (const char* type : {"f16", "bf16", "f32"})
            for (const char* sizes :
                 {"128 128 128", "30 30 64", "1 512 1000", "0 3 1000", "3 0 1000", "0 0 4096", "3 4 0"}) {
                const GemmSpec spec = parse_shape_line(std::string(type) + " tn " + sizes);
                INFO(arch.name << " " << to_string(spec));
                const bool has_type = std::ranges::any_of(family_table(), [&](const Family& family) {
                    return family.unsupported(problem_of(spec), arch).empty();
                });
                if (has_type) CHECK_NOTHROW(choose_config(problem_of(spec), gpu));
            }
    }
}

TEST_CASE("a problem that nothing serves is refused with the reasons of each family") {
    const Selection too_many{.kernel = {}, .family = {}, .parameters = {{"stages", "99"}}};
    CHECK_THROWS_WITH(choose_config(problem_of(parse_shape_line("bf16 tn 64 64 64")), find_gpu("a100"), too_many),
                      testing::Says("stages = 99", "16") && testing::Says("wgmma_warp_specialized", "sm_90a"));
    const Problem symmetric = problem_of(parse_shape_line("e4m3 tn 64 64 64 symmetric=yes"));
    CHECK_THROWS_WITH(choose_config(symmetric, find_gpu("a100")),
                      testing::Says("mma_multistage", "sm_89") && testing::Says("mma_sliced_k", "symmetric"));
}

TEST_CASE("a family without a kernel for a problem that it serves says so") {
    const Selection mma{.kernel = {}, .family = "mma_multistage", .parameters = {}};
    CHECK_THROWS_WITH(choose_config(problem_of(parse_shape_line("e4m3 tn 64 64 64")), find_gpu("h200"), mma),
                      ContainsSubstring("mma_multistage proposes none"));  // it leaves them to wgmma
}

namespace {

/// A value that a parameter could be set to by mistake or malice: as its usual one a number, a shape of as many, or a
/// word.
std::string extreme_value(const std::string& usual, std::mt19937& random) {
    const auto pick = [&](std::initializer_list<int> values) { return *(values.begin() + random() % values.size()); };
    if (usual.find_first_not_of("0123456789x") != std::string::npos) return usual;
    std::string value = std::to_string(pick({0, 1, 2, 3, 64, 65536}));
    for (auto dimensions = std::count(usual.begin(), usual.end(), 'x'); dimensions > 0; --dimensions)
        value += "x" + std::to_string(pick({0, 1, 8, 64, 65536}));
    return value;
}

}  // namespace

TEST_CASE("whatever one to three parameters are set to, the choice keeps the rules or names those that are broken") {
    std::mt19937 random(20261126);
    const GpuModel& gpu = find_gpu("h200");
    int served = 0, refused = 0;
    for (const Family& family : family_table())
        for (const GemmLayout layout : testing::kLayouts) {
            const bool half = family.math_unit == MathUnit::tensor_cores;
            GemmSpec spec = parse_shape_line(half ? "bf16 tn 512 16 512" : "f32 tn 512 16 512");
            spec.layout = layout;
            spec = resolved(spec);
            if (!family.unsupported(problem_of(spec), *gpu.arch).empty()) continue;
            const ParameterMap usual = family.parameters(family.candidates(problem_of(spec), gpu).front());
            for (int trial = 0; trial < 25; ++trial) {
                Selection selection{.kernel = {}, .family = std::string(family.name), .parameters = {}};
                for (auto fixed = 1 + random() % 3; fixed > 0; --fixed) {
                    const auto& [name, value] =
                        *std::next(usual.begin(), static_cast<std::ptrdiff_t>(random() % usual.size()));
                    selection.parameters[name] = name == "store" ? "smem" : extreme_value(value, random);
                }
                INFO(family.name << " " << to_string(layout));
                for (const auto& [name, value] : selection.parameters) UNSCOPED_INFO(name << "=" << value);
                try {
                    const KernelConfig config = choose_config(problem_of(spec), gpu, selection);
                    CHECK(family.violations(problem_of(spec), config, *gpu.arch).empty());
                    ++served;
                } catch (const ConfigError& error) {
                    CHECK_FALSE(error.reasons().empty());
                    ++refused;
                }
            }
        }
    CHECK(served > 100);
    CHECK(refused > 100);
}

TEST_CASE("what no SM can hold takes for ever, not no time") {
    const GpuModel& gpu = find_gpu("h200");
    const GemmSpec spec = resolved(parse_shape_line("bf16 tn 4096 4096 4096"));
    for (const char* name :
         {"mma_multistage_bf16_tn_65536x65536x64_warp16x16_stages4", "simt_naive_bf16_tn_65536x65536"}) {
        const KernelConfig config = parse_kernel_name(name).config;
        CHECK(std::isinf(family_of(config).cost(problem_of(spec), config, gpu).total_us));
        CHECK_FALSE(family_of(config).violations(problem_of(spec), config, *gpu.arch).empty());
    }
    const Selection huge{.kernel = {}, .family = "simt_naive", .parameters = {{"block", "65536x65536"}}};
    CHECK_THROWS_AS(choose_config(problem_of(spec), gpu, huge), ConfigError);
}

TEST_CASE("raster groups of more tiles than 32 bits count are refused") {
    const GemmSpec wide = parse_shape_line("bf16 tn 65536 1000000000 64");  // 2^32 / 1024 tiles of 238
    const auto grouped = [](const char* rasterization, const char* group) {
        return Selection{
            .kernel = {},
            .family = "mma_multistage",
            .parameters = {
                {"block", "16x64x32"}, {"warp", "16x16"}, {"rasterization", rasterization}, {"group", group}}};
    };
    CHECK_THROWS_WITH(choose_config(problem_of(wide), find_gpu("h200"), grouped("grouped_m", "1024")),
                      ContainsSubstring("32 bits"));
    GemmSpec narrow = wide;
    narrow.m = 16;
    CHECK_THROWS_WITH(choose_config(problem_of(narrow), find_gpu("h200"), grouped("grouped_m", "1024")),
                      ContainsSubstring("32 bits"));
    CHECK_NOTHROW(choose_config(problem_of(narrow), find_gpu("h200"), grouped("grouped_n", "1024")));
    CHECK_NOTHROW(choose_config(problem_of(narrow), find_gpu("h200"), grouped("grouped_m", "256")));
}
