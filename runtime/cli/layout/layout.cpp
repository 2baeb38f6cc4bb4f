#include "runtime/cli/layout/layout.hpp"

#include <array>

namespace jitgemm::cli {
namespace {

// In the order of the documentation: from a calculator to a whole kernel.
constexpr std::array kLayoutVerbs{
    Verb{"eval", "Evaluate a layout expression in CuTe's notation", declare_layout_eval},
    Verb{"mma", "Show the thread that holds each element of an MMA instruction", declare_layout_mma},
    Verb{"tiled-mma", "Show the same for an instruction that is tiled over warps and repeated",
         declare_layout_tiled_mma},
    Verb{"ldmatrix", "Show how a warp loads its fragments: widths, reasons, lane addresses", declare_layout_ldmatrix},
    Verb{"swizzle", "Show the bank conflicts of a tile with a swizzle; --suggest finds a swizzle",
         declare_layout_swizzle},
    Verb{"copy", "Show how many threads copy a tile: vector width, elements of each thread", declare_layout_copy},
    Verb{"predicate", "Count the elements in range of every tile where tiles do not divide the extents",
         declare_layout_predicate},
    Verb{"kernel", "Draw a page on one kernel: tiling, swizzle, accumulators, pipeline, rasterization, bank conflicts",
         declare_layout_kernel},
};

}  // namespace

std::span<const Verb> layout_verbs() { return kLayoutVerbs; }

}  // namespace jitgemm::cli
