/// wgmma_warp_specialized on a GPU: every variant over residues, layouts and types, exact and on normal inputs.

#include "runtime/context/context_state.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/wgmma_checks.hpp"

#include <random>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

bool has_wgmma() { return state_of(context()).device->model().arch->has_wgmma; }

#define REQUIRE_WGMMA() \
    REQUIRE_GPU();      \
    if (!has_wgmma()) SKIP_TEST("this GPU has no wgmma")

/// Of each dimension of a problem: one, a vector, either side of a wgmma, a tile and two of them, many tiles.
constexpr std::array<std::int64_t, 10> kResidues{1, 8, 63, 64, 65, 127, 129, 255, 257, 1000};

}  // namespace

TEST_CASE("wgmma: every variant over residues of each dimension, layouts and types") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts)
        check_wgmma_variants(context(), layout,
                             {{1, 8, 63}, {257, 1000, 129}, {65, 255, 1000}, {1000, 64, 8}, {127, 129, 1}});
}

TEST_CASE("wgmma: every variant over rows of any pitch") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts)
        check_wgmma_variants(context(), layout, {{1, 9, 63}, {257, 1001, 131}, {1003, 67, 11}, {2051, 1101, 523}},
                             Pitches::as_they_are);
}

TEST_CASE("wgmma: residues in every combination") {
    REQUIRE_WGMMA();
    std::size_t i = 0;
    for (const std::int64_t m : kResidues)
        for (const std::int64_t n : kResidues)
            for (const std::int64_t k : kResidues) {
                const GemmLayout layout = kLayouts.at(i % kLayouts.size());
                check_wgmma(context(), with_tma_pitches(spec_of(layout, m, n, k)),
                            kWgmmaVariants.at(i / 4 % kWgmmaVariants.size()));
                ++i;
            }
}

TEST_CASE("wgmma: more tiles than the GPU has SMs, long K") {
    REQUIRE_WGMMA();
    for (const GemmLayout layout : kLayouts)
        for (const std::string_view variant : kWgmmaVariants)
            check_wgmma(context(), with_tma_pitches(spec_of(layout, 3000, 2500, 2100)), variant);
}

TEST_CASE("wgmma: launches back to back on two streams and replays of a graph leave the same bits", "[threads]") {
    REQUIRE_WGMMA();
    const DriverApi& api = driver();
    Device& device = *state_of(context()).device;
    const ScopedContext current(cuda_context(device));
    GemmSpec constant = spec_of(GemmLayout::nt, 520, 776, 1032);  // for those that fetch early
    constant.constant_a = constant.constant_b = true;
    const GemmSpec aligned = resolved(constant);
    const GemmSpec packed = resolved(spec_of(GemmLayout::tn, 521, 777, 1033));
    int tried = 0;
    for (const std::string_view variant : kWgmmaVariants) {
        INFO(variant);
        KernelConfig config = with_parameters({WgmmaWarpSpecializedConfig{}}, parse_parameters(std::string(variant)));
        const bool packs = ++tried % 3 == 0 && !config.as<WgmmaWarpSpecializedConfig>().swap_ab;
        if (packs) config = with_parameters(config, {{"store", "smem"}, {"early", "none"}});
        const GemmSpec& spec = packs ? packed : aligned;
        const std::size_t d_bytes = static_cast<std::size_t>(spec.m * spec.n * 2);
        const GemmKernel kernel = check_kernel(context(), spec, config);
        const Problem problem(state_of(context()), spec, InputKind::normal, 7, 1.0F, 0.0F, Placement::generous);
        const CudaStream first, second;
        DeviceBuffer other = context().allocate(d_bytes);
        GemmArguments beside = problem.arguments();
        beside.d = other.data();
        for (int i = 0; i < 50; ++i) {
            kernel.launch(problem.arguments(), first.handle());
            kernel.launch(beside, second.handle());
        }
        first.synchronize();
        second.synchronize();
        std::vector<std::uint16_t> once(d_bytes / 2), again(d_bytes / 2);
        device.copy_to_host(once.data(), problem.arguments().d, d_bytes);
        device.copy_to_host(again.data(), other.data(), d_bytes);
        CHECK(once == again);
        CHECK(problem.check().ok);

        JITGEMM_CHECK(api.cuStreamBeginCapture(first.handle(), CU_STREAM_CAPTURE_MODE_GLOBAL));
        for (int i = 0; i < 3; ++i) kernel.launch(beside, first.handle());
        CUgraph graph = nullptr;
        JITGEMM_CHECK(api.cuStreamEndCapture(first.handle(), &graph));
        CUgraphExec executable = nullptr;
        JITGEMM_CHECK(api.cuGraphInstantiateWithFlags(&executable, graph, 0));
        device.fill_bytes(other.data(), 0xff, d_bytes);
        for (int i = 0; i < 30; ++i) JITGEMM_CHECK(api.cuGraphLaunch(executable, first.handle()));
        first.synchronize();
        JITGEMM_CHECK(api.cuGraphExecDestroy(executable));
        JITGEMM_CHECK(api.cuGraphDestroy(graph));
        device.copy_to_host(again.data(), other.data(), d_bytes);
        CHECK(once == again);
    }
}

TEST_CASE("wgmma: beta of 0 reads no C, alpha of 0 and K of 0 read no operands") {
    REQUIRE_WGMMA();
    for (const std::string_view variant : kWgmmaVariants)
        check_unread_operands(spec_of(GemmLayout::nt, 104, 72, 64),
                              [&](const GemmSpec& spec, const VerifyOptions& options) {
                                  check_wgmma(context(), spec, variant, options);
                              });
}
