#include "runtime/emulator/warpgroup_registers.hpp"

#include "runtime/emulator/fault.hpp"
#include "runtime/emulator/warp.hpp"

#include <fmt/format.h>

namespace jitgemm::emulator {

void WarpgroupRegisters::watch(const Warp& warp) {
    if (rows_.empty()) rows_.resize(warp.launch().entry.words);
}

void WarpgroupRegisters::touch(const Warp& warp, const Instruction& instruction) {
    for (std::size_t i = 0; i < instruction.values.size(); ++i) {
        const Value& value = instruction.values[i];
        if (value.bank != Bank::words) continue;
        Row& row = rows_[value.row];
        require_done(warp, row, value, i < instruction.destinations);
        row.touched = fences_ + 1;
    }
}

void WarpgroupRegisters::fence(const Warp& warp) {
    watch(warp);
    ++fences_;
}

void WarpgroupRegisters::begin(const Warp& warp, std::uint64_t group, std::span<const Value> sums,
                               std::span<const Value> a) {
    watch(warp);
    for (const Value& value : sums) {
        Row& row = rows_[value.row];
        if (in_flight(row.source)) require_done(warp, row, value, true);
        require_fence(warp, row, value);
        row.sum = group + 1;
        row.site = warp.current().index;
    }
    for (const Value& value : a) {
        if (value.bank != Bank::words) continue;  // a constant
        Row& row = rows_[value.row];
        require_done(warp, row, value, false);
        require_fence(warp, row, value);
        row.source = group + 1;
        row.site = warp.current().index;
    }
}

void WarpgroupRegisters::require_fence(const Warp& warp, const Row& row, const Value& value) const {
    if (row.touched <= fences_ || !warp.launch().config.checks.copies_in_flight) return;
    throw AccessFault{
        FaultKind::wgmma_registers,
        fmt::format(
            "a wgmma uses register {}, but no wgmma.fence followed the last other use of it, or the kernel's start",
            warp.launch().program.register_name(warp.current(), value))};
}

void WarpgroupRegisters::require_done(const Warp& warp, const Row& row, const Value& value, bool writes) const {
    const bool sum = in_flight(row.sum);
    if (!sum && !(writes && in_flight(row.source))) return;
    if (!warp.launch().config.checks.copies_in_flight) return;
    const Program& program = warp.launch().program;
    throw AccessFault{
        FaultKind::wgmma_registers,
        fmt::format(
            "{} register {}, {} of a wgmma in flight: no wgmma.wait_group has waited for that wgmma, which is {}",
            writes ? "writes" : "reads", program.register_name(warp.current(), value), sum ? "a sum" : "a part of A",
            program.place(program.code()[row.site]))};
}

}  // namespace jitgemm::emulator
