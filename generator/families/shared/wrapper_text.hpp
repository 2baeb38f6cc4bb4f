#pragma once

#include "generator/layout/copy_atom.hpp"
#include "generator/layout/mma_atom.hpp"
#include "generator/layout/wgmma_atom.hpp"
#include "generator/layout/wmma_atom.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// `mma(Accumulator* c, const unsigned* a, const unsigned* b)`: one instruction of the table as an inline function.
[[nodiscard]] std::string mma_wrapper(const MmaAtom& atom);

/// `ldmatrix_a(unsigned* r, unsigned address)` (or _b): x registers from the rows at shared-memory address `address`.
[[nodiscard]] std::string ldmatrix_wrapper(Operand operand, int x, bool trans);

/// `cp_async_commit()` and `cp_async_wait<kPending>()`: groups of copies.
[[nodiscard]] std::string cp_async_groups();

/// `stmatrix(unsigned address, const unsigned (&r)[x])` for each width x, or nothing. `name` stands for stmatrix.
[[nodiscard]] std::string stmatrix_wrappers(const std::vector<int>& widths, bool trans,
                                            std::string_view name = "stmatrix");

/// kRegistersA, kRegistersB and kRegistersC of a fragment, and the wmma instructions as inline functions:
/// load_fragment_a, load_fragment_b, mma, store_fragment. K-major operands lie in shared memory with K contiguous.
[[nodiscard]] std::string wmma_wrappers(const WmmaAtom& atom, bool a_k_major, bool b_k_major);

/// `wgmma(Accumulator* c, unsigned long long a, unsigned long long b, bool add)`: one instruction on two operands in
/// shared memory, given by their matrix descriptors. If the form takes A from registers, `a` is `const unsigned* a`, a
/// fragment.
[[nodiscard]] std::string wgmma_wrapper(const WgmmaForm& form, bool a_k_major, bool b_k_major);

}  // namespace jitgemm
