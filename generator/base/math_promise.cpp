#include "generator/base/math_promise.hpp"

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr std::string_view kOfAnySize = "The last term matters for elements below 2^-110.";

constexpr std::array<MathPromise, 5> kPromises{{
    {.math = Math::f16x3,
     .relative = 0x1p-20,
     .per_k = 0x1p-30,
     .largest = 0x1p-38,
     .bound = "(2^-20 + K*2^-30)*S + 2^-38*K*max_a*max_b",
     .limits =
         "The last term matters if an element 2^18 times as large as those that decide the result meets only zeros."},
    {.math = Math::bf16x6,
     .relative = 0x1p-20,
     .per_k = 0x1p-30,
     .tiny = 0x1p-134,
     .bound = "(2^-20 + K*2^-30)*S + 2^-134*K*(max_a + max_b)",
     .limits = kOfAnySize},
    {.math = Math::tf32x3,
     .relative = 0x1p-20,
     .per_k = 0x1p-30,
     .tiny = 0x1p-134,
     .bound = "(2^-20 + K*2^-30)*S + 2^-134*K*(max_a + max_b)",
     .limits = kOfAnySize},
    {.math = Math::bf16x3,
     .relative = 1e-4,
     .in_norm = true,
     .bound = "1e-4*S in norm, at any K",
     .limits = "It is never as accurate as f32."},
    {.math = Math::tf32,
     .relative = 1.001 * 0x1p-10,
     .per_k = 0x1p-24,
     .bound = "(1.001*2^-10 + K*2^-24)*S",
     .limits = "Elements from (2 - 2^-11)*2^127 on count as Inf."},
}};

}  // namespace

std::span<const MathPromise> math_promises() { return kPromises; }

const MathPromise* promise_of(Math math) {
    const auto found = std::ranges::find(kPromises, math, &MathPromise::math);
    return found == kPromises.end() ? nullptr : &*found;
}

}  // namespace jitgemm
