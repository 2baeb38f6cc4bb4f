/// The emulator as a Device: what a kernel that does wrong is told, what is refused, what stops it.

#include "runtime/emulator_device/emulator_device.hpp"

#include "generator/generate.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/counting_compiler.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/temporary_folder.hpp"

#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

constexpr const char* kSmall = "block=64x64x32,warp=32x32,stages=3";

KernelConfig config_of(const std::string& parameters) {
    return with_parameters({MmaMultistageConfig{}}, parse_parameters(parameters));
}

/// The dump of a kernel with one text replaced by another, everywhere.
GemmKernel edited(const GemmSpec& spec, const std::string& parameters, const std::string& from, const std::string& to) {
    const GemmSpec asked = resolved(spec);
    const KernelSource source = generate(problem_of(asked), config_of(parameters), find_arch("sm_80"));
    ParsedDump dump{asked, {problem_of(asked).signature, config_of(parameters)}, source.arch, source.body};
    std::size_t found = dump.body.find(from);
    REQUIRE(found != std::string::npos);
    for (; found != std::string::npos; found = dump.body.find(from, found + to.size()))
        dump.body.replace(found, from.size(), to);
    return state_of(on_emulator()).build(dump);
}

EmulatedVerification verdict_of(const GemmKernel& kernel) { return verify_emulated(state_of(on_emulator()), kernel); }

}  // namespace

TEST_CASE("emulated device: a swizzle that is a bijection but no longer spreads over the banks fails") {
    const GemmSpec spec = spec_of(GemmLayout::tn, 64, 64, 64);
    const auto right = verdict_of(edited(spec, kSmall, "kSpan;", "kSpan;"));
    CHECK(right.verification.ok);
    const auto shifted =
        verdict_of(edited(spec, kSmall, "row / kRowsPerPhase % kSpan", "row / kRowsPerPhase % (kSpan / 2)"));
    CHECK_FALSE(shifted.verification.ok);
    CHECK_FALSE(shifted.fault.has_value());
    CHECK_THAT(shifted.verification.message, ContainsSubstring("wavefronts"));
}

TEST_CASE("emulated device: a missing barrier is told with its source line") {
    const GemmSpec spec = spec_of(GemmLayout::tn, 64, 64, 128);
    const auto verdict = verdict_of(edited(spec, kSmall, "__syncthreads();", ""));
    CHECK_FALSE(verdict.verification.ok);
    CHECK(verdict.fault.has_value());
    CHECK_THAT(verdict.verification.message, ContainsSubstring("kernel.cu:"));
}

TEST_CASE("emulated device: a read beyond A names the guard band or the buffer") {
    const GemmSpec spec = spec_of(GemmLayout::tn, 60, 64, 64);
    const auto verdict =
        verdict_of(edited(spec, kSmall, "extent_left = extent - first - row", "extent_left = 1 << 20"));
    CHECK_FALSE(verdict.verification.ok);
    CHECK_THAT(verdict.verification.message, ContainsSubstring(" A"));
}

TEST_CASE("emulated device: a kernel that never ends meets the limit of work") {
    Options options = Options::from_environment();
    options.device = "emulator";
    options.cache_directory.clear();
    options.emulator_gflop = 1e-3;
    EmulatorDevice device(find_arch("sm_80"), options.emulator_gflop);
    const std::string ptx =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry spin(.param .u32 p)\n"
        "{\n.reg .b32 %r<2>;\nmov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;\n}\n";
    const Function function =
        device.load(ptx, {.function = "spin", .threads = 32, .shared_bytes = 0, .grid = {}, .arguments = {}});
    bool stop = false;
    device.set_stop_request([&stop] { return stop; });
    SECTION("Ctrl-C ends it") {
        stop = true;
        CHECK_THROWS_AS(device.launch(function, {.blocks = 1, .threads = 32}, std::array<std::byte, 4>{}, nullptr),
                        emulator::EmulatorStopped);
    }
    SECTION("and so does the limit") {
        CHECK_THROWS_AS(device.launch(function, {.blocks = 1, .threads = 32}, std::array<std::byte, 4>{}, nullptr),
                        emulator::EmulatorFault);
    }
}

TEST_CASE("emulated device: the cache keeps PTX, apart from the cubin, and a hit compiles nothing") {
    const TemporaryFolder folder;
    Options options = Options::from_environment();
    options.device = "emulator";
    options.cache_directory = folder / "cache";
    const GemmSpec spec = spec_of(GemmLayout::tn, 40, 40, 40);
    {
        Context context(options);
        const GemmKernel kernel = context.kernel(spec);
        CHECK(kernel.info().cache == CacheSource::compiled);
        CHECK(std::filesystem::exists(state_of(kernel).kernel->cache_directory + "/kernel.ptx"));
    }
    options.nvrtc_library = folder / "no-such-libnvrtc.so";
    Context context(options);
    const GemmKernel kernel = context.kernel(spec);
    CHECK(kernel.info().cache == CacheSource::disk);
    CHECK(verify(state_of(context), kernel).ok);
}
