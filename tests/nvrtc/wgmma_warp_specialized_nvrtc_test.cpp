/// ptxas must neither spill registers nor serialise wgmmas (its remarks C7506 to C7519) for any candidate of
/// wgmma_warp_specialized.

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/cli/disassembler.hpp"
#include "tests/catch.hpp"
#include "tests/support/compiled.hpp"
#include "tests/support/one_in.hpp"
#include "tests/support/specs.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

using Config = WgmmaWarpSpecializedConfig;

const Arch& hopper() { return find_arch("sm_90a"); }

/// These decide the number of registers that a kernel needs beside its sums, together with its cluster.
auto kind(const Config& c) { return std::tuple(c.schedule, c.block.m, c.swap_ab, c.stream_k != 0, c.a_source); }

/// No cluster, a pair, more.
int cluster_kind(const Config& c) { return std::min(c.cluster.m * c.cluster.n, 3); }

/// Of every kind of candidate the widest, whose sums leave the fewest registers. Clusters take turns from kind to kind,
/// and begin with another one for each problem: ptxas takes most of these tests' time.
std::vector<Config> widest_candidates(const GemmSpec& spec, const ParameterMap& fixed = {}) {
    std::map<decltype(kind(Config{})), std::map<int, Config>> widest;
    const Family& family = find_family("wgmma_warp_specialized");
    for (const KernelConfig& proposed : family.candidates(problem_of(spec), typical_gpu(hopper()))) {
        const KernelConfig candidate = with_parameters(proposed, fixed);
        const auto& config = candidate.as<Config>();
        if (!family.violations(problem_of(spec), candidate, hopper()).empty()) continue;
        const auto [known, is_new] = widest[kind(config)].try_emplace(cluster_kind(config), config);
        if (!is_new && known->second.warpgroup.n < config.warpgroup.n) known->second = config;
    }
    std::vector<Config> configs;
    std::size_t turn = static_cast<std::size_t>(spec.m) + static_cast<std::size_t>(spec.layout);
    for (const auto& [key, by_cluster] : widest)
        configs.push_back(std::next(by_cluster.begin(), static_cast<long>(turn++ % by_cluster.size()))->second);
    return configs;
}

/// Half of the widest candidates.
void check_candidates(const GemmSpec& asked, const ParameterMap& fixed = {}) {
    static OneIn tried(2);
    const GemmSpec spec = resolved(asked);
    const std::vector<Config> configs = widest_candidates(spec, fixed);
    CHECK(configs.size() > 10);
    for (const Config& config : configs)
        if (tried.next()) check_no_spills(generate(problem_of(spec), {config}, hopper()), 60);
}

std::size_t count(const std::string& text, const char* pattern) {
    const std::regex regex(pattern);
    return static_cast<std::size_t>(
        std::distance(std::sregex_iterator(text.begin(), text.end(), regex), std::sregex_iterator()));
}

/// Empty where no disassembler is installed.
std::string sass(const KernelConfig& config, const GemmSpec& spec) {
    const std::string cubin = compiled(generate(problem_of(spec), config, hopper())).binary;
    try {
        return cli::disassemble(cubin, Options::from_environment());
    } catch (const Error& error) {
        if (!std::string(error.what()).starts_with("no disassembler")) throw;
        return {};
    }
}

}  // namespace

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, of K-major operands") {
    check_candidates(spec_of(GemmLayout::tn, 4000, 6000, 3000));
}

TEST_CASE("wgmma: nor do cooperative candidates whose blocks have one tile each") {
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 4000, 6000, 3000));
    for (Config config : widest_candidates(spec)) {
        if (config.schedule != WarpgroupSchedule::cooperative || config.stream_k != 0) continue;
        config.persistent = false;
        config.cluster = {1, 1, 1};  // the ladder's template, which has these kernels, has no clusters
        config.early_a = config.early_b = false;
        check_no_spills(generate(problem_of(spec), {config}, hopper()), 60);
    }
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, of MN-major operands") {
    check_candidates(spec_of(GemmLayout::nt, 4000, 6000, 3000));
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, of groups of K") {
    GemmSpec spec = spec_of(GemmLayout::nt, 4000, 6000, 30000);
    spec.groups = 4;
    spec.ragged = Ragged::k;
    GemmSpec added = spec;
    added.c = added.d = DataType::f32;
    GemmSpec odd = spec_of(GemmLayout::nt, 1000, 1000, 5000, DataType::f16);
    odd.groups = 7;
    odd.ragged = Ragged::k;
    odd.ldd = 1001;
    for (const GemmSpec& one : {resolved(spec), resolved(added), resolved(odd)}) {
        const std::vector<Config> configs = widest_candidates(one, {});
        CHECK(configs.size() >= 4);
        for (const Config& config : configs) check_no_spills(generate(problem_of(one), {config}, hopper()), 60);
    }
}

