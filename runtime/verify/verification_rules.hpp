#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstdint>

namespace jitgemm {

/// The exact inputs for a problem.
struct IntegerInputs {
    bool exact = false;      ///< every order of summation gives the once-rounded result; else the error bound applies
    int range = 1;           ///< A and B hold integers in -range .. range without 0
    std::int64_t group = 1;  ///< above 1: A holds one ±1 in each `group` columns of a row and zeros elsewhere
    int range_c = 8;         ///< of C
    int range_scale = 1;     ///< of scales of blocks of K
    bool fractions = false;  ///< integers of A or B have a fraction of 2^-11 beside them: the lower part of f32
};

/// The rule, for Σ = the largest possible sum of absolute products of a row and a column:
///
///   limit: 2048 where the accumulator is f16 (all integers up to there are f16 values), 2^13 for fast sums of
///          fp8 (Hopper's fp8 tensor cores keep 13 fraction bits of a sum), 2^24 for f32 accumulators and for
///          s32, which an epilogue reads as f32, 2^31 - 1 for s32 that D holds as they are. Promoted sums of fp8
///          count as f32: 128 products of integers up to 8 stay within 2^13. 8000 for f32 in parts: products are
///          multiples of 2^-11 there, and a part larger than those of integers.
///   exact: Σ ≤ limit, and |alpha|·Σ + |beta|·range_c ≤ limit · unit, where alpha and beta are 0 or powers of two and
///          unit is the smallest of 1, |alpha| and |beta|. Every number that is added is a multiple of it.
///
/// Scales of blocks of K are integers, too, and Σ has their largest products as factors.
///
/// Then every partial sum in any order, product with alpha and addition is exact, and rounding to D is the only one.
/// (D's rounding is checked as well: a bf16 D has only 8 bits for sums of up to 24.) The largest range up to 8 (of s8
/// up to 128, stored as 127) that keeps Σ = K·range² small enough is taken; where even 1 is too large, A becomes
/// sparse, which bounds Σ by ceil(K / group). An f16 D must not overflow, or infinities would hide what is wrong:
/// |alpha|·Σ / sqrt(K) ≤ 2^13 keeps six standard deviations of random sums within its range.
[[nodiscard]] IntegerInputs integer_inputs(const GemmSpec& resolved_spec, float alpha, float beta);

/// How far D may be off for inputs that are not exact:
///
///   sum_unit · (|alpha| · Σ|a·b| + |beta·c|) + output_unit · |expected| + output_floor
struct ErrorBound {
    double sum_unit = 0;
    double output_unit = 0;
    double output_floor = 0;
};

/// sum_unit = (sqrt(K) / 2 + 16) · u, with u the error of one step as a part of what is summed:
///
///   f32 accumulators   2^-23: tensor cores cut the aligned products and the sum toward zero instead of rounding
///                      (measured: 25 fraction bits of the largest term are kept, then 24 significant bits of the
///                      sum); a chain of FMAs rounds to 2^-24.
///   f16 accumulators   2^-11: a rounding to f16 per instruction.
///   fp8 operands       2^-12: Hopper keeps 13 fraction bits of the largest of 32 products and the sum. With promoted
///                      sums this holds for 128 of K, and u of f32 accumulators for all of it; both are added.
///
/// In parts, an element is off by 2^-22 (f16x3), 2^-17 (bf16x3), 2^-23 (tf32x3) or not at all (bf16x6). Products that
/// are left out are 2^-22, 2^-17, 2^-22 or 2^-24 of all. So 2^-20, 2^-15, 2^-21 or 2^-24 is added. As tf32, each of two
/// elements is off by 2^-11.
///
/// Sums of s8 are exact: sum_unit is 2^-22, for the steps in f32 that follow.
///
/// The bound of Higham (Accuracy and Stability of Numerical Algorithms, section 3.1), gamma_K = K·u / (1 - K·u), holds
/// for any inputs; sqrt(K) / 2 + 16 exceeds it up to K = 16. Beyond, gamma_K would hide whole missing products: it
/// assumes that every partial sum is as large as Σ|a·b|. Of K products of standard normal numbers partial sums are of
/// the order sqrt(K) while Σ|a·b| is 0.64·K, so even errors all of one sign (cut, not rounded) stay near
/// 0.1 · sqrt(K) · u · Σ|a·b| and below twice that in a six-sigma element (verification_rules_test.cpp simulates them);
/// errors of rounding stay far below (Higham and Mary, SIAM J. Sci. Comput. 41(5), 2019).
///
/// The diagonal of a symmetric product sums squares, and partial sums are as large as Σ|a·b|. Each step of 8 of K or
/// more may then cut off u of it: sum_unit = (K / 8 + 16) · u. (An H200 cut 2.4e-5 off at K = 8192.)
///
/// The rest is one rounding to D: half a unit of its last place, or half of its smallest step.
[[nodiscard]] ErrorBound error_bound(const GemmSpec& resolved_spec);

}  // namespace jitgemm
