#pragma once

#include "runtime/emulator/global_order.hpp"
#include "runtime/emulator/memory_access.hpp"

#include <mutex>
#include <optional>

namespace jitgemm::emulator {

/// The part of a warp's strong access that reaches global memory: the knowledge that it passes to other clusters of the
/// launch and learns from them.
class StrongAccess {
public:
    /// No other warp makes a strong access while this object lives. It does nothing if the access is not strong or
    /// cannot reach global memory.
    StrongAccess(Warp& warp, const MemoryOrder& how, ptx::StateSpace space, bool strong = true);

    // Of the lanes of `mask` that reach global memory.
    /// Afterwards pointers lead to the values that the lanes read.
    void load(const WarpAccess& access, Mask mask, LanePointers& pointers);
    /// Called before the values are stored.
    void store(const WarpAccess& access, Mask mask, const LanePointers& pointers);
    /// For one lane: it has read `before`, and written if `writes` is set.
    void update(const WarpAccess& access, std::size_t lane, std::uint64_t before, bool writes);

private:
    void for_global(const WarpAccess& access, Mask mask, const auto& function) const;

    Warp& warp_;
    MemoryOrder how_;
    GlobalOrder* order_ = nullptr;  ///< null: nothing to do
    std::unique_lock<std::mutex> lock_;
};

/// Throws AccessFault for an unordered conflict: another warp wrote to `bytes` of the buffer from `first` on, and
/// nothing orders the two. Notes the access if it is a write.
void follow_global(const Warp& warp, const Buffer& buffer, std::size_t first, std::uint32_t bytes, Access access);

}  // namespace jitgemm::emulator