TEST_CASE(
    "wgmma: no candidate spills, nor are its wgmmas serialised, for few tiles in large clusters, with a constant B") {
    GemmSpec spec = spec_of(GemmLayout::nn, 1000, 1000, 1000);
    spec.constant_b = true;
    check_candidates(spec);
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, of rows of any pitch") {
    check_candidates(spec_of(GemmLayout::tn, 2001, 3001, 1001));
    GemmSpec spec = spec_of(GemmLayout::nn, 2001, 3001, 1001);
    spec.c = spec.d = DataType::f32;
    check_candidates(spec);
    const GemmSpec halves = resolved(spec_of(GemmLayout::tt, 2606, 3806, 4976, DataType::f16));
    for (const Config& config : widest_candidates(halves))
        if (config.block.m == 3 * kWgmmaM) check_no_spills(generate(problem_of(halves), {config}, hopper()), 60);
}

TEST_CASE("wgmma: no candidate spills of 8-bit floats with scales of blocks, of pairs, of groups, by TMA and threads") {
    constexpr std::array<std::string_view, 4> kTexts{
        "d = silu(acc * sa[m,k/128] * sb[n,k/128])",
        "x = acc * sa[m,k/128] * sb[n/128,k/128]; d[m,h] = silu(left(x)) * right(x)",
        "x = acc * sa[m,k/128] * sb[n,k/128]; d[m,h] = even(x) * odd(x)",
        "x = acc * sa[k/128,m] * sb[n/128,k/128]; t = silu(left(x)) * right(x); q[m,h/128] = max(abs(t)) / 448; "
        "d[m,h] = t / q[m,h/128]"};
    OneIn tried(3);
    for (const std::string_view text : kTexts)
        for (const std::int64_t groups : {0, 16})
            for (const std::int64_t k : {1024, 4096}) {
                GemmSpec spec = spec_of(GemmLayout::tn, 2048, 4096, k, DataType::e4m3);
                spec.epilogue = text;
                spec.groups = groups;
                const GemmSpec one = resolved(spec);
                const std::vector<Config> configs = widest_candidates(one);
                INFO(to_string(one));
                CHECK_FALSE(configs.empty());
                for (const Config& config : configs)
                    if (tried.next()) check_no_spills(generate(problem_of(one), {config}, hopper()), 60);
            }
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, of 8-bit floats") {
    GemmSpec spec = spec_of(GemmLayout::tn, 4000, 6000, 3008, DataType::e4m3);
    check_candidates(spec);
    spec.sums = Summation::fast;
    check_candidates(spec);
    spec.m = 1008;
    spec.sums = Summation::promoted;
    spec.c = spec.d = DataType::f32;
    check_candidates(spec);
    spec.c = std::nullopt;
    spec.d = DataType::e5m2;
    spec.epilogue = "x: bf16[m,n]; row: f32[m]; column: f32[n]; d = acc * row[m] * column[n] + x[m,n]";
    check_candidates(spec);
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, of 8-bit integers") {
    GemmSpec spec = spec_of(GemmLayout::tn, 4000, 6000, 3008, DataType::s8);
    check_candidates(spec);
    spec.d = DataType::bf16;
    spec.c = DataType::f32;
    check_candidates(spec);
    spec.c = std::nullopt;
    spec.d = DataType::s8;
    spec.epilogue = "x: bf16[m,n]; row: f32[m]; column: f32[n]; d = acc * row[m] * column[n] + x[m,n]";
    check_candidates(spec);
    spec.m = spec.n = 1001;
    spec.d = DataType::s32;
    check_candidates(spec);
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, with C") {
    GemmSpec spec = spec_of(GemmLayout::tn, 1500, 3000, 1000);
    spec.c = DataType::bf16;
    check_candidates(spec);
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, with C and D of f32, and with sums of f16") {
    GemmSpec spec = spec_of(GemmLayout::tt, 1500, 3000, 1000);
    spec.c = spec.d = DataType::f32;
    check_candidates(spec);
    GemmSpec halves = spec_of(GemmLayout::nn, 1504, 3000, 1000, DataType::f16);
    halves.accumulator = DataType::f16;
    check_candidates(halves);
}

TEST_CASE("wgmma: no candidate spills, nor are its wgmmas serialised, with A from registers") {
    const ParameterMap from_registers{{"a_source", "rmem"}};
    check_candidates(spec_of(GemmLayout::tn, 4000, 6000, 3000), from_registers);
    check_candidates(spec_of(GemmLayout::nt, 4000, 6000, 3000), from_registers);
    check_candidates(spec_of(GemmLayout::nn, 2001, 3001, 1001), from_registers);
    GemmSpec with_c = spec_of(GemmLayout::tt, 1500, 3000, 1000);
    with_c.c = DataType::bf16;
    check_candidates(with_c, from_registers);
    with_c.broadcast_c = true;  // a warp holds a part of the row while the last wgmmas are at work
    check_candidates(with_c, from_registers);
    GemmSpec halves = spec_of(GemmLayout::nt, 1504, 3000, 1000, DataType::f16);
    halves.accumulator = DataType::f16;
    check_candidates(halves, from_registers);
}

