#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"

#include <cstdint>

namespace jitgemm {

/// The rows of A and columns of B that so many clusters' tiles lie in, which they take side by side, in groups along M;
/// also beyond the problem.
struct Panels {
    std::int64_t rows, columns;
};
[[nodiscard]] Panels panels_of(const WgmmaWarpSpecializedConfig& config, std::int64_t clusters);

/// What DRAM delivers of A and B beyond reading each byte once.
struct OperandTraffic {
    /// Bytes, for all whole tiles. Tiles at work at once share panels, rows of A and columns of B over all of K. Where
    /// L2 doesn't hold these, a block finds what another has fetched only if it comes soon after, and each wave's
    /// panels are fetched anew.
    double refetched;
    /// Bytes, for the k-tiles that all clusters are at at once in the pieces of stream-K, which begin at other k-tiles
    /// than their neighbours': none where L2 holds the panels.
    double per_streamed_k_tile;
};
[[nodiscard]] OperandTraffic operand_traffic(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                             const StreamK& deal, const GpuModel& gpu, const WgmmaCosts& costs);

}  // namespace jitgemm
