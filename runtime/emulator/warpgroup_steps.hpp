#pragma once

#include "runtime/emulator/mask.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace jitgemm::emulator {

class Warp;

/// Checks that the four warps of a warpgroup execute the same warpgroup instructions with the same descriptors in the
/// same order, as .aligned demands. They need not reach one at the same time.
class WarpgroupSteps {
public:
    static constexpr int kWarps = 4;

    /// An instruction, with the parts that must be equal in all four warps.
    struct Step {
        std::uint32_t site = 0;
        std::uint64_t a = 0;  ///< descriptors
        std::uint64_t b = 0;
        bool adds = false;
        friend bool operator==(const Step&, const Step&) = default;
    };

    explicit WarpgroupSteps(int warps) : groups_(static_cast<std::size_t>((warps + kWarps - 1) / kWarps)) {}

    /// The warp's next step. Throws AccessFault if another warp of its group has taken a different one, or has ended.
    void take(const Warp& warp, const Step& step);
    /// Throws AccessFault if another warp of its group has executed more.
    void warp_ended(const Warp& warp);

private:
    struct Group {
        std::deque<Step> steps;   ///< steps that not all four have taken
        std::uint64_t first = 0;  ///< number of the first of them
        std::array<std::uint64_t, kWarps> taken{};
        std::array<bool, kWarps> ended{};
    };
    [[nodiscard]] Group& group_of(const Warp& warp);
    static void require_alive(const Warp& warp, const Group& group);

    std::vector<Group> groups_;
};

/// Throws EmulatorFault unless the whole warp executes `what` as one of a warpgroup's four.
void require_warpgroup(const Warp& warp, Mask mask, const char* what);

}  // namespace jitgemm::emulator
