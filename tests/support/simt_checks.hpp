#pragma once

#include "runtime/context/context_state.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_variants.hpp"

#include <vector>

/// \file What the tests of the SIMT families on a GPU and on the emulator share.

namespace jitgemm::testing {

/// Every variant in one layout over the sizes; types of A and B, C and its type, alpha, beta and D's order change from
/// one to the next, so that together all of them meet. CHECKs that verify() finds each right.
void check_simt_variants(Context& context, GemmLayout layout, const std::vector<Sizes>& sizes,
                         Share share = Share::all);

/// Every family, its config chosen by the heuristic.
void check_simt_families(Context& context, const GemmSpec& spec, const VerifyOptions& options = {});

}  // namespace jitgemm::testing
