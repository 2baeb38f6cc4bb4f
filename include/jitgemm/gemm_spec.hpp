#pragma once

#include "jitgemm/data_type.hpp"
#include "jitgemm/epilogue.hpp"
#include "jitgemm/rare.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The largest m, n or k. Kernels use 32-bit extents, and the origin of a tile plus its size must not overflow.
inline constexpr std::int64_t kLargestExtent = std::numeric_limits<std::int32_t>::max() - 65536;

/// Order of a matrix in memory. The BLAS letter of `row` is `t`, that of `column` is `n`.
enum class Order : std::uint8_t { row, column };

/// Most groups.
inline constexpr std::int64_t kMostGroups = 1024;

/// Orders of A and B. The default is tn: A (M×K) and B (K×N) both have K contiguous, as in PyTorch's `x @ w.T`. tt is
/// numpy's `a @ b`.
enum class GemmLayout : std::uint8_t { tn, nn, nt, tt };

/// Which launches give equal bits for equal operands. run_to_run: launches of one problem. batch_invariant: the bits of
/// a row of D depend neither on M nor on the other rows, nor on leading dimensions and alignments. This holds among
/// devices of one class and versions of the library with the same kernels. K is then not split for problems with few
/// rows, which makes these slower.
enum class Determinism : std::uint8_t { run_to_run, batch_invariant };

/// The units that add products. fast: tensor cores alone. Hopper's keep 13 fraction bits of a sum of 8-bit floats.
/// promoted: tensor cores begin anew every 128 of K, and CUDA cores add these partial sums in f32. usual: promoted for
/// e4m3 and e5m2, fast for other types. resolved() replaces the type's own way by `usual`.
enum class Summation : std::uint8_t { usual, fast, promoted };

/// How f32 operands are multiplied (docs/single-precision.md). ieee: as f32. f16x3 and bf16x3: each element is split in
/// the sum of two of 16 bits, its parts, and tensor cores add three products of parts. f16x3 is as accurate as f32
/// where a row of A, or a column of B, has no element far greater than those that matter. bf16x3 has errors of about
/// 1e-5. tf32: elements are rounded to 11 bits, which tensor cores multiply. bf16x6: three parts of bf16 and six
/// products, as accurate as f32 whatever a row has. tf32x3: two parts of tf32 and three products. A kernel that
/// multiplies more exactly may serve a problem, too.
enum class Math : std::uint8_t { ieee, f16x3, bf16x3, tf32, bf16x6, tf32x3 };

/// Groups cut the rows of A and D (m), or the columns of A and the rows of B (k).
enum class Ragged : std::uint8_t { m, k };

/// The operands that a launch takes as GemmKernel::prepare_a() and prepare_b() have made them.
enum class Prepared : std::uint8_t { none, a, b, ab };

/// A second dimension of a batch, as the sequences that attention heads belong to. Problem i is at place i / inner of
/// this dimension, and at place i % inner of the one that GemmSpec's batch strides belong to.
struct OuterBatch {
    std::int64_t inner = 0;  ///< problems from one place to the next: `batch` is a multiple of it; 0: one dimension
    std::int64_t stride_a = kPackedBatch;  ///< elements from a place's first A to the next place's; 0: all have one A
    std::int64_t stride_b = kPackedBatch;
    std::int64_t stride_c = kPackedBatch;
    std::int64_t stride_d = kPackedBatch;

    friend constexpr bool operator==(const OuterBatch&, const OuterBatch&) = default;
};

