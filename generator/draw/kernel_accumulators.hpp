#pragma once

#include "generator/draw/picture.hpp"
#include "generator/families/family.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// The lane that holds an element of D while it is summed up, for warp 0's tile. The tiles of all warps are alike.
struct KernelAccumulators {
    std::string atom;  ///< CuTe's name of the mma instruction
    TileShape warp;
    TileShape mma;
    int registers = 0;  ///< of a thread, for the warp tile
    /// Lane and accumulator register of each element of the atom at the upper left, row by row.
    struct Holder {
        int lane = 0;
        int value = 0;  ///< index in the atom's thread-value layout
        int accumulator_register = 0;
    };
    std::vector<Holder> atom_holders;
    /// First accumulator register of each atom of the warp tile, row by row. It is the same in every lane.
    std::vector<int> first_register;
    int registers_per_atom = 0;
};

[[nodiscard]] KernelAccumulators kernel_accumulators(const Problem& problem, const KernelConfig& config,
                                                     const KernelAnatomy& anatomy);

/// The atom with lane and value in each cell.
[[nodiscard]] Grid accumulator_grid(const KernelAccumulators& accumulators);
/// The warp tile's atoms with their registers, and the atom beside it.
[[nodiscard]] std::string accumulators_html(const KernelAccumulators& accumulators);

}  // namespace jitgemm
