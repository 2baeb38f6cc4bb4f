#pragma once

#include "generator/layout/copy_atom.hpp"
#include "generator/layout/tiled_mma.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// One of x1, x2 and x4. The operand's place in shared memory decides whether it transposes.
struct LdmatrixOption {
    const LdmatrixAtom* atom = nullptr;
    bool legal = false;
    int instructions = 0;  ///< of a warp for its tile; 0 if it is not legal
    std::string reason;
};

/// The loads of a warp of a tiled MMA: ldmatrix reads the fragments of an operand from shared memory.
struct LdmatrixPlan {
    bool trans = false;  ///< shared memory holds the operand M- or N-major
    int matrices = 0;    ///< of 8 rows of 16 bytes, one per register
    int values_per_thread = 0;
    std::vector<Coordinate> origins = {};      ///< the matrix that fills each register of the first warp
    std::vector<LdmatrixOption> options = {};  ///< x1, x2, x4

    [[nodiscard]] const LdmatrixOption* best() const;  ///< the widest legal one, or null

    /// The first of the elements in the 16-byte row whose address a lane of the first warp supplies. Lanes from 8·x on
    /// repeat the first ones.
    [[nodiscard]] Coordinate lane_row(const LdmatrixOption& option, int instruction, int lane) const;
};

/// The plan follows from the thread-value layout of the first warp. An option is legal if the hardware puts every
/// element into the register in which the instruction expects it. Throws LayoutError for the accumulator.
[[nodiscard]] LdmatrixPlan plan_ldmatrix(const TiledMma& mma, Operand operand, bool k_major);

}  // namespace jitgemm
