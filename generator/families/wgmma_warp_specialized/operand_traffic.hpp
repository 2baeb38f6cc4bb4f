#pragma once

#include "generator/base/arch.hpp"
#include "generator/base/gemm_signature.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/config.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"

#include <cstdint>

namespace jitgemm {

/// The rows of A and columns of B of this many clusters' tiles, which lie side by side in groups along M. They may lie
/// beyond the problem.
struct Panels {
    std::int64_t rows, columns;
};
[[nodiscard]] Panels panels_of(const WgmmaWarpSpecializedConfig& config, std::int64_t clusters);

/// Bytes of A and B that DRAM delivers beyond reading each byte once. Clusters at work at once share panels, rows of A
/// and columns of B over all of K. Where L2 doesn't hold these, a block finds what another has fetched only if it comes
/// soon after. Whole tiles fetch the panels of each wave anew. Pieces of stream-K share what they fetch with those that
/// are at the same k-tile (lines_of_pieces).
[[nodiscard]] double refetched_bytes(const GemmSpec& multiplied, const WgmmaWarpSpecializedConfig& config,
                                     const StreamK& deal, const GpuModel& gpu, const WgmmaCosts& costs);

}  // namespace jitgemm
