#pragma once

#include "generator/base/problem.hpp"
#include "generator/families/kernel_config.hpp"

namespace jitgemm {

/// Bytes that the warps of a launch request from global memory and write to it, in whole sectors of 32 bytes. Caches
/// serve a part of them. DRAM moves at least compulsory_bytes().
struct GlobalTraffic {
    double read_bytes = 0;
    double written_bytes = 0;
    [[nodiscard]] double total() const { return read_bytes + written_bytes; }
};

/// Computed from how the config tiles the problem.
///
///   tiles in shared memory   A is read once per column of block tiles, B once per row of them:
///                            ceil(n / bn) · m · k · |A| + ceil(m / bm) · k · n · |B|,
///                            more where a row of a tile is no whole number of sectors, or is read a few k at a time
///                            (operands that simt_hierarchical transposes on their way: k_lanes of them)
///   straight into registers  a load of a warp brings a sector for each row, if its lanes lie across rows in memory,
///                            else as many sectors as the elements fill:
///                            ceil(m / wm) · ceil(n / (wn · tn)) · k loads of A,
///                            ceil(n / wn) · ceil(m / (wm · tm)) · k loads of B,
///                            with wm × wn lanes and thread tiles of tm × tn
///   D, and C where read      once; a warp's elements of one row fill whole sectors. A C of one row counts once: caches
///                            have it for the other rows of D
///   split-K                  each split writes m · n sums in f32, which the reduction reads
///   packing                  the operand is read, written in order, and read from there
///
/// Rows that begin in mid-sector (leading dimensions that are no multiple of 32 bytes) cost up to a sector more, which
/// is left out.
[[nodiscard]] GlobalTraffic global_traffic(const Problem& problem, const KernelConfig& config);

}  // namespace jitgemm
