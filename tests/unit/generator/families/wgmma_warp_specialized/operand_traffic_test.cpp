#include "generator/families/wgmma_warp_specialized/operand_traffic.hpp"

#include "generator/families/kernel_name.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/stream_k.hpp"
#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/specs.hpp"

#include <string>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

using Config = WgmmaWarpSpecializedConfig;

const GpuModel& kH100 = find_gpu("h100");

GemmSpec problem(const Sizes& sizes) { return resolved(spec_of(GemmLayout::tn, sizes[0], sizes[1], sizes[2])); }

Config config_of(const std::string& parameters) {
    return parse_kernel_name("wgmma_bf16_tn_" + parameters).config.as<Config>();
}

double refetched(const GemmSpec& spec, const Config& config, const GpuModel& gpu = kH100) {
    return refetched_bytes(spec, config, tile_deal(spec, config, gpu), gpu, WgmmaCosts::of(gpu));
}

/// Bytes that DRAM delivered, as ncu counts them (dram__bytes_read.sum, docs/lab/wgmma.md).
struct Fact {
    Sizes sizes;
    const char* config;
    double read_gb;
};
constexpr Fact kFacts[] = {
    {{16384, 16384, 16384}, "128x176x64_2x1_pingpong_stages5", 26.11},
    {{16384, 16384, 16384}, "128x256x64_2x1_stages4", 20.66},
    {{2048, 8192, 28672}, "128x176x64_2x1_pingpong_stages5", 1.77},
    {{2048, 8192, 28672}, "128x256x64_2x1_stages4", 0.99},
};

}  // namespace

TEST_CASE("what DRAM delivers of operands whose panels L2 doesn't hold is within a quarter of what it did") {
    for (const Fact& fact : kFacts) {
        const GemmSpec spec = problem(fact.sizes);
        const double once = static_cast<double>((spec.m + spec.n) * spec.k) * 2;
        CAPTURE(fact.config, spec.k);
        const double predicted = (once + refetched(spec, config_of(fact.config))) / 1e9;
        CHECK(predicted > 0.75 * fact.read_gb);
        CHECK(predicted < 1.25 * fact.read_gb);
    }
}

TEST_CASE("nothing is fetched again where L2 holds the panels, and less the more it holds") {
    const Config whole = config_of("128x256x64_2x1_stages4");
    const Config streamed = config_of("128x256x64_2x1_stages4_streamk132");
    CHECK(refetched(problem({8192, 8192, 1024}), whole) == 0);
    CHECK(refetched(problem({8192, 8192, 1024}), streamed) == 0);
    const GemmSpec deep = problem({8192, 8192, 16384});
    GpuModel larger = kH100;
    larger.l2_bytes *= 2;
    CHECK(refetched(deep, whole, larger) < refetched(deep, whole));
    CHECK(refetched(deep, streamed, larger) < refetched(deep, streamed));
    CHECK(refetched(deep, whole, larger) > 0);
}

TEST_CASE("stream-K is predicted slower where pieces find nothing in L2: 2048x8192x28672 took 1.3 times as long") {
    const auto predicted = [](const Sizes& sizes, const std::string& config) {
        return WgmmaWarpSpecialized::cost(problem_of(problem(sizes)), config_of(config), kH100, WgmmaCosts::of(kH100))
            .total_us;
    };
    const Sizes deep{2048, 8192, 28672};
    CHECK(predicted(deep, "128x176x64_2x1_pingpong_stages5_streamk132") >
          1.05 * predicted(deep, "128x256x64_2x1_stages4"));
    // A k-tile costs the same, deep or not, where a wave's panels stay in L2.
    const Sizes shallow{2048, 8192, 2048};
    CHECK(predicted(shallow, "128x176x64_2x1_pingpong_stages5_streamk132") <
          1.02 * predicted(shallow, "128x176x64_2x1_pingpong_stages5"));
}

TEST_CASE("large problems of a long K go to tiles that fetch less per product") {
    for (const char* gpu : {"h100", "h200"})
        for (const Sizes& sizes : {Sizes{16384, 16384, 16384}, Sizes{8192, 8192, 28672}, Sizes{2048, 8192, 28672}}) {
            const Config config = choose_config(problem_of(problem(sizes)), find_gpu(gpu)).as<Config>();
            CAPTURE(gpu, sizes[2], config.block.m, config.block.n);
            CHECK(config.block.m * config.block.n > 128 * 176);
            CHECK(config.stream_k == 0);
        }
}
