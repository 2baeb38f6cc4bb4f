// Generated kernels as NVRTC compiles them, on the emulator: exact over layouts, alignments, types, epilogues and pipelines, in
// both modes of asynchronous copies, with every check on and blocks and warps in a shuffled order.

#include "generator/heuristics.hpp"
#include "tests/catch.hpp"
#include "tests/support/emulated_gemm.hpp"

#include <array>
#include <iostream>

namespace {

using namespace jitgemm;
using emulator::AsyncMode;
using emulator::InstructionKind;
using testing::emulated_kernel;
using testing::EmulatedKernel;
using testing::EmulatedResult;
using testing::EmulatedRun;

constexpr std::array kLayouts{GemmLayout::tn, GemmLayout::nn, GemmLayout::nt, GemmLayout::tt};

GemmSpec spec_of(GemmLayout layout, std::int64_t m, std::int64_t n, std::int64_t k) {
    GemmSpec spec;
    spec.m = m;
    spec.n = n;
    spec.k = k;
    spec.layout = layout;
    return spec;
}

KernelConfig config_of(const std::string& parameters) {
    return with_parameters({MmaMultistageConfig{}}, parse_parameters(parameters));
}

void check(const EmulatedKernel& kernel, EmulatedRun run = {}) {
    for (const AsyncMode mode : {AsyncMode::eager, AsyncMode::late}) {
        run.async_mode = mode;
        run.order_seed = mode == AsyncMode::late ? 11 : 0;
        INFO(to_string(kernel.spec) << "\n" << kernel.source.name << (mode == AsyncMode::late ? ", late" : ", eager"));
        EmulatedResult result;
        REQUIRE_NOTHROW(result = run_emulated(kernel, run));
        CHECK(result.first_difference.empty());
        if (!result.first_difference.empty()) std::cout << result.first_difference << '\n';
    }
}

void check_with(const GemmSpec& spec, const std::string& parameters, const EmulatedRun& run = {}) {
    check(emulated_kernel(spec, config_of(parameters)), run);
}

void check_chosen(const GemmSpec& spec, const EmulatedRun& run = {}) {
    check(emulated_kernel(spec, choose_config(spec, find_gpu("a100"))), run);
}

constexpr std::array kVariants{"block=64x64x32,warp=32x32,stages=3",
                               "block=64x64x32,warp=32x32,stages=2,double_buffer=0,shared=padding",
                               "block=64x32x64,warp=32x16,stages=4,rasterization=zigzag,group=2,epilogue=reg",
                               "block=32x128x32,warp=32x32,stages=5,mma=16x8x8,rasterization=column",
                               "block=128x64x32,warp=64x32,stages=3,ldsm_a=2,ldsm_b=1,rasterization=grouped_n,group=3",
                               "block=64x64x32,warp=32x32,stages=3,split_k=3,rasterization=row"};

}  // namespace

TEST_CASE("emulated GEMM: every variant and layout with residues in M, N and K") {
    for (std::size_t i = 0; i < kVariants.size(); ++i) {
        check_with(spec_of(kLayouts.at(i % 4), 97, 131, 75), kVariants.at(i));
        check_with(spec_of(kLayouts.at((i + 1) % 4), 72, 136, 72), kVariants.at(i));
    }
}

TEST_CASE("emulated GEMM: alignments of 2, 4, 8 and 16 bytes, the copies of each") {
    for (const GemmLayout layout : kLayouts) {
        check_chosen(spec_of(layout, 35, 45, 39));   // 2 bytes
        check_chosen(spec_of(layout, 34, 46, 38));   // 4
        check_chosen(spec_of(layout, 36, 44, 52));   // 8
        check_chosen(spec_of(layout, 40, 48, 104));  // 16
    }
}

TEST_CASE("emulated GEMM: packed operands") {
    for (const GemmLayout layout : kLayouts) {
        check_with(spec_of(layout, 67, 45, 75), "block=64x64x32,warp=32x32,stages=3,pack=ab");
    }
    check_with(spec_of(GemmLayout::tn, 67, 45, 75), "block=64x64x32,warp=32x32,stages=3,pack=b,split_k=2");
}

TEST_CASE("emulated GEMM: types, accumulators, C, alpha and beta, column-major D") {
    const EmulatedRun scaled{.alpha = -0.5F, .beta = 2.0F};
    GemmSpec half = spec_of(GemmLayout::nn, 56, 72, 40);
    half.a = half.b = half.d = DataType::f16;
    check_chosen(half);
    half.accumulator = DataType::f16;
    check_chosen(half);
    half.d = DataType::f32;
    check_chosen(half);
    for (const DataType c : {DataType::f16, DataType::f32}) {
        for (const Order order : {Order::row, Order::column}) {
            GemmSpec spec = spec_of(GemmLayout::tt, 49, 56, 64);
            spec.c = c;
            spec.d = c == DataType::f32 ? DataType::bf16 : DataType::f32;
            spec.d_order = order;
            check_chosen(spec, scaled);
        }
    }
    GemmSpec split = spec_of(GemmLayout::tn, 65, 67, 512);
    split.c = DataType::f32;
    check_with(split, "block=64x64x32,warp=32x32,split_k=4", scaled);
}

