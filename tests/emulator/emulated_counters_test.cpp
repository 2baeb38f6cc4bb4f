/// The counters of generated kernels agree with counts by hand, and the emulator is fast enough.

#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"

#include <algorithm>
#include <ctime>
#include <iostream>
#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using emulator::InstructionKind;

GemmKernel kernel_of(const GemmSpec& spec, const std::string& parameters) {
    return state_of(on_emulator())
        .build(problem_of(spec), with_parameters({MmaMultistageConfig{}}, parse_parameters(parameters)));
}

/// Of one launch on one core, with all checks or none.
void print_speed(const GemmKernel& kernel, bool checked) {
    EmulatorDevice& device = *as_emulator(*state_of(on_emulator()).device);
    GuardedProblem problem(state_of(on_emulator()), kernel.spec(), InputKind::integers, 1, 1.0F, 0.0F);
    EmulatorMode mode;
    mode.threads = 1;
    mode.count = true;
    if (!checked) mode.checks = {false, false, false, false, false, false};
    device.set_mode(mode);
    const std::clock_t begin = std::clock();
    kernel.launch(problem.arguments());
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    device.set_mode({});
    const emulator::Tally total = device.take_counters().total;
    CHECK(problem.check().ok);
    std::cout << (checked ? "checks on: " : "checks off: ") << static_cast<double>(total.lanes) / seconds / 1e6
              << " M lane-instructions/s and " << static_cast<double>(total.operations) / seconds / 1e9
              << " GFLOP/s of one core\n";
}

}  // namespace

TEST_CASE("emulated device: counters agree with the problem and the layout") {
    const GemmKernel kernel = kernel_of(spec_of(GemmLayout::tn, 128, 128, 64), "block=64x64x32,warp=32x32,stages=3");
    const EmulatedVerification verified = verify_emulated(state_of(on_emulator()), kernel);
    REQUIRE(verified.verification.ok);
    const emulator::Counters& counters = verified.counters;
    CHECK(counters.of(InstructionKind::tensor).operations == 2 * 128 * 128 * 64);
    CHECK(counters.of(InstructionKind::tensor).warps == 128 * 128 * 64 / (16 * 8 * 16));
    // Four blocks read 64 rows of A and of B each, all of K, once.
    const emulator::Tally& copies = counters.of(InstructionKind::async_copy);
    CHECK(copies.global_read_bytes == 4 * (64 + 64) * 64 * 2);
    // A and B begin 16 bytes into a sector, so that each of the 4 copies of a row of a k-tile fetches a sector.
    CHECK(copies.l2_sectors == 4 * (64 + 64) * 2 * 4);
    CHECK(counters.of(InstructionKind::matrix_load).wavefronts ==
          counters.of(InstructionKind::matrix_load).ideal_wavefronts);
    CHECK(copies.wavefronts == copies.ideal_wavefronts);
    CHECK(counters.of(InstructionKind::global_store).global_written_bytes == 128 * 128 * 2);
    const auto has_line = [](const emulator::LineTally& line) { return line.source_line > 0; };
    CHECK(std::ranges::any_of(counters.by_source_line(), has_line));
}

TEST_CASE("emulated device: speed", "[.benchmark]") {
    const GemmKernel kernel = kernel_of(spec_of(GemmLayout::tn, 512, 512, 512), "block=128x128x32,warp=64x64,stages=4");
    for (const bool checked : {true, false}) print_speed(kernel, checked);
}
