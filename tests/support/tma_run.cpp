#include "tests/support/tma_run.hpp"

#include "runtime/emulator/encoded_tensor_map.hpp"

#include <fmt/format.h>

#include <cstring>

namespace jitgemm::testing {
namespace {

constexpr const char* kDeclarations = R"(
    .reg .pred %p<16>;
    .reg .b16 %rs<32>;
    .reg .b32 %r<64>;
    .reg .f32 %f<32>;
    .reg .b64 %rd<32>;
    .reg .b32 %thread, %rank;
    .reg .b64 %in, %out, %args, %map<32>;
    .shared .align 1024 .b8 tile[16384];
    .shared .align 8 .b8 bars[64];
    mov.u32 %thread, %tid.x;
    mov.u32 %rank, %cluster_ctarank;
    mov.b64 %rd0, args;
    cvta.param.u64 %args, %rd0;
)";

std::string text_of(const TmaRun& run) {
    const std::size_t bytes = run.maps.size() * sizeof(EncodedTensorMap) + 16;
    std::string text = fmt::format(
        ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry kernel(.param .align 64 .b8 args[{}])\n{}{{{}",
        bytes, run.thread_limit ? fmt::format(".maxntid {}, 1, 1\n", run.threads) : "", kDeclarations);
    for (std::size_t i = 0; i < run.maps.size(); ++i) {
        text += fmt::format("    add.u64 %map{}, %args, {};\n", i, i * sizeof(EncodedTensorMap));
    }
    text += fmt::format("    ld.param.u64 %in, [args+{}];\n    ld.param.u64 %out, [args+{}];\n", bytes - 16, bytes - 8);
    return text + run.body + "\n    ret;\n}\n";
}

std::vector<std::byte> parameters_of(const TmaRun& run, emulator::DeviceAddress in, emulator::DeviceAddress out) {
    std::vector<std::byte> parameters;
    const auto append = [&](const void* from, std::size_t bytes) {
        const auto* first = static_cast<const std::byte*>(from);
        parameters.insert(parameters.end(), first, first + bytes);
    };
    for (std::size_t i = 0; i < run.maps.size(); ++i) {
        TiledTensorMap map = run.maps[i];
        map.address += i < run.of_output.size() && run.of_output[i] ? out : in;
        const EncodedTensorMap encoded = emulator::encode_tensor_map(map);
        append(encoded.bytes.data(), encoded.bytes.size());
    }
    append(&in, sizeof(in));
    append(&out, sizeof(out));
    return parameters;
}

}  // namespace

TmaResult run_tma(const TmaRun& run) {
    const auto program = emulator::load_program(text_of(run));
    emulator::GlobalMemory memory;
    const auto in = memory.allocate(run.input.size(), "in");
    const auto out = memory.allocate(run.output_bytes, "out");
    TmaResult result{std::vector<std::byte>(run.output_bytes, std::byte{0xEE}), {}};
    memory.copy_in(in, run.input);
    memory.copy_in(out, result.output);
    if (run.undefined) {
        memory.undefine(in, run.input.size());
        memory.undefine(out, run.output_bytes, true);
    }
    const emulator::LaunchConfig config{.entry = "kernel",
                                        .grid = {run.blocks, 1, 1},
                                        .block = {run.threads, 1, 1},
                                        .cluster = run.cluster,
                                        .order_seed = run.order_seed,
                                        .async_mode = run.async_mode,
                                        .checks = run.checks,
                                        .work_limit = run.work_limit};
    result.counters = emulator::launch(*program, config, memory, parameters_of(run, in, out));
    memory.copy_out(result.output, out);
    return result;
}

std::optional<Fault> fault_of(const TmaRun& run) {
    try {
        static_cast<void>(run_tma(run));
    } catch (const emulator::EmulatorFault& fault) {
        return Fault{fault.kind(), fault.what()};
    }
    return std::nullopt;
}

std::vector<std::byte> counting_input(std::size_t bytes) {
    std::vector<std::byte> input(bytes);
    for (std::size_t i = 0; i < bytes; ++i) input[i] = static_cast<std::byte>(i % 251);
    return input;
}

std::string make_mbarrier(int number, int arrivals) {
    return fmt::format(R"({{
    .reg .pred first;
    setp.eq.u32 first, %thread, 0;
    @first mbarrier.init.shared::cta.b64 [bars+{}], {};
    @first fence.mbarrier_init.release.cluster;
    bar.sync 0;
}}
)",
                       8 * number, arrivals);
}

std::string wait_mbarrier(int number, int parity) {
    return fmt::format(R"({{
    .reg .pred complete;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 complete, [bars+{}], {};
    @complete bra DONE;
    bra WAIT;
DONE:
}}
)",
                       8 * number, parity);
}

std::string copy_tile_out(int bytes) {
    return fmt::format(R"({{
    .reg .pred more;
    .reg .b32 byte, place, word;
    .reg .b64 far;
    shl.b32 byte, %thread, 2;
COPY:
    setp.lt.u32 more, byte, {};
    @!more bra END;
    mov.u32 place, tile;
    add.u32 place, place, byte;
    ld.shared.u32 word, [place];
    cvt.u64.u32 far, byte;
    add.u64 far, far, %out;
    st.global.u32 [far], word;
    add.u32 byte, byte, 128;
    bra COPY;
END:
}}
)",
                       bytes);
}

}  // namespace jitgemm::testing
