#pragma once

#include "generator/kernel_set.hpp"
#include "jitgemm/gemm_kernel_set.hpp"
#include "runtime/context/context_state.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

/// Handles by m. Each m has one place, and the last one that was put there has it, so memory is bounded. Thread-safe:
/// a place is locked while a handle is copied.
class RecentHandles {
public:
    [[nodiscard]] std::optional<GemmKernel> find(std::int64_t m) const;
    void put(std::int64_t m, const GemmKernel& kernel);

private:
    static constexpr std::size_t kPlaces = 1024;

    struct Place {
        mutable std::atomic_flag is_locked = ATOMIC_FLAG_INIT;
        std::int64_t m = 0;
        GemmKernel kernel;
    };
    [[nodiscard]] static std::size_t place_of(std::int64_t m) { return static_cast<std::size_t>(m) % kPlaces; }

    std::array<Place, kPlaces> places_;
};

/// A loaded kernel of a set, and what its launches have in common.
struct KernelOfSet {
    std::shared_ptr<const KernelState> of_first;  ///< for the first m that it serves
    std::vector<int> sms;                         ///< of each entry, that its blocks are counted by
};

/// The state behind a GemmKernelSet. It keeps what its kernels need, and outlives its context as GemmKernel does.
struct KernelSetState {
    unsigned generation = process_generation();  ///< of the process that made it
    KernelSet set;
    std::vector<std::string> names;
    std::vector<KernelOfSet> kernels;  ///< loaded, in the set's order
    mutable RecentHandles handles;

    /// A new handle.
    [[nodiscard]] GemmKernel kernel(std::int64_t m) const;
};

/// Loads all kernels of a set, on several threads. Throws what ContextState::build throws.
[[nodiscard]] GemmKernelSet load_kernel_set(ContextState& context, KernelSet set);

struct KernelSetAccess {
    [[nodiscard]] static GemmKernelSet make(std::shared_ptr<const KernelSetState> state);
    /// Throws Error for an empty set, and for one of the parent process.
    [[nodiscard]] static const KernelSetState& state(const GemmKernelSet& set);
};

}  // namespace jitgemm
