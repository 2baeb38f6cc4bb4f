/// A kernel's computed traffic with global memory, against the emulator's counts of a launch.

#include "generator/global_traffic.hpp"

#include "generator/heuristics.hpp"
#include "runtime/cli/ladder/rungs.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/specs.hpp"

#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

constexpr double kSectorBytes = 32;

/// Sectors of a launch on operands that begin at multiples of 256 bytes.
double counted_bytes(const GemmKernel& kernel, float beta) {
    ContextState& context = state_of(on_emulator());
    EmulatorDevice& device = *as_emulator(*context.device);
    const GuardedProblem problem(context, kernel.spec(), InputKind::integers, 1, 1.0F, beta, Placement::generous);
    EmulatorMode mode;
    mode.count = true;
    device.set_mode(mode);
    static_cast<void>(device.take_counters());
    kernel.launch(problem.arguments());
    device.set_mode({});
    CHECK(problem.check().ok);
    return kSectorBytes * static_cast<double>(device.take_counters().total.sectors);
}

/// Computed over counted.
double ratio(const GemmSpec& asked, const Selection& selection) {
    const GemmSpec spec = resolved(asked);
    ContextState& context = state_of(on_emulator());
    const KernelConfig config = choose_config(problem_of(spec), context.device->model(), selection);
    const GemmKernel kernel = context.build(problem_of(spec), config);
    UNSCOPED_INFO(kernel.info().name);
    return global_traffic(problem_of(spec), config).total() / counted_bytes(kernel, spec.c ? 1.0F : 0.0F);
}

Selection selection(const std::string& family, const std::string& parameters) {
    Selection selection;
    selection.family = family;
    selection.parameters = parse_parameters(parameters);
    return selection;
}

}  // namespace

TEST_CASE("global traffic: of every rung what the emulator counts, where tiles and sectors come out even") {
    for (const DataType type : {DataType::f32, DataType::f16}) {
        for (const GemmLayout layout : {GemmLayout::tt, GemmLayout::tn, GemmLayout::nt}) {
            const GemmSpec spec = spec_of(layout, 256, 256, 64, type);
            for (const Rung& rung : ladder_rungs(type)) {
                if (rung.kind == RungKind::cpu || rung.family == "wgmma_warp_specialized")
                    continue;  // sm_80 has no wgmma
                INFO(to_string(type) << " " << to_string(layout) << " " << rung.name);
                // Copies into padded rows count up to an eighth more sectors, because of some lanes
                // (docs/emulator-counters.md).
                const bool padded_copies = rung.parameters.find("async=true") != std::string_view::npos;
                CHECK(ratio(spec, selection_of(rung)) == Approx(1.0).epsilon(padded_copies ? 0.06 : 1e-9));
            }
        }
    }
}

TEST_CASE("global traffic: C, split K, packed operands") {
    GemmSpec with_c = spec_of(GemmLayout::tt, 128, 128, 64, DataType::f16);
    with_c.c = DataType::f16;
    CHECK(ratio(with_c, selection("simt_naive", "block=32x32")) == Approx(1.0));
    CHECK(ratio(with_c, selection("wmma_multistage", "block=64x64x32,warp=32x32,async=0")) == Approx(1.0));
    const GemmSpec long_k = spec_of(GemmLayout::tn, 128, 128, 512, DataType::f16);
    CHECK(ratio(long_k, selection("mma_multistage", "block=64x64x32,warp=32x32,split_k=2")) ==
          Approx(1.0).epsilon(0.12));
    GemmSpec unaligned = spec_of(GemmLayout::tn, 128, 128, 128, DataType::f16);
    unaligned.lda = 136;
    unaligned.align_a = 8;
    CHECK(ratio(unaligned, selection("mma_multistage", "block=64x64x32,warp=32x32,split_k=1,pack=a")) ==
          Approx(1.0).epsilon(0.2));
}

TEST_CASE("global traffic: of odd sizes, within the sectors that rows share at their ends") {
    const GemmSpec odd = spec_of(GemmLayout::tt, 100, 75, 90, DataType::f32);
    for (const Rung& rung : ladder_rungs(DataType::f32)) {
        if (rung.kind == RungKind::cpu) continue;
        INFO(rung.name);
        CHECK(ratio(odd, selection_of(rung)) == Approx(1.0).epsilon(0.35));
    }
}
