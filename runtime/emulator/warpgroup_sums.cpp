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

void WarpgroupSums::require_apart(const std::vector<Value>& values, std::size_t registers) const {
    for (const auto& [first, sums] : sums_)
        for (const Value& value : sums.values)
            for (std::size_t i = 0; i < registers; ++i)
                if (values[i].row == value.row)
                    throw AccessFault{FaultKind::copy_in_flight,
                                      "a wgmma that adds to a part of another one's sums, which are in flight"};
}

std::vector<std::uint32_t>& WarpgroupSums::begin(Warp& warp, const std::vector<Value>& values, std::size_t registers) {
    const std::uint32_t key = values[0].row;
    if (const auto found = sums_.find(key); found != sums_.end()) {
        const bool same = found->second.values.size() == registers &&
                          std::equal(found->second.values.begin(), found->second.values.end(), values.begin(),
                                     [](const Value& left, const Value& right) { return left.row == right.row; });
        if (!same) require_apart(values, registers);
        found->second.group = group_;
        return found->second.words;
    }
    require_apart(values, registers);
    Sums& sums = sums_[key];
    sums.values.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(registers));
    sums.words.resize(registers * kLanes);
    sums.group = group_;
    for (std::size_t i = 0; i < registers; ++i) {
        std::uint32_t* row = warp.target_words(values[i]);
        std::memcpy(&sums.words[i * kLanes], row, kLanes * sizeof(std::uint32_t));
        std::fill_n(row, kLanes, kPoison);
    }
    return sums.words;
}

void WarpgroupSums::wait(Warp& warp, std::uint64_t pending) {
    const std::uint64_t complete = group_ > pending ? group_ - pending : 0;  // groups below
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
        warp.block().shared().touch(read.who, read.offset, kChunkBytes, Access::read);
        return true;
    });
}

}  // namespace jitgemm::emulator
