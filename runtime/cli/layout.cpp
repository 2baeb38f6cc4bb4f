#include "runtime/cli/layout.hpp"

#include <array>

namespace jitgemm::cli {
namespace {

// In the order of the documentation: from a calculator to a whole kernel.
constexpr std::array kLayoutVerbs{
    Verb{"eval", "A calculator for layouts: CuTe's notation and functions", declare_layout_eval},
    Verb{"swizzle", "What a swizzle does to the banks of a tile; --suggest finds one", declare_layout_swizzle},
    Verb{"predicate", "Elements in range of every tile where tiling isn't perfect", declare_layout_predicate},
    Verb{"kernel", "A page on one kernel: tiling, swizzle, accumulators, pipeline, rasterization, bank conflicts",
         declare_layout_kernel},
};

}  // namespace

std::span<const Verb> layout_verbs() { return kLayoutVerbs; }

}  // namespace jitgemm::cli