/// A problem: D (M×N) = alpha · A (M×K) · B (K×N) + beta · C (M×N). alpha and beta belong to the launch.
///
/// A batch is `batch` problems of one size in one launch. The matrices of problem i begin i batch strides behind those
/// of the first. A stride of 0 gives all problems one A, B or C. Strides may be smaller than a matrix, as those of
/// attention heads that lie side by side in each row. Matrices of D must not overlap. With `outer`, the batch has two
/// dimensions with a stride each. With `pointers`, each matrix has an address of its own, and there are no strides.
///
/// A leading dimension of 0 means packed. An alignment of 0 is the one that follows from the leading dimension and a
/// base address aligned to 256 bytes. `resolved()` replaces both by numbers.
struct GemmSpec {
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
    DataType a = DataType::bf16;
    DataType b = a;                            ///< default: A's type. GemmSpec{.a = f16} has a B and a D of f16
    std::optional<DataType> c = std::nullopt;  ///< unset: there is no C, and beta must be 0
    DataType d = default_output(a);
    DataType accumulator = default_accumulator(a);
    GemmLayout layout = GemmLayout::tn;
    Order d_order = Order::row;  ///< order of D and of C
    std::int64_t lda = 0;        ///< leading dimensions, in elements
    std::int64_t ldb = 0;
    std::int64_t ldc = 0;
    std::int64_t ldd = 0;
    int align_a = 0;  ///< bytes: the address of every row (column) is a multiple of 16, 8, 4, 2 (or 1 for 8-bit types)
    int align_b = 0;
    int align_c = 0;
    int align_d = 0;
    /// A promise that no kernel still running on this stream writes A, or B (weights, for example). The kernel may then
    /// load its first tiles before the previous kernel has finished (programmatic dependent launch).
    bool constant_a = false;
    bool constant_b = false;
    /// Treat C as a bias: one row of n elements, added to every row of D. For a column-major D it is one column of m
    /// elements. ldc is ignored, and is 0 in a resolved spec.
    bool broadcast_c = false;
    Determinism deterministic = Determinism::run_to_run;  ///< limits the choice; every kernel is run_to_run
    Summation sums = Summation::usual;
    Math math = Math::ieee;     ///< of f32 operands
    Ragged ragged = Ragged::m;  ///< what groups cut
    /// D = alpha · A · A^T at about half the work. B is A transposed: there is no B, and n is m. The layout is tn, or
    /// nt for the product A^T · A of a matrix with K rows. D is stored in full, and equals its transpose bit for bit.
    bool symmetric = false;
    /// Operands that do not change from launch to launch, as weights, and are prepared once: split, transposed or
    /// packed, if kernels read them so. Launches then take GemmArguments::prepared_a and prepared_b. The problems of a
    /// batch must share them.
    Prepared prepared = Prepared::none;
    /// A launch takes an array of `batch` addresses for each of A, B, C and D, in device memory: one per problem.
    /// The alignments of the spec are a promise for every address, because the host reads none of them.
    bool pointers = false;
    std::int64_t batch = 1;                      ///< problems in one launch
    std::int64_t batch_stride_a = kPackedBatch;  ///< elements from a problem's A to the next problem's A
    std::int64_t batch_stride_b = kPackedBatch;
    std::int64_t batch_stride_c = kPackedBatch;  ///< packed, with broadcast_c: 0
    std::int64_t batch_stride_d = kPackedBatch;
    Rare<OuterBatch> outer = {};  ///< none: the problems of the batch lie along one dimension
    /// 0, or the number of groups of rows, at most kMostGroups. Each group has its own B (k×n): B's batch stride leads
    /// from one to the next. m is the number of rows in all, or of those that there is room for. Only the device knows
    /// where groups end: GemmArguments::offsets.
    ///
    /// With Ragged::k, the groups cut K instead. Each has a D (m×n), and a C: their batch strides lead from one to the
    /// next. k is the K of all groups, or that there is room for. Such a spec is a batch of its groups: resolved() sets
    /// `batch` to their number, and the batch strides of A and B to 0.
    std::int64_t groups = 0;
    /// 0: groups lie one behind the other, at any row. Else the rows that each group has room for: group i begins at
    /// row i · group_rows, and m is groups · group_rows.
    std::int64_t group_rows = 0;
    /// Of a group (of its K with Ragged::k), for the choice of a kernel; 0: m / groups (k / groups). Every number is
    /// right.
    std::int64_t expected_rows = 0;
    /// 0, or the rows of A. A is then (source_rows, k), and GemmArguments::row_index names a row of it for each of D.
    std::int64_t source_rows = 0;
    /// The text says what is stored; `acc` is the sum of products: "d = silu(acc + bias[n]) * up[m,n]". Without a text,
    /// D is alpha · acc + beta · C. A text reads its own operands, so `c` is unset then.
    EpilogueText epilogue = {};

    friend bool operator==(const GemmSpec&, const GemmSpec&) = default;
};

[[nodiscard]] Order order_a(GemmLayout layout);
[[nodiscard]] Order order_b(GemmLayout layout);
[[nodiscard]] GemmLayout layout_of(Order a, Order b);
[[nodiscard]] std::string_view to_string(GemmLayout layout);  ///< throws SpecError for an unknown value
[[nodiscard]] std::string_view to_string(Order order);        ///< "t" or "n"; throws SpecError for an unknown value
[[nodiscard]] std::string_view to_string(Math math);          ///< throws SpecError for an unknown value
[[nodiscard]] std::string_view to_string(Prepared prepared);  ///< throws SpecError for an unknown value
[[nodiscard]] std::optional<GemmLayout> parse_gemm_layout(std::string_view name);
[[nodiscard]] std::optional<Order> parse_order(std::string_view name);
[[nodiscard]] std::optional<Math> parse_math(std::string_view name);

/// Every rule that the spec breaks, with the values; empty if the spec is valid. Never throws.
[[nodiscard]] std::vector<std::string> problems(const GemmSpec& spec);