TEST_CASE("wgmma: nor do kernels without a producer, of whatever width") {
    const ParameterMap filling{{"persistent", "0"}, {"warp_specialized", "0"}};
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        const GemmSpec spec = resolved(spec_of(layout, 4000, 6000, 3000));
        const std::vector<Config> configs = widest_candidates(spec, filling);
        CHECK(configs.size() > 5);
        for (const Config& config : configs) check_no_spills(generate(problem_of(spec), {config}, hopper()), 60);
    }
    GemmSpec with_c = spec_of(GemmLayout::tt, 1500, 3000, 1000);
    with_c.c = DataType::bf16;
    for (const GemmSpec& spec : {resolved(spec_of(GemmLayout::tn, 4000, 6000, 3000)), resolved(with_c)})
        for (const char* const widest :
             {"block=128x224x64,warpgroup=128x224,stages=3", "block=256x224x64,warpgroup=128x224,stages=3,slices=1"}) {
            INFO(widest);
            const KernelConfig config =
                with_parameters(with_parameters({Config{}}, filling), parse_parameters(std::string(widest)));
            REQUIRE(find_family("wgmma_warp_specialized").violations(problem_of(spec), config, hopper()).empty());
            check_no_spills(generate(problem_of(spec), config, hopper()), 60);
        }
}

TEST_CASE(
    "wgmma: with A from registers the machine code waits for one wgmma of four at a time, and for all at a tile's "
    "end") {
    struct Case {
        const char* parameters;
        std::size_t wgmmas;  ///< of a tile's first k-tile, of the others, and of the last one where it stands apart
        std::size_t ends;    ///< waits for all
    };
    const Case cases[] = {
        {"block=128x256x64,warpgroup=64x256,stages=4,a_source=rmem", 4 + 4, 1},
        {"block=64x32x128,warpgroup=64x32,stages=6,a_source=rmem", 8 + 8, 1},
        {"block=128x160x64,warpgroup=128x160,schedule=pingpong,stages=4,a_source=rmem", 8 + 8, 1},
        {"block=256x160x64,warpgroup=128x160,schedule=overlapped,stages=3,a_source=rmem", 8 + 8 + 8, 2},
    };
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt})
        for (const Case& expected : cases) {
            INFO(expected.parameters);
            const KernelConfig config = with_parameters({Config{}}, parse_parameters(expected.parameters));
            const std::string text = sass(config, spec_of(layout, 4096, 4096, 4096));
            if (text.empty()) SKIP_TEST("no cuobjdump and no nvdisasm here");
            CHECK(count(text, "\\bHGMMA\\.64x\\S+ R\\d+, R\\d+, gdesc") == expected.wgmmas);
            CHECK(count(text, "\\bHGMMA\\b") == expected.wgmmas);
            CHECK(count(text, layout == GemmLayout::tn ? "\\bLDSM\\.16\\.M88\\.4\\b" : "\\bLDSM\\.16\\.MT88\\.4\\b") ==
                  expected.wgmmas);
            CHECK(count(text, "\\bWARPGROUP\\.DEPBAR\\.LE gsb0, 0x3") == expected.wgmmas);
            CHECK(count(text, "\\bWARPGROUP\\.DEPBAR\\.LE gsb0, 0x0") == expected.ends);
            CHECK(count(text, "\\b(LDL|STL)\\b") == 0);
        }
}

TEST_CASE("wgmma: the machine code is one batch of wgmmas per k-tile, copies by TMA, and no local memory") {
    const GemmSpec spec = spec_of(GemmLayout::tn, 4096, 4096, 4096);
    struct Case {
        const char* parameters;
        std::size_t wgmmas;   ///< of a tile's first k-tile, of the others, and of the last one where it stands apart
        std::size_t batches;  ///< that they are issued in
        std::size_t setmaxnregs;  ///< the producer's and the consumers'; none where one consumer has enough
    };
    const Case cases[] = {
        {"block=128x256x64,warpgroup=64x256,stages=4", 4 + 4, 2, 2},
        {"block=64x32x128,warpgroup=64x32,stages=6", 8 + 8, 2, 0},
        {"block=128x256x64,warpgroup=64x256,stages=4,persistent=0,warp_specialized=0", 4 + 4, 2, 0},
        {"block=128x176x64,warpgroup=128x176,schedule=pingpong,stages=5", 8 + 8, 2, 2},
        {"block=256x176x64,warpgroup=128x176,schedule=overlapped,stages=3", 8 + 8 + 8, 5, 2},
    };
    for (const Case& expected : cases) {
        INFO(expected.parameters);
        const KernelConfig config = with_parameters({Config{}}, parse_parameters(expected.parameters));
        const std::string text = sass(config, spec);
        if (text.empty()) SKIP_TEST("no cuobjdump and no nvdisasm here");
        CHECK(count(text, "\\bHGMMA\\.64x") == expected.wgmmas);
        CHECK(count(text, "\\bWARPGROUP\\.ARRIVE\\b") == expected.batches);
        CHECK(count(text, "\\bUTMALDG\\b") > 0);
        CHECK(count(text, "\\bUTMASTG\\b") > 0);
        CHECK(count(text, "\\bUSETMAXREG\\b") == expected.setmaxnregs);
        CHECK(count(text, "\\b(LDL|STL)\\b") == 0);
    }
}
