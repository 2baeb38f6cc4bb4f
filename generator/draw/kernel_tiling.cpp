#include "generator/draw/kernel_tiling.hpp"

#include "generator/draw/palette.hpp"
#include "generator/draw/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace jitgemm {
namespace {

constexpr int kLongestOutputSide = 768;  // of D, in pixels
constexpr int kShortestStep = 14;        // of a k-block of A and B
constexpr int kTilingGap = 28;           // between the tiles, with room for a label
constexpr int kLabel = 20;
constexpr int kDrawnK = 32;  // of A's and B's tiles, which may hold all of K

/// Pixels of everything: D below B and right of A.
struct Frame {
    int scale = 1;  // pixels per element of M and N
    int k_block = kShortestStep;
    int left = 0, top = 0;  // of D
};

Frame frame_of(const KernelTiling& tiling) {
    Frame frame;
    frame.scale = std::max(1, std::min(4, kLongestOutputSide / std::max(tiling.block.m, tiling.block.n)));
    frame.k_block = std::max(kShortestStep, tiling.mma.k * frame.scale);
    frame.left = tiling.k_blocks * frame.k_block + kTilingGap;
    frame.top = kLabel + tiling.k_blocks * frame.k_block + kTilingGap;
    return frame;
}

std::string range(int first, int count) { return fmt::format("{}–{}", first, first + count - 1); }

void draw_atoms(Svg& svg, const KernelTiling& tiling, const Frame& frame) {
    const int columns = tiling.block.n / tiling.mma.n;
    for (std::size_t atom = 0; atom < tiling.warp_of_atom.size(); ++atom) {
        const int row = static_cast<int>(atom) / columns * tiling.mma.m;
        const int column = static_cast<int>(atom) % columns * tiling.mma.n;
        const int warp = tiling.warp_of_atom[atom];
        const Hint hint{fmt::format("warp {}, atom ({}, {}) of its tile\nrows {}, columns {} of the block tile", warp,
                                    row % tiling.warp.m / tiling.mma.m, column % tiling.warp.n / tiling.mma.n,
                                    range(row, tiling.mma.m), range(column, tiling.mma.n)),
                        fmt::format("warp {}", warp)};
        svg.box({frame.left + column * frame.scale, frame.top + row * frame.scale, tiling.mma.n * frame.scale,
                 tiling.mma.m * frame.scale},
                "p " + color_class(warp), hint);
    }
}

void draw_warps(Svg& svg, const KernelTiling& tiling, const Frame& frame) {
    const int columns = tiling.block.n / tiling.mma.n;
    for (int row = 0; row < tiling.block.m; row += tiling.warp.m) {
        for (int column = 0; column < tiling.block.n; column += tiling.warp.n) {
            const Box box{frame.left + column * frame.scale, frame.top + row * frame.scale, tiling.warp.n * frame.scale,
                          tiling.warp.m * frame.scale};
            const int atom = row / tiling.mma.m * columns + column / tiling.mma.n;
            svg.box(box, "z");
            svg.text(box.x + 6, box.y + 15, fmt::format("warp {}", tiling.warp_of_atom[static_cast<std::size_t>(atom)]),
                     "h");
        }
    }
}

void draw_operands(Svg& svg, const KernelTiling& tiling, const Frame& frame) {
    for (int step = 0; step < tiling.k_blocks; ++step) {
        const std::string k = range(step * tiling.mma.k, tiling.mma.k);
        for (int row = 0; row < tiling.warps_m; ++row) {
            const Hint hint{fmt::format("A: rows {}, k {}\nk-block {} of the {} warps of this row",
                                        range(row * tiling.warp.m, tiling.warp.m), k, step, tiling.warps_n),
                            {}};
            svg.box({step * frame.k_block, frame.top + row * tiling.warp.m * frame.scale, frame.k_block,
                     tiling.warp.m * frame.scale},
                    step % 2 == 0 ? "p c1" : "p c9", hint);
        }
        for (int column = 0; column < tiling.warps_n; ++column) {
            const Hint hint{fmt::format("B: columns {}, k {}\nk-block {} of the {} warps of this column",
                                        range(column * tiling.warp.n, tiling.warp.n), k, step, tiling.warps_m),
                            {}};
            svg.box({frame.left + column * tiling.warp.n * frame.scale, kLabel + step * frame.k_block,
                     tiling.warp.n * frame.scale, frame.k_block},
                    step % 2 == 0 ? "p c2" : "p c10", hint);
        }
    }
}

void draw_labels(Svg& svg, const KernelTiling& tiling, const Frame& frame) {
    svg.text(0, frame.top - 8, fmt::format("A {}×{}", tiling.block.m, tiling.block.k), "h");
    svg.text(frame.left, 13, fmt::format("B {}×{}", tiling.block.k, tiling.block.n), "h");
    svg.text(frame.left, frame.top - 8, fmt::format("D {}×{}", tiling.block.m, tiling.block.n), "h");
}

bool divides(const TileShape& part, const TileShape& whole) {
    return part.m > 0 && part.n > 0 && whole.m % part.m == 0 && whole.n % part.n == 0;
}

/// The drawing's atom is the mma or thread tile. It is a warp's tile where that tile would be a single element.
TileShape atom_of(const KernelAnatomy& anatomy, const TileShape& warp) {
    const bool single = anatomy.mma.m * anatomy.mma.n <= 1;
    TileShape atom = single || !divides(anatomy.mma, warp) ? warp : anatomy.mma;
    atom.k = anatomy.ldmatrix_pipeline ? anatomy.mma.k : std::min(anatomy.block.k, kDrawnK);
    return atom;
}

}  // namespace

KernelTiling kernel_tiling(const Problem& problem, const KernelConfig& config, const KernelAnatomy& anatomy) {
    KernelTiling tiling;
    tiling.block = anatomy.block;
    tiling.warp = divides(anatomy.warp, anatomy.block) ? anatomy.warp : anatomy.block;
    tiling.mma = atom_of(anatomy, tiling.warp);
    tiling.warps_m = tiling.block.m / tiling.warp.m;
    tiling.warps_n = tiling.block.n / tiling.warp.n;
    tiling.atoms_m = tiling.warp.m / tiling.mma.m;
    tiling.atoms_n = tiling.warp.n / tiling.mma.n;
    tiling.k_blocks = anatomy.ldmatrix_pipeline ? tiling.block.k / tiling.mma.k : 1;
    for (int row = 0; row < tiling.block.m; row += tiling.mma.m)
        for (int column = 0; column < tiling.block.n; column += tiling.mma.n)
            tiling.warp_of_atom.push_back(family_of(config).owner(problem, config, row, column).warp);
    return tiling;
}

std::string tiling_html(const KernelTiling& tiling) {
    const Frame frame = frame_of(tiling);
    Svg svg(frame.left + tiling.block.n * frame.scale + 2, frame.top + tiling.block.m * frame.scale + 2);
    draw_labels(svg, tiling, frame);
    draw_operands(svg, tiling, frame);
    draw_atoms(svg, tiling, frame);
    draw_warps(svg, tiling, frame);
    return svg.figure("", true);
}

}  // namespace jitgemm
