#include "runtime/emulator/bulk_stores.hpp"

#include "runtime/emulator/bulk_copy.hpp"

#include <fmt/format.h>

#include <utility>

namespace jitgemm::emulator {

void BulkStores::issue(std::size_t lane, const Accessor& who, BulkChunks chunks) {
    for (const BulkChunk& chunk : chunks) shared_.begin_async_read(who, chunk.offset, kBulkChunkBytes);
    if (launch_.config.async_mode == AsyncMode::eager) move_to_global(launch_, shared_, chunks);
    pending_.push_back({lane, committed_.at(lane), who, std::move(chunks)});
}

void BulkStores::commit(Mask mask) {
    for_each_bit(mask, [&](std::size_t lane) { ++committed_[lane]; });
}

void BulkStores::wait_group(Mask mask, std::uint32_t pending_groups) {
    std::erase_if(pending_, [&](const Pending& pending) {
        const bool waits = (mask >> pending.lane & 1U) != 0;
        if (!waits || pending.group + pending_groups >= committed_[pending.lane]) return false;
        finish(pending);
        return true;
    });
}

void BulkStores::finish(const Pending& pending) {
    if (launch_.config.async_mode == AsyncMode::late) move_to_global(launch_, shared_, pending.chunks);
    for (const BulkChunk& chunk : pending.chunks) {
        shared_.end_async_read(pending.who, chunk.offset, kBulkChunkBytes);
    }
}

void BulkStores::end(Mask mask) {
    std::erase_if(pending_, [&](const Pending& pending) {
        if ((mask >> pending.lane & 1U) == 0) return false;
        if (launch_.config.checks.copies_in_flight) {
            const Instruction& instruction = launch_.program.code()[pending.who.site];
            throw AccessFault{FaultKind::copy_in_flight,
                              fmt::format("the thread ends while its bulk copy may still read shared memory: no "
                                          "cp.async.bulk.wait_group waited for the copy, which is {}",
                                          launch_.program.place(instruction)),
                              static_cast<int>(pending.lane)};
        }
        finish(pending);
        return true;
    });
}

}  // namespace jitgemm::emulator
