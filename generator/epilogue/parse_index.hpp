#pragma once

#include "generator/epilogue/index.hpp"
#include "generator/epilogue/scan.hpp"

#include <span>
#include <string_view>

namespace jitgemm {

/// The index of the tokens between two brackets. What is wrong with it is a problem at its place; `source` is what a
/// message calls it: "bias[k]". Without a value where it was wrong.
[[nodiscard]] std::optional<EpilogueIndex> parse_index(std::span<const Token> tokens, std::string_view source,
                                                       TextPosition at, EpilogueProblems& problems);

}  // namespace jitgemm
