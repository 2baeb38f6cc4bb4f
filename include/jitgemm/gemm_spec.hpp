#pragma once

#include "jitgemm/data_type.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Of m, n and k. Extents are 32-bit in kernels, where a tile origin plus a tile must not overflow either.
inline constexpr std::int64_t kLargestExtent = std::numeric_limits<std::int32_t>::max() - 65536;

/// How a matrix lies in memory, in BLAS letters: `row` is `t`, `column` is `n`.
enum class Order : std::uint8_t { row, column };

/// Orders of A and B, in that order. tn (the default): A is M×K with K contiguous, B is K×N with K contiguous,
/// PyTorch's `x @ w.T`. tt is numpy's `a @ b`.
enum class GemmLayout : std::uint8_t { tn, nn, nt, tt };

/// Which launches leave equal bits for equal operands. batch_invariant: those of problems that differ in M alone, too, row by row, whatever
/// the other rows hold, on devices of one class and versions of the library that have the same kernels; the leading dimensions and alignments
/// may differ as well. It costs what splitting K would bring to few rows.
enum class Determinism : std::uint8_t { run_to_run, batch_invariant };

/// What is asked: D (M×N) = alpha · A (M×K) · B (K×N) + beta · C (M×N).
///
/// A zero leading dimension means "packed"; a zero alignment means "what the leading dimension and a 256-byte aligned
/// base give". `resolved()` replaces both by numbers. alpha and beta come with the launch, not with the spec.
struct GemmSpec {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    DataType a = DataType::bf16;
    DataType b = a;                            ///< unless named, A's type: GemmSpec{.a = f16} has a B and a D of f16
    std::optional<DataType> c = std::nullopt;  ///< unset: C is never read, and beta must be 0
    DataType d = default_output(a);
    DataType accumulator = default_accumulator(a);
    GemmLayout layout = GemmLayout::tn;
    Order d_order = Order::row;  ///< order of D and of C
    std::int64_t lda = 0;        ///< leading dimensions, in elements
    std::int64_t ldb = 0;
    std::int64_t ldc = 0;
    std::int64_t ldd = 0;
    int align_a = 0;  ///< bytes every vector of the operand is aligned to: 16, 8, 4, 2 (or 1 for 8-bit types)
    int align_b = 0;
    int align_c = 0;
    int align_d = 0;
    /// No launch that may still run when this one begins writes A, or B: weights, say. Its first tiles may then be fetched before that launch has
    /// ended (programmatic dependent launch).
    bool constant_a = false;
    bool constant_b = false;
    /// C is one row that is added to each row of D, as a bias is (one column, where D is column-major): n (m) elements. Its leading
    /// dimension counts for nothing, and is 0 once resolved: all rows begin at one place.
    bool broadcast_c = false;
    Determinism deterministic = Determinism::run_to_run;  ///< of the choice among kernels; each of them is run_to_run

    friend bool operator==(const GemmSpec&, const GemmSpec&) = default;
};

[[nodiscard]] Order order_a(GemmLayout layout);
[[nodiscard]] Order order_b(GemmLayout layout);
[[nodiscard]] GemmLayout layout_of(Order a, Order b);
[[nodiscard]] std::string_view to_string(GemmLayout layout);  ///< throws SpecError for a number that is none, as
[[nodiscard]] std::string_view to_string(Order order);        ///< this does: "t" or "n"
[[nodiscard]] std::optional<GemmLayout> parse_gemm_layout(std::string_view name);
[[nodiscard]] std::optional<Order> parse_order(std::string_view name);

/// Every rule the spec breaks, each with its numbers; empty when it is sound. Never throws.
[[nodiscard]] std::vector<std::string> problems(const GemmSpec& spec);

/// The same spec with leading dimensions and alignments as numbers. Throws SpecError with all problems().
[[nodiscard]] GemmSpec resolved(const GemmSpec& spec);

/// The equivalent spec without lines of one element. A matrix of one row whose columns lie side by side is one line in
/// memory: it gets the other order, and its length as its leading dimension. A matrix of one column alike. Takes and
/// returns a resolved spec. With Determinism::batch_invariant nothing changes, and a D beside a C does not change either.
[[nodiscard]] GemmSpec as_lines(const GemmSpec& spec);

/// The equivalent spec whose D is row-major, of as_lines(spec): a column-major D is the row-major D^T = B^T · A^T, so A and B, m and n trade
/// places. Takes and returns a resolved spec. Where as_lines(spec) has a column-major D, a launch must trade the A and B pointers as well.
[[nodiscard]] GemmSpec with_row_major_d(const GemmSpec& spec);

/// Elements from the first to one past the last of a matrix as stored: (rows or columns − 1) · ld + run; 0 when empty.
struct OperandExtents {
    std::int64_t a, b, c, d;
};
[[nodiscard]] OperandExtents operand_extents(const GemmSpec& resolved_spec);

/// One line that parse_gemm_spec reads back: "gemm-v1 m=.. n=.. k=.. a=bf16 ... align-d=16". Names every field of the first format, resolved
/// or not. Where a field of the second format is not as usual, the text is "gemm-v2" and names that field, too.
[[nodiscard]] std::string to_string(const GemmSpec& spec);

/// Reads to_string's line of either format, any key order, other keys than m, n and k at their defaults where
/// they are missing (types by A's). Throws SpecError naming the offending word. Keys of earlier versions that no kernel
/// served (batch, bias, activation, residual, scale-a ...) are accepted with a neutral value: batch=1, bias=none.
[[nodiscard]] GemmSpec parse_gemm_spec(std::string_view text);

/// Reads a shape line, "bf16 tn 4096 4096 4096": type of A and B, layout, m, n, k; D and the accumulator take the type's
/// defaults. Throws SpecError naming the offending word.
[[nodiscard]] GemmSpec parse_shape_line(std::string_view line);

/// The shape line of a spec, "bf16 tn 4096 4096 4096"; two types of A and B as "e4m3*e5m2". What else a spec may say is left out.
[[nodiscard]] std::string shape_line(const GemmSpec& spec);
/// Its first word.
[[nodiscard]] std::string operand_types(const GemmSpec& spec);

/// The spec for A and B of one type, with that type's default accumulator and D.
[[nodiscard]] GemmSpec gemm_spec_of_type(DataType type);

/// Multiply-adds times two; what TFLOP/s figures divide by.
[[nodiscard]] double flops(const GemmSpec& spec);

}  // namespace jitgemm

template <>
struct std::hash<jitgemm::GemmSpec> {
    std::size_t operator()(const jitgemm::GemmSpec& spec) const noexcept;
};
