#include "generator/families/simt_long_k/accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace jitgemm {
namespace {

constexpr int kWord = 4;  // bytes

/// Writes of one operand's tile by all threads, pass by pass.
SharedAccess long_k_copy(Operand name, const SimtLongKOperand& operand, int threads) {
    SharedAccess access;
    access.what = fmt::format("cp.async {}", to_string(name));
    access.instruction = fmt::format("cp.async of {} bytes", operand.vector * kWord);
    const int along = std::max(1, (operand.vectors_per_row + threads - 1) / threads);
    for (int part = 0; part < along; ++part)
        for (int pass = 0; pass * operand.rows_per_pass < operand.rows; ++pass)
            for (int first = 0; first < threads; first += kWarpLanes) {
                const LaneAddresses addresses = lane_addresses([&](int lane) {
                    const int thread = first + lane;
                    const int in_pass = along > 1 ? 0 : thread / operand.vectors_per_row;
                    const int row = in_pass + pass * operand.rows_per_pass;
                    if (in_pass >= operand.rows_per_pass || row >= operand.rows) return kInactiveLane;
                    const int vector = (along > 1 ? thread : thread % operand.vectors_per_row) + part * threads;
                    return vector < operand.vectors_per_row ? (row * operand.pitch + vector * operand.vector) * kWord
                                                            : kInactiveLane;
                });
                add_instruction(access, vector_wavefronts(operand.vector * kWord, addresses));
            }
    if (access.wavefronts > access.ideal)
        access.reason = fmt::format("rows of {} floats, and a warp writes {} rows at once", operand.pitch,
                                    std::max(1, kWarpLanes / operand.vectors_per_row));
    return access;
}

}  // namespace

SharedAccess long_k_fragment(Operand name, const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    const bool is_a = name == Operand::a;
    const SimtLongKOperand& operand = is_a ? g.a : g.b;
    const int width = operand.k_major ? kLongKQuad : operand.piece;
    SharedAccess access;
    access.what = fmt::format("ld.shared {}", to_string(name));
    access.instruction = fmt::format("ld.shared of {} bytes", width * kWord);
    const LaneAddresses addresses = lane_addresses([&](int lane) {
        const LongKLane place = long_k_lane(c, lane);
        const int along = is_a ? place.m : place.n;
        const int k = place.k * g.lane_pitch;
        return (operand.k_major ? along * operand.pitch + k : k * operand.pitch + along * operand.piece) * kWord;
    });
    const int loads = operand.k_major ? operand.thread : kLongKQuad * operand.thread / operand.piece;
    add_instruction(access, load_wavefronts(width * kWord, addresses), loads * g.steps * c.warps);
    if (access.wavefronts > access.ideal)
        access.reason =
            fmt::format("{} lanes along K read rows {} floats apart", c.lanes.k, g.lane_pitch * operand.pitch);
    return access;
}

namespace {

/// The epilogue's store of a thread's sums; those of neighbouring parts lie an odd number of lanes' sums apart.
SharedAccess long_k_store_sums(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    SharedAccess access;
    access.what = "store of sums";
    access.instruction = "st.shared of 4 bytes";
    access.in_mainloop = false;
    const LaneAddresses addresses = lane_addresses([&](int lane) {
        const LongKLane place = long_k_lane(c, lane);
        return (place.k * g.part_pitch + place.m * c.lanes.n + place.n) * kWord;
    });
    add_instruction(access, vector_wavefronts(kWord, addresses), g.accumulator_registers * c.warps);
    return access;
}

/// Threads that add up one element of the block tile (kSumThreads).
int long_k_sum_threads(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    const int tile = c.block().m * c.block().n;
    const int threads = std::clamp(g.threads / std::max(tile, 1), 1, kWarpLanes);
    return static_cast<int>(std::bit_floor(static_cast<unsigned>(threads)));
}

/// The epilogue's loads of them, element by element.
SharedAccess long_k_load_sums(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    SharedAccess access;
    access.what = "load of sums";
    access.instruction = "ld.shared of 4 bytes";
    access.in_mainloop = false;
    const int sum_threads = long_k_sum_threads(c, g);
    const int parts = c.warps * c.lanes.k;
    const int tile = c.block().m * c.block().n;
    for (int first = 0; first < tile * sum_threads; first += kWarpLanes)
        for (int part = 0; part < parts; part += sum_threads) {
            const LaneAddresses addresses = lane_addresses([&](int lane) {
                const int element = (first + lane) / sum_threads;
                const int mine = part + (first + lane) % sum_threads;
                return element < tile && mine < parts ? (mine * g.part_pitch + element) * kWord : kInactiveLane;
            });
            add_instruction(access, load_wavefronts(kWord, addresses));
        }
    if (access.wavefronts > access.ideal)
        access.reason =
            fmt::format("{} threads share an element, whose sums lie {} floats apart", sum_threads, g.part_pitch);
    return access;
}

}  // namespace

std::vector<SharedAccess> long_k_accesses(const SimtLongKConfig& c, const SimtLongKGeometry& g) {
    return {long_k_copy(Operand::a, g.a, g.threads),
            long_k_copy(Operand::b, g.b, g.threads),
            long_k_fragment(Operand::a, c, g),
            long_k_fragment(Operand::b, c, g),
            long_k_store_sums(c, g),
            long_k_load_sums(c, g)};
}

}  // namespace jitgemm
