#include "runtime/emulator/warpgroup_sums.hpp"

#include "runtime/emulator/block.hpp"
#include "runtime/emulator/warp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace jitgemm::emulator {
namespace {

constexpr std::uint32_t kChunkBytes = 16;

}  // namespace

void WarpgroupSums::require_apart(std::span<const Value> registers) const {
    for (const auto& [first, sums] : sums_)
        for (const Value& value : sums.values)
            for (const Value& own : registers)
                if (own.row == value.row)
                    throw AccessFault{FaultKind::wgmma_registers,
                                      "a wgmma adds to a part of the sums of another wgmma in flight"};
}

std::vector<std::uint32_t>& WarpgroupSums::begin(Warp& warp, std::span<const Value> registers,
                                                 std::span<const Value> a) {
    if (warp.in_entry()) registers_.begin(warp, group_, registers, a);
    const std::uint32_t key = registers[0].row;
    if (const auto found = sums_.find(key); found != sums_.end()) {
        if (!std::ranges::equal(found->second.values, registers, {}, &Value::row, &Value::row))
            require_apart(registers);
        found->second.group = group_;
        return found->second.words;
    }
    require_apart(registers);
    Sums& sums = sums_[key];
    sums.values.assign(registers.begin(), registers.end());
    sums.words.resize(registers.size() * kLanes);
    sums.group = group_;
    for (std::size_t i = 0; i < registers.size(); ++i) {
        std::uint32_t* row = warp.target_words(registers[i]);
        std::memcpy(&sums.words[i * kLanes], row, kLanes * sizeof(std::uint32_t));
        std::fill_n(row, kLanes, kPoison);
    }
    return sums.words;
}

void WarpgroupSums::check_end() const {
    if (!sums_.empty()) throw AccessFault{FaultKind::wgmma_registers, "a warp ends with a wgmma in flight"};
}

void WarpgroupSums::wait(Warp& warp, std::uint64_t pending) {
    const std::uint64_t complete = group_ > pending ? group_ - pending : 0;  // groups below
    registers_.complete(complete);
    for (auto at = sums_.begin(); at != sums_.end();) {
        const Sums& sums = at->second;
        if (sums.group >= complete) {
            ++at;
            continue;
        }
        for (std::size_t i = 0; i < sums.values.size(); ++i)
            std::memcpy(warp.target_words(sums.values[i]), &sums.words[i * kLanes], kLanes * sizeof(std::uint32_t));
        at = sums_.erase(at);
    }
    std::erase_if(reads_, [&](const Read& read) {
        if (read.group >= complete) return false;
        warp.block().shared().end_async_read(read.who, read.offset, kChunkBytes);
        return true;
    });
}

}  // namespace jitgemm::emulator
