#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm::cli {

/// A range of m, both ends in it.
struct RowRange {
    std::int64_t first = 1;
    std::int64_t last = 1;
};
/// "1:8192", or one number. Throws SpecError for anything else.
[[nodiscard]] RowRange parse_rows(std::string_view text);

/// A problem whose m is a range: its text with the first m, and the range.
struct RangedProblem {
    std::string text;
    RowRange rows;
};
/// Reads "bf16 tn m=1:8192 n=6144 k=4096", the same without names, and "gemm-v1 m=1:8192 ...". Throws SpecError where
/// n or k is a range, or m has a step.
[[nodiscard]] RangedProblem take_rows(std::string_view text);

}  // namespace jitgemm::cli
