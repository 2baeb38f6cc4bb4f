#include "runtime/cli/layout.hpp"

#include <vector>

namespace jitgemm::cli {
namespace {

/// In the order of the documentation: from a calculator to a whole kernel.
const std::vector<Verb> kLayoutVerbs{
    {"eval", "A calculator for layouts: CuTe's notation and functions", declare_layout_eval},
    {"swizzle", "What a swizzle does to the banks of a tile; --suggest finds one", declare_layout_swizzle},
    {"predicate", "Elements in range of every tile where tiling isn't perfect", declare_layout_predicate},
};

}  // namespace

std::span<const Verb> layout_verbs() { return kLayoutVerbs; }

}  // namespace jitgemm::cli
