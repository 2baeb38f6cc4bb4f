#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/problem.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_terms.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace jitgemm {

/// Stages of a candidate.
inline constexpr int kMostStages = 8;

/// Lower bounds of WgmmaWarpSpecialized::cost() for the candidates of a problem that have one `swap_ab`. They hold for
/// any number of stages and slices and for any order of tiles. They take a fraction of cost()'s time.
class LeastTime {
public:
    /// `common` has the fields that all of these candidates share. The problem and the GPU must outlive the object.
    LeastTime(const Problem& problem, const WgmmaWarpSpecializedConfig& common, const GpuModel& gpu);

    /// Numbers of a tile. Cycles are of an SM.
    struct Tile {
        TileIndex count;
        double k_tiles;
        bool may_stream;
        double multiply;       ///< cycles of a k-tile
        int a_bytes, b_bytes;  ///< of a k-tile
        int most_stages;
        double epilogue, work, stored;  ///< cycles of a tile: without operands, for these, and to store it
        double ending;                  ///< cycles of a launch beside its tiles
        double meeting, partial_sum;    ///< cycles that stream-K adds to these, and for each partial sum
        double launch_us;
        double dram_us;
    };
    /// Of a config's block tile, however it is used.
    [[nodiscard]] Tile tile_of(const WgmmaWarpSpecializedConfig& config) const;

    /// Of a config with this tile in any cluster, with stream-K or without.
    [[nodiscard]] double in_any_cluster(const WgmmaWarpSpecializedConfig& config, const Tile& tile);
    /// In this cluster. A cluster of more than two blocks stands for all of these.
    [[nodiscard]] double in_cluster(const WgmmaWarpSpecializedConfig& config, const Tile& tile,
                                    const TileShape& cluster);
    /// In the config's cluster and with its stream-K.
    [[nodiscard]] double with_stream_k(const WgmmaWarpSpecializedConfig& config, const Tile& tile);

private:
    /// How blocks share what they fetch.
    struct Sharing {
        TileShape cluster;
        double launch_us;               ///< beyond a launch without clusters
        int clusters;                   ///< that the GPU holds at once, at most
        int blocks_at_work;             ///< of these, at least
        int of_a, of_b;                 ///< blocks that share a tile of A, and of B
        double a_requests, b_requests;  ///< of L2 for a block's part of a shared tile, over those for a tile of its own
    };
    [[nodiscard]] Sharing sharing_of(const TileShape& cluster) const;
    [[nodiscard]] const Sharing& known_sharing(const TileShape& cluster) const;
    [[nodiscard]] double l2_cycles_per_byte(int at_work);
    [[nodiscard]] double fetch_cycles(const Tile& tile, const Sharing& sharing, int at_work);
    [[nodiscard]] double k_tile_cycles(const Tile& tile, const Sharing& sharing, double waves, std::int64_t at_work);
    [[nodiscard]] double in_sharing(const WgmmaWarpSpecializedConfig& config, const Tile& tile, const Sharing& sharing);
    [[nodiscard]] double launched(const WgmmaWarpSpecializedConfig& config, const Tile& tile, const Sharing& sharing,
                                  double tile_cycles, double meeting_cycles) const;

    const GpuModel& gpu_;
    const WgmmaCosts& costs_;
    const GemmSpec& row_major_;
    GemmSpec spec_;  ///< as wgmmas see it
    GemmSignature signature_;
    EpilogueWork work_by_threads_, work_in_ring_;
    double us_per_cycle_;
    double dram_us_per_byte_;
    double operand_cycles_;  ///< in which DRAM delivers A and B
    double d_us_;            ///< in which DRAM takes D
    double dram_us_;         ///< of all that each launch moves
    double packing_us_;
    double a_line_work_, b_line_work_;
    std::array<Sharing, 4> sharings_;
    std::vector<double> l2_cycles_;  ///< of a byte, by blocks at work; 0: not known yet
};

}  // namespace jitgemm
