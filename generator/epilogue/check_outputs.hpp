#pragma once

#include "generator/epilogue/check_values.hpp"

namespace jitgemm {

/// Whether an assignment's right side is a reduction: sum(x), or one with a factor behind it.
[[nodiscard]] bool is_reduction(const Expression& written);

/// Takes an assignment to d, or to a name with an index, into the outputs.
void check_output(const Statement& statement, EpilogueSymbols& symbols, ValueChecker& values);

/// Notes outputs and operands whose columns don't fit a text with pairs, or one without.
void check_pairs(const EpilogueSymbols& symbols);

}  // namespace jitgemm
