#pragma once

#include "runtime/emulator/global_order.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <mutex>
#include <optional>

namespace jitgemm::emulator {

/// A strong access of a warp, as far as it reaches global memory: what it tells other clusters of the launch, and
/// learns of them.
class StrongAccess {
public:
    /// No other warp makes one while this lives. It does nothing where the access is not strong, or cannot reach global
    /// memory.
    StrongAccess(Warp& warp, const MemoryOrder& how, ptx::StateSpace space, bool strong = true);

    // Of the lanes of `mask` that reach global memory.
    /// Pointers then lead to what the lanes read.
    void load(const WarpAccess& access, Mask mask, LanePointers& pointers);
    /// Before the values are in place.
    void store(const WarpAccess& access, Mask mask, const LanePointers& pointers);
    /// Of one lane: it has read `before`, and written where `writes`.
    void update(const WarpAccess& access, std::size_t lane, std::uint64_t before, bool writes);

private:
    void for_global(const WarpAccess& access, Mask mask, const auto& function) const;

    Warp& warp_;
    MemoryOrder how_;
    GlobalOrder* order_ = nullptr;  ///< null: nothing to do
    std::unique_lock<std::mutex> lock_;
};

/// Throws AccessFault where another warp's write to `bytes` of the buffer from `first` on, which this access conflicts
/// with, is ordered by nothing. Notes the access if it is a write.
void follow_global(const Warp& warp, const Buffer& buffer, std::size_t first, std::uint32_t bytes, Access access);

}  // namespace jitgemm::emulator
