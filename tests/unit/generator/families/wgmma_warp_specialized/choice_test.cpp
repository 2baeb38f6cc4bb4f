/// When wgmma_warp_specialized is chosen, and with which parameters.

#include "generator/families/kernel_name.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"
#include "tests/support/wgmma_configs.hpp"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <random>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

namespace {

using Config = WgmmaWarpSpecializedConfig;

}  // namespace

TEST_CASE("wgmma: A from registers is for those who ask for it: no timing of such kernels is in their cost") {
    const auto from_registers = [](const ParameterMap& parameters) {
        const CandidateList list =
            list_candidates(problem_of(spec_of(GemmLayout::tn, 16, 6144, 4096)), find_gpu("h200"),
                            {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = parameters});
        return std::ranges::count_if(list.accepted, [](const Candidate& one) {
            return one.config.as<Config>().a_source == OperandSource::registers &&
                   family_of(one.config).is_untimed(one.config);
        });
    };
    CHECK(from_registers({}) == 0);
    CHECK(from_registers({{"a_source", "rmem"}}) > 100);
    const KernelConfig asked = choose_config(problem_of(square(4096)), find_gpu("h200"),
                                             {.kernel = {}, .family = {}, .parameters = {{"a_source", "rmem"}}});
    CHECK(asked.as<Config>().a_source == OperandSource::registers);
}

TEST_CASE(
    "wgmma: a kernel that isn't persistent has that in its name, is chosen when asked for, and predicted no faster") {
    const GpuModel& gpu = find_gpu("h200");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 4096, 4096, 4096));
    const auto chosen = [&](const ParameterMap& parameters) {
        return choose_config(problem_of(spec), gpu,
                             {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = parameters});
    };
    const KernelConfig one_tile = chosen({{"persistent", "0"}});
    const std::string name = kernel_name(problem_of(spec), one_tile);
    CHECK_THAT(name, ContainsSubstring("_persistent0"));
    CHECK(parse_kernel_name(name).config == one_tile);
    Config persistent = one_tile.as<Config>();
    persistent.persistent = true;
    CHECK(WgmmaWarpSpecialized::cost(problem_of(spec), persistent, gpu, WgmmaCosts::of(gpu)).total_us <
          WgmmaWarpSpecialized::cost(problem_of(spec), one_tile.as<Config>(), gpu, WgmmaCosts::of(gpu)).total_us);
    CHECK(chosen({}).as<Config>().persistent);
}

TEST_CASE("wgmma: a kernel without a producer has that in its name, and is chosen when asked for alone") {
    const GpuModel& gpu = find_gpu("h200");
    const GemmSpec spec = resolved(spec_of(GemmLayout::tn, 4096, 4096, 4096));
    const auto chosen = [&](const ParameterMap& parameters) {
        return choose_config(problem_of(spec), gpu,
                             {.kernel = {}, .family = "wgmma_warp_specialized", .parameters = parameters});
    };
    const KernelConfig filling = chosen({{"persistent", "0"}, {"warp_specialized", "0"}});
    const std::string name = kernel_name(problem_of(spec), filling);
    CHECK_THAT(name, ContainsSubstring("_persistent0_warpspecialized0"));
    CHECK(parse_kernel_name(name).config == filling);
    Config specialized = filling.as<Config>();
    specialized.warp_specialized = true;
    CHECK(WgmmaWarpSpecialized::cost(problem_of(spec), specialized, gpu, WgmmaCosts::of(gpu)).total_us <=
          WgmmaWarpSpecialized::cost(problem_of(spec), filling.as<Config>(), gpu, WgmmaCosts::of(gpu)).total_us);
    CHECK(chosen({}).as<Config>().warp_specialized);
    CHECK(chosen({{"persistent", "0"}}).as<Config>().warp_specialized);
}

TEST_CASE("wgmma: forced parameters that can't be are refused by the choice, not divided by") {
    for (const char* parameters : {"stream_k=1,cluster=2x1", "cluster=0x1,stream_k=4", "cluster=0x0",
                                   "cluster=0x0,stream_k=7", "block=0x64x64,stream_k=4", "block=64x0x64,stream_k=4",
                                   "block=64x64x0,stream_k=4", "warpgroup=0x0,stream_k=4,swap_ab=1",
                                   "stages=0,stream_k=5", "slices=0,swap_ab=1", "stream_k=9999,cluster=9999x9999"}) {
        INFO(parameters);
        const Selection selection{
            .kernel = {}, .family = "wgmma_warp_specialized", .parameters = parse_parameters(parameters)};
        CHECK_THROWS_AS(choose_config(problem_of(square(512)), find_gpu("h200"), selection), ConfigError);
        CHECK(list_candidates(problem_of(square(512)), find_gpu("h200"), selection).accepted.empty());
    }
}

TEST_CASE("wgmma: bench/random_aligned.txt holds the 200 problems of seed 15") {
    std::mt19937_64 bits(15);
    const auto extent = [&] {
        constexpr double kSpan = 64;  // from 256 to 16384
        return 8 * std::llround(256 * std::pow(kSpan, static_cast<double>(bits() >> 11) * 0x1p-53) / 8);
    };
    std::vector<std::string> drawn;
    for (std::size_t i = 0; i < 200; ++i) {
        const auto m = extent();
        const auto n = extent();
        const auto k = extent();
        drawn.push_back(fmt::format("bf16 {} {} {} {}", to_string(kLayouts[i % kLayouts.size()]), m, n, k));
    }
    std::ifstream file(std::string(JITGEMM_SOURCE_DIR) + "/bench/random_aligned.txt");
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);)
        if (!line.empty() && line[0] != '#') lines.push_back(line);
    CHECK(lines == drawn);
}

TEST_CASE("wgmma: an H200 gets it for large problems, aligned or not, other GPUs don't") {
    CHECK(family_name(choose_config(problem_of(square(4096)), find_gpu("h200"))) == "wgmma_warp_specialized");
    CHECK(family_name(choose_config(problem_of(square(4096)), find_gpu("a100"))) == "mma_multistage");
    CHECK(family_name(choose_config(problem_of(square(4097)), find_gpu("h200"))) == "wgmma_warp_specialized");
}
