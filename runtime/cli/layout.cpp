#include "runtime/cli/layout.hpp"

#include <array>

namespace jitgemm::cli {
namespace {

// In the order of the documentation: from a calculator to a whole kernel.
constexpr std::array kLayoutVerbs{
    Verb{"kernel", "A page on one kernel: tiling, swizzle, accumulators, pipeline, rasterization, bank conflicts",
         declare_layout_kernel},
};

}  // namespace

std::span<const Verb> layout_verbs() { return kLayoutVerbs; }

}  // namespace jitgemm::cli
