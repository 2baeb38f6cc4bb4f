#pragma once

#include "generator/layout/tiled_mma.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::testing {

/// Lines of tests/data/FILE that begin with that word, the word left out.
[[nodiscard]] std::vector<std::string> cute_lines(const std::string& file, std::string_view kind);

/// "ATOM AtomLayoutMNK PermutationMNK", the last such as (32,(8,2,2):(1,16,8),_).
[[nodiscard]] TiledMma read_tiled_mma(std::istream& words);

}  // namespace jitgemm::testing
