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

/// A vector that the epilogue adds: per row, M elements of which every element of a row of D gets its row's (cuBLASLt's
/// CUBLASLT_EPILOGUE_BIAS, for a column-major D); per column, N of them. One for all problems of a batch.
enum class Bias : std::uint8_t { none, per_row, per_column };
/// Applied to each element of D. gelu is the tanh approximation, silu x · sigmoid(x).
enum class Activation : std::uint8_t { none, relu, gelu, silu };
/// What one f32 scale factor covers: all problems' matrices; a row of A or a column of B; or kScaleBlock values of k of these, whose factors lie one
/// behind the other. Each A of a batch brings its factors, packed one set behind the other; where all have one A (batch_stride_a is 0) they have one set.
enum class ScaleFactors : std::uint8_t { none, per_tensor, per_vector, per_block };
inline constexpr std::int64_t kScaleBlock = 128;

/// What happens to the sums on their way to D, beside alpha and beta:
///
///     D = scale_d · (activation(alpha · scale_a · scale_b · A · B + beta · C + bias) + residual)
///
/// in f32, rounded once to D's type. Vectors, residual and factors come with the launch, aligned to 16 bytes (the residual in elements as
/// D is). As in BLAS, A, B and their factors are not read when alpha is 0, nor C when beta is 0. No kernel family has any of it yet.
struct GemmEpilogue {
    Bias bias = Bias::none;
    DataType bias_type = DataType::f32;
    Activation activation = Activation::none;
    std::optional<DataType> residual = std::nullopt;  ///< type of an M×N matrix that lies as D: order, ldd, stride
    ScaleFactors scale_a = ScaleFactors::none;
    ScaleFactors scale_b = ScaleFactors::none;
    ScaleFactors scale_d = ScaleFactors::none;  ///< per_tensor at most

    friend bool operator==(const GemmEpilogue&, const GemmEpilogue&) = default;
};

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
    std::int64_t batch = 1;  ///< problems of these sizes; no kernel family multiplies more than one at a time yet
    /// Elements from one A to the next, 0 for the same A in all; unset: whole rows (columns), one A behind the other. No two share a part: a stride
    /// is at least what an A takes, or at least a row (column) where the rows of all lie side by side in a leading dimension. Alignments divide it.
    std::optional<std::int64_t> batch_stride_a = std::nullopt;
    std::optional<std::int64_t> batch_stride_b = std::nullopt;
    std::optional<std::int64_t> batch_stride_c = std::nullopt;
    std::optional<std::int64_t> batch_stride_d = std::nullopt;  ///< never 0
    GemmEpilogue epilogue = {};
    /// No launch that may still run when this one begins writes A, or B: weights, say. Its first tiles may then be fetched before that launch has
    /// ended (programmatic dependent launch).
    bool constant_a = false;
    bool constant_b = false;
    /// C is one row that is added to each row of D, as a bias is (one column, where D is column-major): n (m) elements, for each problem of a
    /// batch. Its leading dimension counts for nothing, and is 0 once resolved: all rows begin at one place.
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

/// The equivalent spec without lines of one element: a matrix of one row whose columns lie side by side (of one column whose rows do) is that
/// row (column) in memory, so its order is the other one and its leading dimension what it holds. Takes and returns a resolved spec. Of a
/// batch and of Determinism::batch_invariant all stay as they are, and so does a D beside a C.
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
/// or not; a spec with a batch or an epilogue is "gemm-v2" and names those of its fields, too, that are not as usual.
[[nodiscard]] std::string to_string(const GemmSpec& spec);

/// Reads to_string's line of either format, any key order, other keys than m, n and k at their defaults where
/// they are missing (types by A's). Throws SpecError naming the offending word.
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

/// Multiply-adds of all problems times two; what TFLOP/s figures divide by.
[[nodiscard]] double flops(const GemmSpec& spec);

}  // namespace jitgemm

template <>
struct std::hash<jitgemm::GemmSpec> {
    std::size_t operator()(const jitgemm::GemmSpec& spec) const noexcept;
};
