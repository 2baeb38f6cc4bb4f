#pragma once

#include "generator/layout/copy_atom.hpp"
#include "generator/layout/tiled_mma.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// One of x1, x2 and x4. Whether it transposes follows from how shared memory holds the operand.
struct LdmatrixOption {
    const LdmatrixAtom* atom = nullptr;
    bool legal = false;
    int instructions = 0;  ///< that a warp issues for its tile; 0 where it is not legal
    std::string reason;
};

/// How a warp of a tiled MMA loads its fragments of an operand from shared memory with ldmatrix.
struct LdmatrixPlan {
    bool trans = false;  ///< shared memory holds the operand M- or N-major
    int matrices = 0;    ///< of 8 rows of 16 bytes, one per register
    int values_per_thread = 0;
    std::vector<Coordinate> origins = {};      ///< of the matrix that fills each register of the first warp
    std::vector<LdmatrixOption> options = {};  ///< x1, x2, x4

    [[nodiscard]] const LdmatrixOption* best() const;  ///< the widest legal one, or null

    /// The first of the elements in the 16-byte row whose address a lane of the first warp supplies. Lanes from 8·x on
    /// repeat the first ones.
    [[nodiscard]] Coordinate lane_row(const LdmatrixOption& option, int instruction, int lane) const;
};

/// Derived from the thread-value layout of the first warp: an option is legal where the hardware puts every element
/// into the register that the instruction wants it in. Throws LayoutError for the accumulator.
[[nodiscard]] LdmatrixPlan plan_ldmatrix(const TiledMma& mma, Operand operand, bool k_major);

}  // namespace jitgemm
