#pragma once

#include "generator/layout/layout_algebra.hpp"
#include "generator/layout/mma_atom.hpp"

#include <array>
#include <vector>

namespace jitgemm {

/// An MMA atom tiled over warps and repeated: CuTe's make_tiled_mma(atom, AtomLayoutMNK, PermutationMNK).
///
///     const TiledMma mma(mma_atom("SM80_16x8x16_F32BF16BF16F32_TN"), parse_layout("(2,2,1)"), {1, 2, 1});
///     mma.tile();                    // 32 x 32 x 16
///     mma.layout_tv(Operand::b);     // (thread, value) → (n, k) of the 32 x 16 tile
class TiledMma {
public:
    /// `warps` is a layout of rank 3: (m, n, k) → warp (for wgmma: warpgroup). `permutation` tiles M, N and K before
    /// the atoms do. A mode without a layout is as long as the warps' atoms together. Throws LayoutError if the warps
    /// are not of rank 3 or not numbered 0, 1, 2 …, if the atoms of all warps do not divide the permutation, or for
    /// more than 1024 threads or 65536 elements along a mode.
    TiledMma(MmaAtom atom, Layout warps, const std::array<Tiler, 3>& permutation = {});
    /// Every warp repeats its atoms this many times along M, N and K: CUTLASS 3.0's ValLayoutMNK.
    TiledMma(const MmaAtom& atom, const Layout& warps, TileShape repetitions);

    [[nodiscard]] const MmaAtom& atom() const { return atom_; }
    [[nodiscard]] const Layout& warps() const { return warps_; }
    [[nodiscard]] TileShape tile() const;
    [[nodiscard]] int threads() const { return static_cast<int>(threads_vmnk_.size()); }

    /// (ThrV,ThrM,ThrN,ThrK) → thread.
    [[nodiscard]] const Layout& threads_vmnk() const { return threads_vmnk_; }

    /// (thread, value) → the operand's element in the tile. Threads that need the same elements share them (stride 0).
    [[nodiscard]] TvLayout layout_tv(Operand operand) const;

    /// The operand's tensor, (M,K), (N,K) or (M,N), divided among threads: ((ThrV,(ThrM,ThrK)),(FrgV,(RestM,RestK))).
    /// Modes that the tile does not divide are rounded up.
    [[nodiscard]] Layout thread_fragments(Operand operand, const Layout& tensor) const;

    /// A thread's part of the operand's tensor, (FrgV,RestM,RestK): CuTe's partition_A, _B and _C. The offset is that
    /// of its first element.
    [[nodiscard]] Slice partition(Operand operand, const Layout& tensor, int thread) const;

private:
    [[nodiscard]] const Layout& permutation(int mode) const { return permutation_[static_cast<std::size_t>(mode)]; }

    MmaAtom atom_;
    Layout warps_;
    std::array<Layout, 3> permutation_;
    Layout threads_vmnk_;
};

}  // namespace jitgemm
