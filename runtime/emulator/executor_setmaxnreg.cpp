// setmaxnreg: registers of one warpgroup for another.

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/instruction_decoder.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {
namespace {

void take_step(Warp& warp, const Instruction& instruction) {
    warp.block().warpgroup_steps().take(warp, {.site = instruction.index});
}

/// Without either directive ptxas does not know the registers that a block begins with, and drops setmaxnreg (C7508).
void require_thread_limit(const Warp& warp) {
    const Function& entry = warp.launch().entry;
    if (entry.max_threads > 0) return;
    warp.fail(FaultKind::illegal_instruction,
              fmt::format("setmaxnreg in {}, which has neither .maxntid nor .reqntid: GPUs ignore it there. Give the "
                          "kernel __launch_bounds__",
                          entry.name));
}

void execute_take(Warp& warp, const Instruction& instruction, Mask mask) {
    require_warpgroup(warp, mask, "setmaxnreg");
    require_thread_limit(warp);
    const int registers = static_cast<int>(instruction.immediate);
    if (registers < warp.block().registers().of(warp.index()))
        warp.fail(FaultKind::illegal_instruction,
                  fmt::format("setmaxnreg.inc to {} of a warp that has {} registers per thread", registers,
                              warp.block().registers().of(warp.index())));
    if (warp.block().registers().take(warp.index(), registers)) return take_step(warp, instruction);
    warp.wait_and_retry(mask);
    warp.block().wait_for_registers(warp);
}

void execute_give_up(Warp& warp, const Instruction& instruction, Mask mask) {
    require_warpgroup(warp, mask, "setmaxnreg");
    require_thread_limit(warp);
    const int registers = static_cast<int>(instruction.immediate);
    if (registers > warp.block().registers().of(warp.index()))
        warp.fail(FaultKind::illegal_instruction,
                  fmt::format("setmaxnreg.dec to {} of a warp that has {} registers per thread", registers,
                              warp.block().registers().of(warp.index())));
    take_step(warp, instruction);
    warp.block().registers().give_up(warp.index(), registers);
    warp.block().registers_given_up();
}

void decode_setmaxnreg(InstructionDecoder& decoder) {
    const bool takes = decoder.take_any({"inc", "dec"}) == "inc";
    if (!decoder.take("sync") || !decoder.take("aligned") || !decoder.take("u32")) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(1, 1);
    const std::int64_t registers = decoder.constant(0);
    if (registers < 24 || registers > 256 || registers % 8 != 0)
        decoder.unsupported(fmt::format("{} registers: setmaxnreg takes 24 to 256 in steps of 8", registers));
    decoder.result().immediate = registers;
    decoder.execute(InstructionKind::warp, takes ? execute_take : execute_give_up);
}

}  // namespace

std::vector<DecoderRow> setmaxnreg_decoders() { return {{"setmaxnreg", decode_setmaxnreg}}; }

}  // namespace jitgemm::emulator
