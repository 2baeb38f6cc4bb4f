#include "tests/support/ptx_run.hpp"

#include <array>
#include <cstring>
#include <span>

namespace jitgemm::testing {
namespace {

constexpr std::size_t kWordsPerThread = 8;

constexpr const char* kHeader = R"(.version 8.6
.target TARGET
.address_size 64
.extern .shared .align 16 .b8 dynamic[];
)";

constexpr const char* kPrologue = R"(
.visible .entry kernel(.param .u64 kernel_in, .param .u64 kernel_out)
{
    .reg .pred %p<16>;
    .reg .b16 %rs<32>;
    .reg .b32 %r<64>;
    .reg .f32 %f<32>;
    .reg .b64 %rd<32>;
    .reg .f64 %fd<16>;
    .reg .b32 %thread, %number;
    .reg .b64 %in, %out, %own_in, %own_out;
    .shared .align 128 .b8 tile[4096];
    ld.param.u64 %in, [kernel_in];
    ld.param.u64 %out, [kernel_out];
    mov.u32 %thread, %tid.x;
    mov.u32 %number, %ctaid.x;
    mov.u32 %r0, %ntid.x;
    mad.lo.s32 %number, %number, %r0, %thread;
    mad.wide.u32 %own_in, %number, 32, %in;
    mad.wide.u32 %own_out, %number, 32, %out;
)";

}  // namespace

std::string ptx_text(const PtxRun& run) {
    std::string header = kHeader;
    header.replace(header.find("TARGET"), 6, run.target);
    return header + run.functions + kPrologue + run.body + "\n    ret;\n}\n";
}

PtxResult run_entry(const emulator::Program& program, const emulator::LaunchConfig& config,
                    std::span<const std::uint32_t> input, std::size_t output_words, const emulator::StopRequest& stop) {
    PtxResult result{std::vector<std::uint32_t>(output_words, 0xEEEEEEEE), {}};
    emulator::GlobalMemory memory;
    const std::array<emulator::DeviceAddress, 2> parameters{memory.allocate(input.size_bytes(), "in"),
                                                            memory.allocate(output_words * 4, "out")};
    memory.copy_in(parameters[0], std::as_bytes(input));
    memory.copy_in(parameters[1], std::as_bytes(std::span(result.output)));
    result.counters = emulator::launch(program, config, memory, std::as_bytes(std::span(parameters)), stop);
    memory.copy_out(std::as_writable_bytes(std::span(result.output)), parameters[1]);
    return result;
}

PtxResult run_ptx(const PtxRun& run) {
    const auto program = emulator::load_program(ptx_text(run));
    const std::size_t threads = static_cast<std::size_t>(run.threads) * static_cast<std::size_t>(run.blocks);
    std::vector<std::uint32_t> input = run.input;
    input.resize(std::max(input.size(), threads * kWordsPerThread));
    const emulator::LaunchConfig config{.entry = "kernel",
                                        .grid = {run.blocks, 1, 1},
                                        .block = {run.threads, 1, 1},
                                        .shared_bytes = run.shared_bytes,
                                        .cluster = run.cluster,
                                        .order_seed = run.order_seed,
                                        .async_mode = run.async_mode,
                                        .checks = run.checks,
                                        .threads = run.host_threads,
                                        .work_limit = run.work_limit};
    return run_entry(*program, config, input, threads * kWordsPerThread, run.stop);
}

std::optional<Fault> fault_of(const PtxRun& run) {
    try {
        static_cast<void>(run_ptx(run));
    } catch (const emulator::EmulatorFault& fault) {
        return Fault{fault.kind(), fault.what()};
    }
    return std::nullopt;
}

std::vector<std::uint32_t> words(const PtxResult& result, std::size_t word) {
    std::vector<std::uint32_t> chosen;
    for (std::size_t i = word; i < result.output.size(); i += kWordsPerThread) chosen.push_back(result.output[i]);
    return chosen;
}

std::vector<std::uint32_t> for_threads(int threads, const std::function<std::uint32_t(std::uint32_t)>& function) {
    std::vector<std::uint32_t> expected;
    for (int thread = 0; thread < threads; ++thread) expected.push_back(function(static_cast<std::uint32_t>(thread)));
    return expected;
}

}  // namespace jitgemm::testing