TEST_CASE("emulated GEMM: counters agree with the problem and the layout") {
    const EmulatedKernel kernel =
        emulated_kernel(spec_of(GemmLayout::tn, 128, 128, 64), config_of("block=64x64x32,warp=32x32,stages=3"));
    const emulator::Counters counters = run_emulated(kernel).counters;
    CHECK(counters.of(InstructionKind::tensor).operations == 2 * 128 * 128 * 64);
    CHECK(counters.of(InstructionKind::tensor).warps == 128 * 128 * 64 / (16 * 8 * 16));
    // Four blocks read 64 rows of A and of B each, all of K, once.
    CHECK(counters.of(InstructionKind::async_copy).global_read_bytes == 4 * (64 + 64) * 64 * 2);
    // A and B begin 16 bytes into a sector, so that the 64 bytes of a row of a k-block touch 3.
    CHECK(counters.of(InstructionKind::async_copy).sectors == 4 * (64 + 64) * 2 * 3);
    CHECK(counters.of(InstructionKind::matrix_load).wavefronts ==
          counters.of(InstructionKind::matrix_load).ideal_wavefronts);
    CHECK(counters.of(InstructionKind::async_copy).wavefronts ==
          counters.of(InstructionKind::async_copy).ideal_wavefronts);
    CHECK(counters.of(InstructionKind::global_store).global_written_bytes == 128 * 128 * 2);
    bool has_source_lines = false;
    for (const emulator::LineTally& line : counters.by_source_line()) has_source_lines |= line.source_line > 0;
    CHECK(has_source_lines);
}

namespace {

/// The PTX with the n-th occurrence of `what` replaced.
std::string replaced(std::string ptx, const std::string& what, const std::string& with, int occurrence) {
    std::size_t at = ptx.find(what);
    for (int i = 0; i < occurrence && at != std::string::npos; ++i) at = ptx.find(what, at + 1);
    REQUIRE(at != std::string::npos);
    return ptx.replace(at, what.size(), with);
}

/// Whether either mode faults or gives a wrong result.
bool caught(const EmulatedKernel& kernel, const std::string& ptx) {
    const EmulatedKernel mutant = with_ptx(kernel, ptx);
    for (const AsyncMode mode : {AsyncMode::eager, AsyncMode::late}) {
        try {
            if (!run_emulated(mutant, {.async_mode = mode}).first_difference.empty()) return true;
        } catch (const emulator::EmulatorFault&) {
            return true;
        }
    }
    return false;
}

}  // namespace

TEST_CASE("emulated GEMM: kernels that lack a barrier, a wait or a transposition are caught") {
    const EmulatedKernel kernel =
        emulated_kernel(spec_of(GemmLayout::nn, 64, 64, 256), config_of("block=64x64x32,warp=32x32,stages=3"));
    CHECK_FALSE(caught(kernel, kernel.ptx));
    CHECK(caught(kernel, replaced(kernel.ptx, "bar.sync \t0;", "", 0)));
    CHECK(caught(kernel, replaced(kernel.ptx, "bar.sync \t0;", "", 1)));
    CHECK(caught(kernel, replaced(kernel.ptx, "cp.async.wait_group 1;", "", 0)));
    CHECK(caught(kernel, replaced(kernel.ptx, "cp.async.wait_group 1;", "cp.async.wait_group 2;", 1)));
    CHECK(caught(kernel, replaced(kernel.ptx, "cp.async.commit_group;", "", 1)));
    CHECK(caught(kernel, replaced(kernel.ptx, ".x4.trans.", ".x4.", 0)));
    CHECK(caught(kernel, replaced(kernel.ptx, "xor.b32", "or.b32", 1)));
}

TEST_CASE("emulated GEMM: speed", "[.benchmark]") {
    const EmulatedKernel kernel =
        emulated_kernel(spec_of(GemmLayout::tn, 512, 512, 512), config_of("block=128x128x32,warp=64x64,stages=4"));
    for (const bool checked : {true, false}) {
        EmulatedRun run{.threads = 1};
        if (!checked) run.checks = {false, false, false, false, false, false};
        const EmulatedResult result = run_emulated(kernel, run);
        const double seconds = result.cpu_seconds;
        std::cout << (checked ? "checks on: " : "checks off: ")
                  << static_cast<double>(result.counters.total.lanes) / seconds / 1e6 << " M lane-instructions/s and "
                  << static_cast<double>(result.counters.total.operations) / seconds / 1e9 << " GFLOP/s of one core\n";
    }
}
