#pragma once

#include "generator/layout/mma_atom.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

inline constexpr int kMatrixRows = 8;  ///< of a matrix that ldmatrix loads
inline constexpr int kHalfBits = 16;   ///< of its elements

/// One ldmatrix instruction: `x` 8×8 matrices of 16-bit elements from shared memory to the warp's registers.
struct LdmatrixAtom {
    int x;  ///< 1, 2 or 4
    bool trans;
    std::string_view ptx_name;   ///< "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
    std::string_view cute_name;  ///< "SM75_U32x4_LDSM_N"
    int first_compute_capability;
};
[[nodiscard]] std::span<const LdmatrixAtom> ldmatrix_table();
/// The row of that width, or null.
[[nodiscard]] const LdmatrixAtom* find_ldmatrix(int x, bool trans);

/// One cp.async instruction: a few bytes from global to shared memory, around the registers.
struct CpAsyncAtom {
    int bytes;                   ///< 4, 8 or 16; source and destination are aligned to it
    bool through_l1;             ///< .ca caches in L1 too, .cg in L2 alone
    std::string_view ptx_name;   ///< "cp.async.cg.shared.global"
    std::string_view cute_name;  ///< "SM80_CP_ASYNC_CACHEGLOBAL"
    int first_compute_capability;
};
[[nodiscard]] std::span<const CpAsyncAtom> cp_async_table();
/// The widest cp.async that an alignment in bytes allows; it bypasses L1 if there is a choice. Null below 4 bytes.
[[nodiscard]] const CpAsyncAtom* widest_cp_async(int alignment);

/// Whether shared memory, filled in the order of global memory, holds an operand with K contiguous.
[[nodiscard]] bool is_k_major(Operand operand, GemmLayout layout);

/// The loads of one operand's fragments from shared memory. `trans` says that shared memory holds the operand M- or
/// N-major. Swizzle and padding do not matter.
struct LdmatrixChoice {
    int x = 1;
    bool trans = false;
    int matrices = 0;      ///< 8×8 matrices of the operand in the warp-level tile
    int instructions = 0;  ///< ldmatrix instructions a warp issues for them
    int k_blocks = 1;      ///< k-blocks of the warp-level tile
    friend bool operator==(const LdmatrixChoice&, const LdmatrixChoice&) = default;
};

/// An operand's warp-level tile, M or N by K, as ldmatrix sees it: matrices of 8 rows of 16 bytes.
struct WarpOperand {
    Operand operand;
    int rows;
    int columns;
    int bits;  ///< of an element

    [[nodiscard]] int matrices() const;
    /// Why instructions of x matrices cannot load the tile, with both counts; empty if they can.
    [[nodiscard]] std::string violation(int x) const;
};

/// Matrices of an operand's warp-level tile: those of the instruction times its repetitions along M, N and K. An
/// element has `bits`. A matrix has 8 rows of 8 elements of 16 bits, 16 of 8 bits.
[[nodiscard]] int matrices_8x8(Operand operand, TileShape mma, TileShape repetitions, int bits);

/// Why ldmatrix of this width cannot load the operand's warp-level tile, with both counts; empty if it can.
[[nodiscard]] std::vector<std::string> ldmatrix_violations(Operand operand, int x, TileShape mma, TileShape repetitions,
                                                           int bits);

/// The widest of 4, 2, 1 that divides the number of matrices.
[[nodiscard]] int widest_ldmatrix(int matrices);

/// The first element of the 8×8 matrix that fills a register, in the warp-level tile: (m, k) of A, (n, k) of B.
/// `matrix` counts the fragment's registers in the kernel's order: those of one instruction first, then repetitions
/// along M or N, then along K.
[[nodiscard]] Coordinate matrix_origin(const MmaAtom& atom, Operand operand, TileShape repetitions, int matrix);

/// The first of the 8 elements in the 16-byte row whose address a lane supplies to the `instruction`-th ldmatrix of the
/// warp-level tile. The row runs along k without trans, and along m or n with it. Lanes from 8·x on repeat the first
/// ones: the hardware ignores their addresses, which must still be valid.
[[nodiscard]] Coordinate ldmatrix_lane_row(const MmaAtom& atom, Operand operand, TileShape repetitions,
                                           const LdmatrixChoice& choice, int instruction, int lane);

/// The first element of the row of a matrix whose address a lane supplies.
[[nodiscard]] Coordinate matrix_row(Coordinate origin, bool trans, int lane);

}  // namespace jitgemm
