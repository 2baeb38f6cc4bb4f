#pragma once

#include "generator/epilogue/epilogue.hpp"

#include <string>
#include <vector>

namespace jitgemm {

/// CUDA text of an epilogue: the functions that it calls, `struct Results` with the values that are stored of one
/// element, and `finish`, which makes them of a sum of products and of the operands' elements. Scalars of the launch
/// are members of `args`. A guarded operand is 0 where it is not read. Of a pair, acc and operands with a column of
/// each have two parameters: acc_0 and acc_1.
///
/// Where blocks of D have reductions, `struct Reduced` and `reduced` come first: they make the values that these go
/// over. `finish` then has each result that is read back as a parameter.
[[nodiscard]] std::string render_epilogue(const Epilogue& epilogue);

/// The functions that an epilogue calls, each behind those that it needs.
[[nodiscard]] std::string render_functions(const EpilogueParts& parts);

/// The parameters of `finish` behind `args`, without their types.
[[nodiscard]] std::vector<std::string> finish_parameters(const EpilogueParts& parts);

}  // namespace jitgemm
