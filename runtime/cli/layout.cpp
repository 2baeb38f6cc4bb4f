#include "runtime/cli/layout.hpp"

#include <vector>

namespace jitgemm::cli {
namespace {

/// In the order of the documentation: from a calculator to a whole kernel.
const std::vector<Verb> kLayoutVerbs{
    {"eval", "A calculator for layouts: CuTe's notation and functions", declare_layout_eval},
    {"mma", "Which thread holds which element of an MMA instruction", declare_layout_mma},
    {"tiled-mma", "The same for an instruction tiled over warps and repeated", declare_layout_tiled_mma},
    {"ldmatrix", "How a warp loads its fragments: widths, reasons, lane addresses", declare_layout_ldmatrix},
    {"swizzle", "What a swizzle does to the banks of a tile; --suggest finds one", declare_layout_swizzle},
    {"copy", "A tile copied by many threads: vector width, who takes what", declare_layout_copy},
    {"predicate", "Elements in range of every tile where tiling isn't perfect", declare_layout_predicate},
};

}  // namespace

std::span<const Verb> layout_verbs() { return kLayoutVerbs; }

}  // namespace jitgemm::cli
