#pragma once

#include "generator/families/shared/rasterization.hpp"
#include "generator/families/shared/stream_k.hpp"

namespace jitgemm {

/// Rows of tiles of A and columns of tiles of B that clusters fetch for a k-tile each. Clusters that are at the same
/// k-tile at once share what they both need: it counts once.
struct FetchedLines {
    double rows = 0;
    double columns = 0;
};

/// Lines that clusters fetch for one k-tile each, while all work on pieces of stream-K at one pace.
struct LinesOfPieces {
    FetchedLines first;        ///< of clusters in their first pieces, which began at once
    FetchedLines later;        ///< of the others, if no pace differed before
    double late_clusters = 0;  ///< how many those are
};
/// `tiles` are those of clusters.
[[nodiscard]] LinesOfPieces lines_of_pieces(const StreamK& deal, const RasterOrder& order, TileIndex tiles);

}  // namespace jitgemm
