#pragma once

#include "generator/generate.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/verify/verify.hpp"

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
    bool async = true;   ///< copies some operand with cp.async
    bool wgmma = false;  ///< of wgmma_warp_specialized, for sm_90a; else of mma_multistage, for sm_80
};
[[nodiscard]] std::vector<Dump> dumps();
/// Kernels of wgmma_warp_specialized: the emulator alone runs what becomes of them.
[[nodiscard]] std::vector<Dump> wgmma_dumps();

/// A mutation spoils at most this number of dumps, the first ones that have its text.
inline constexpr int kMostDumps = 4;

/// One change of text: `from`, at its `occurrence`-th place (from 0), becomes `to`.
struct Mutation {
    std::string_view name;
    std::string_view from;
    std::string_view to;
    int occurrence = 0;
    int most_dumps = kMostDumps;
    std::string_view only = {};  ///< the one dump it is for; empty: any that has the text
};
[[nodiscard]] std::span<const Mutation> mutations();
/// Those of wgmma_dumps().
[[nodiscard]] std::span<const Mutation> wgmma_mutations();
/// Of them, those that touch memory as they must not, and no memory but the launch's own: a GPU survives them, and
/// verification there has to notice as well.
[[nodiscard]] std::span<const Mutation> memory_mutations();

/// The text with the change made; empty where the mutation is not for this dump.
[[nodiscard]] std::string mutated(const Dump& dump, const std::string& body, const Mutation& mutation);

/// The dump's kernel for an architecture: generated, not yet spoilt.
[[nodiscard]] ParsedDump parsed_dump(const Dump& dump, const Arch& arch);

/// Why this mutant computes what the kernel computes, as fast and without fault; empty when nothing says so.
[[nodiscard]] std::string equivalence(const Dump& dump, const Mutation& mutation);

}  // namespace jitgemm::testing
