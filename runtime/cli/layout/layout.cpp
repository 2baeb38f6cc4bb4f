#include "runtime/cli/layout/layout.hpp"

#include <array>

namespace jitgemm::cli {
namespace {

// In the order of the documentation: from a calculator to a whole kernel.
constexpr std::array kLayoutVerbs{
    Verb{"eval", "A calculator for layouts: CuTe's notation and functions", declare_layout_eval},
    Verb{"mma", "Which thread holds which element of an MMA instruction", declare_layout_mma},
    Verb{"tiled-mma", "The same for an instruction tiled over warps and repeated", declare_layout_tiled_mma},
    Verb{"ldmatrix", "How a warp loads its fragments: widths, reasons, lane addresses", declare_layout_ldmatrix},
    Verb{"swizzle", "What a swizzle does to the banks of a tile; --suggest finds one", declare_layout_swizzle},
    Verb{"copy", "A tile copied by many threads: vector width, who takes what", declare_layout_copy},
    Verb{"predicate", "Elements in range of every tile where tiling isn't perfect", declare_layout_predicate},
    Verb{"kernel", "A page on one kernel: tiling, swizzle, accumulators, pipeline, rasterization, bank conflicts",
         declare_layout_kernel},
};

}  // namespace

std::span<const Verb> layout_verbs() { return kLayoutVerbs; }

}  // namespace jitgemm::cli
