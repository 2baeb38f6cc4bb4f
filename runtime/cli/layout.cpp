#include "runtime/cli/layout.hpp"

#include <vector>

namespace jitgemm::cli {
namespace {

/// In the order of the documentation: from a calculator to a whole kernel.
const std::vector<Verb> kLayoutVerbs{};

}  // namespace

std::span<const Verb> layout_verbs() { return kLayoutVerbs; }

}  // namespace jitgemm::cli
