#pragma once

#include "generator/epilogue/graph.hpp"
#include "generator/epilogue/problem.hpp"

namespace jitgemm {

/// The same with "acc * scale_a[m,k/128] * scale_b[n/128,k/128]" as one node, acc: the mainloop multiplies products of
/// a block of K with the block's scales before it adds them. Notes a problem at `first` if a scale stands elsewhere.
/// The parts are in order of use.
[[nodiscard]] EpilogueParts with_scaled_products(EpilogueParts parts, TextPosition first, EpilogueProblems& problems);

}  // namespace jitgemm
