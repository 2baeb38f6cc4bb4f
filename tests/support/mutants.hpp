#pragma once

#include "generator/gemm_spec.hpp"
#include "runtime/verify.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::testing {

/// A correct kernel whose text is spoilt, and a problem with residues that runs through all of it.
struct Dump {
    std::string_view name;
    GemmSpec spec;
    std::string_view parameters;
    VerifyOptions options;
    bool async = true;  ///< copies some operand with cp.async
};
[[nodiscard]] std::vector<Dump> dumps();

/// One change of text: `from`, at its `occurrence`-th place (from 0), becomes `to`.
struct Mutation {
    std::string_view name;
    std::string_view from;
    std::string_view to;
    int occurrence = 0;
};
/// Of the dumps that have a mutation's text the first so many are spoilt.
inline constexpr int kMostDumps = 4;
[[nodiscard]] std::span<const Mutation> mutations();

/// Why this mutant computes what the kernel computes, as fast and without fault; empty when nothing says so.
[[nodiscard]] std::string equivalence(const Dump& dump, const Mutation& mutation);

}  // namespace jitgemm::testing