/// The spec with all leading dimensions and alignments as numbers. Throws SpecError with all problems().
[[nodiscard]] GemmSpec resolved(const GemmSpec& spec);

/// The equivalent spec in which a matrix of one row or one column is contiguous. A column-major matrix of one row whose
/// leading dimension is 1 becomes row-major, with its length as leading dimension; a matrix of one column likewise.
/// `spec` and the result are resolved. Nothing changes for Determinism::batch_invariant. D does not change if there is
/// a C.
[[nodiscard]] GemmSpec as_lines(const GemmSpec& spec);

/// The equivalent spec with a row-major D, after as_lines(). A column-major D is the row-major D^T = B^T · A^T: A and
/// B, m and n change places. `spec` and the result are resolved. If as_lines(spec) has a column-major D, a launch must
/// exchange the pointers of A and B as well.
[[nodiscard]] GemmSpec with_row_major_d(const GemmSpec& spec);

/// Elements from the first of a matrix to one past its last: (rows − 1) · ld + columns if row-major; 0 for an empty
/// matrix. Those of a batch end with the last problem's matrix.
struct OperandExtents {
    std::int64_t a, b, c, d;
};
[[nodiscard]] OperandExtents operand_extents(const GemmSpec& resolved_spec);

/// The spec as one line, which parse_gemm_spec reads: "gemm-v1 m=.. n=.. k=.. a=bf16 ... align-d=16". It names every
/// field of the first format. If a field of a later format differs from its default, the line begins with that format
/// ("gemm-v2" to "gemm-v9") and names the field.
[[nodiscard]] std::string to_string(const GemmSpec& spec);

/// Reads a line of to_string() in either format. Keys may stand in any order. m, n and k are required; other keys have
/// defaults (types follow from A's). Throws SpecError that names the wrong word. Keys of earlier versions (bias,
/// activation, residual, scale-a ...) are accepted with a neutral value: bias=none.
[[nodiscard]] GemmSpec parse_gemm_spec(std::string_view text);

/// Reads a shape line, "bf16 tn 4096 4096 4096": type of A and B, layout, m, n, k. Behind these it may have the other
/// keys of to_string(): "batch=8 d=f32 epilogue='d = relu(acc)'". Fields that it leaves out have their defaults. Throws
/// SpecError that names the wrong word.
[[nodiscard]] GemmSpec parse_shape_line(std::string_view line);

/// The shape line of a spec: "bf16 tn 4096 4096 4096", "e4m3*e5m2 tn ..." for two types, "... 4096 batch=8" for a
/// batch. It leaves out all other fields.
[[nodiscard]] std::string shape_line(const GemmSpec& spec);
/// The first word of the shape line.
[[nodiscard]] std::string operand_types(const GemmSpec& spec);

/// Whether partial sums are promoted, by the spec or by the type of A.
[[nodiscard]] bool has_promoted_sums(const GemmSpec& spec);

/// The spec for A and B of one type, with that type's default accumulator and D.
[[nodiscard]] GemmSpec gemm_spec_of_type(DataType type);

/// Whether a launch has other than one problem, or takes arrays of addresses. Its kernels take a number of problems.
[[nodiscard]] constexpr bool is_batched(const GemmSpec& spec) { return spec.batch != 1 || spec.pointers; }

/// Whether the problems of the batch lie along two dimensions.
[[nodiscard]] constexpr bool is_nested(const GemmSpec& spec) { return spec.outer && spec.outer->inner != 0; }

/// Whether the rows of A and D are cut into groups. Its kernels take the groups' ends, and any number of groups.
[[nodiscard]] constexpr bool is_grouped(const GemmSpec& spec) { return spec.groups != 0 && spec.ragged == Ragged::m; }

/// Whether K is cut into groups.
[[nodiscard]] constexpr bool is_grouped_by_k(const GemmSpec& spec) {
    return spec.groups != 0 && spec.ragged == Ragged::k;
}

/// Whether an index names the rows of A.
[[nodiscard]] constexpr bool is_gathered(const GemmSpec& spec) { return spec.source_rows != 0; }

/// Whether only the device knows the sizes: GemmArguments::offsets.
[[nodiscard]] constexpr bool has_groups(const GemmSpec& spec) { return spec.groups != 0; }

/// Floating-point operations: 2 · m · n · k for each problem of a batch, or m · (m + 1) · k of a symmetric product. Of
/// groups, m (or k) is as many rows as they are expected to have.
[[nodiscard]] double flops(const GemmSpec& spec);

}  // namespace jitgemm

template <>
struct std::hash<jitgemm::GemmSpec> {
    std::size_t operator()(const jitgemm::GemmSpec& spec) const noexcept;
};
