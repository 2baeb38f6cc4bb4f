#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/epilogue/epilogue.hpp"
#include "jitgemm/data_type.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jitgemm {

/// \file The text of a pass: a pointwise kernel behind a product that has stored its sums in D's type or in s32. This
/// is how a user of a library without the epilogue gets it.

/// How a matrix of a pass lies: elements from one line to the next, and bytes that divide each line's address.
struct PassMatrix {
    std::int64_t pitch = 0;
    int alignment = 16;
};

struct PassProblem {
    Epilogue epilogue;
    DataType d = DataType::bf16;
    Order order = Order::row;  ///< of D, the sums and all matrices
    std::int64_t m = 0;
    std::int64_t n = 0;    ///< of the product; D has half as many columns where the epilogue makes one of two
    PassMatrix sums = {};  ///< they may be D itself
    DataType sums_type = DataType::bf16;
    std::map<std::string, PassMatrix, std::less<>> matrices = {};  ///< D as "d", and the operands that are matrices

    [[nodiscard]] bool has_pairs() const { return epilogue.parts().pairs != EpiloguePairs::none; }
    [[nodiscard]] bool has_own_sums() const { return has_pairs() || sums_type != d; }
    [[nodiscard]] std::int64_t columns() const { return has_pairs() ? n / 2 : n; }
    [[nodiscard]] std::int64_t lines() const { return order == Order::row ? m : columns(); }
    [[nodiscard]] std::int64_t run() const { return order == Order::row ? columns() : m; }
};

/// The pass for a spec with a text. It works in place, on the sums in D. With pairs or sums in s32, they are a packed
/// matrix of their own.
[[nodiscard]] PassProblem pass_problem(const GemmSpec& resolved_spec);

/// Why no pass computes it; empty if one does.
[[nodiscard]] std::string unserved_pass(const PassProblem& problem);

/// A member of the kernel's argument struct, in their order: pointers, then scalars.
struct PassMember {
    std::string name;
    bool is_scalar = false;
};
[[nodiscard]] std::vector<PassMember> pass_members(const PassProblem& problem);

inline constexpr int kPassThreads = 256;

/// The number of elements that a thread makes at a time: 16 bytes of D, or fewer if its lines don't allow 16.
[[nodiscard]] int pass_vector(const PassProblem& problem);

/// The kernel. Its sizes are constants. Throws Error if no pass computes the problem.
[[nodiscard]] KernelText pass_kernel(const PassProblem& problem, const Arch& arch);

}  // namespace jitgemm
