#include "generator/base/occupancy.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

constexpr int kRegisterUnit = 8;  // a thread

}  // namespace

int Occupancy::blocks() const { return std::min({by_registers, by_shared, by_threads, by_slots}); }

std::vector<std::string> Occupancy::limits() const {
    std::vector<std::string> names;
    for (const auto& [most, name] : {std::pair{by_registers, "registers"}, std::pair{by_shared, "shared memory"},
                                     std::pair{by_threads, "threads"}, std::pair{by_slots, "block slots"}})
        if (most == blocks()) names.emplace_back(name);
    return names;
}

Occupancy occupancy(const BlockDemand& block, const Arch& arch) {
    if (block.threads <= 0) return {};
    const int registers = round_up(std::max(1, block.registers), kRegisterUnit);
    return {
        .by_registers = static_cast<int>(arch.registers_per_sm / (std::int64_t{registers} * block.threads)),
        .by_shared = static_cast<int>(arch.shared_bytes_per_sm / (block.shared_bytes + arch.shared_reserved_per_block)),
        .by_threads = arch.max_threads_per_sm / block.threads,
        .by_slots = arch.max_blocks_per_sm};
}

}  // namespace jitgemm
