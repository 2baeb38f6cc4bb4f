#include "runtime/emulator/async_copies.hpp"

#include <cstring>

namespace jitgemm::emulator {

void AsyncCopies::issue(const AsyncCopy& copy) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if ((copy.mask >> lane & 1U) == 0) continue;
        shared_.begin_copy(copy.who, copy.destination[lane], copy.bytes);
        if (mode_ == AsyncMode::eager) move(copy, static_cast<int>(lane));
    }
    pending_.push_back({copy, committed_});
}

void AsyncCopies::commit(Mask mask) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) committed_[lane] += mask >> lane & 1U;
}

void AsyncCopies::wait_group(Mask mask, std::uint32_t pending_groups) {
    for (Pending& pending : pending_) {
        Mask due = 0;
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            const bool old = pending.group[lane] + pending_groups < committed_[lane];
            due |= static_cast<Mask>(old) << lane;
        }
        finish(pending, due & mask);
    }
    drop_finished();
}

void AsyncCopies::wait_all(Mask mask) {
    for (Pending& pending : pending_) finish(pending, mask);
    drop_finished();
}

void AsyncCopies::finish(Pending& pending, Mask lanes) {
    AsyncCopy& copy = pending.copy;
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        if ((copy.mask & lanes) >> lane == 0) break;
        if (((copy.mask & lanes) >> lane & 1U) == 0) continue;
        if (mode_ == AsyncMode::late) move(copy, static_cast<int>(lane));
        shared_.end_copy(copy.who, copy.destination[lane], copy.bytes);
    }
    copy.mask &= ~lanes;
}

void AsyncCopies::drop_finished() {
    std::erase_if(pending_, [](const Pending& pending) { return pending.copy.mask == 0; });
}

void AsyncCopies::move(const AsyncCopy& copy, int lane) {
    const auto i = static_cast<std::size_t>(lane);
    std::byte* to = shared_.at(copy.destination[i]);
    if (copy.source_bytes[i] > 0) std::memcpy(to, copy.source[i], copy.source_bytes[i]);
    std::memset(to + copy.source_bytes[i], 0, copy.bytes - copy.source_bytes[i]);
}

}  // namespace jitgemm::emulator
