#pragma once

#include "generator/base/tensor_map.hpp"
#include "generator/epilogue/graph.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jitgemm {

/// matrices: those that the problems of a batch have, 1 if they share one. batch_stride: elements from one to the next;
/// of the workspace, bytes. outer_matrices and outer_stride: the same along the second dimension of a batch.
enum class ArgumentPart : std::uint8_t { value, pointer, pitch, matrices, batch_stride, outer_matrices, outer_stride };

/// The meaning of a kernel's argument: the address or the pitch of an operand (operand.hpp) or of its copy in the
/// workspace (packed_operand.hpp), or a value of the launch. Operands are those of Problem::row_major.
struct ArgumentRole {
    std::string_view name;  ///< the operand's, "a", or the value's, "m"
    ArgumentPart part = ArgumentPart::value;
    bool is_packed = false;    ///< whether it is the copy's
    bool is_prepared = false;  ///< whether the caller has made that copy: it is not in the workspace
    friend constexpr bool operator==(const ArgumentRole&, const ArgumentRole&) = default;
    // NOLINTBEGIN(readability-identifier-naming): written as enumerators are, ArgumentRole::a
    static const ArgumentRole a, b, c, d, packed_a, packed_b, prepared_a, prepared_b, lda, ldb, ldc, ldd, packed_lda,
        packed_ldb;
    static const ArgumentRole workspace, workspace_stride, counters, reduction_parts, m, n, k, h, alpha, beta, batch,
        batch_inner, groups, group_rows, offsets, source_rows, row_index;
};  // NOLINTEND(readability-identifier-naming)
inline constexpr ArgumentRole ArgumentRole::a{"a", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::b{"b", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::c{"c", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::d{"d", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::packed_a{"a", ArgumentPart::pointer, true};
inline constexpr ArgumentRole ArgumentRole::packed_b{"b", ArgumentPart::pointer, true};
inline constexpr ArgumentRole ArgumentRole::prepared_a{"a", ArgumentPart::pointer, true, true};
inline constexpr ArgumentRole ArgumentRole::prepared_b{"b", ArgumentPart::pointer, true, true};
inline constexpr ArgumentRole ArgumentRole::lda{"a", ArgumentPart::pitch};
inline constexpr ArgumentRole ArgumentRole::ldb{"b", ArgumentPart::pitch};
inline constexpr ArgumentRole ArgumentRole::ldc{"c", ArgumentPart::pitch};
inline constexpr ArgumentRole ArgumentRole::ldd{"d", ArgumentPart::pitch};
inline constexpr ArgumentRole ArgumentRole::packed_lda{"a", ArgumentPart::pitch, true};
inline constexpr ArgumentRole ArgumentRole::packed_ldb{"b", ArgumentPart::pitch, true};
inline constexpr ArgumentRole ArgumentRole::workspace{"workspace", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::workspace_stride{"workspace", ArgumentPart::batch_stride};
inline constexpr ArgumentRole ArgumentRole::counters{"counters", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::reduction_parts{"reduction_parts", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::m{"m"};
inline constexpr ArgumentRole ArgumentRole::n{"n"};
inline constexpr ArgumentRole ArgumentRole::k{"k"};
inline constexpr ArgumentRole ArgumentRole::h{"h"};  // pairs of columns: n / 2
inline constexpr ArgumentRole ArgumentRole::batch{"batch"};
inline constexpr ArgumentRole ArgumentRole::batch_inner{"batch_inner"};
inline constexpr ArgumentRole ArgumentRole::groups{"groups"};
inline constexpr ArgumentRole ArgumentRole::group_rows{"group_rows"};
inline constexpr ArgumentRole ArgumentRole::offsets{"offsets", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::source_rows{"source_rows"};
inline constexpr ArgumentRole ArgumentRole::row_index{"row_index", ArgumentPart::pointer};
inline constexpr ArgumentRole ArgumentRole::alpha{"alpha"};
inline constexpr ArgumentRole ArgumentRole::beta{"beta"};

/// "a", "lda", "packed_lda", "ld_up", "batch_stride_a", "m".
[[nodiscard]] std::string to_string(const ArgumentRole& role);

/// An address of device memory, 8 bytes: of an operand, of the workspace, or of two parts of the workspace, which are
/// the parts of reductions and the counters. The latter are zeros when a kernel begins and when it ends
/// (KernelEntry::counter_bytes).
struct PointerArgument {
    ArgumentRole role;
    friend bool operator==(const PointerArgument&, const PointerArgument&) = default;
};
/// m, n, k, h, a leading dimension, the number of problems or a batch stride as a signed integer of 4 or 8 bytes.
struct ExtentArgument {
    ArgumentRole role;
    int bytes = 4;
    std::string_view field{};  ///< the field's name in the struct, if it is not the role's name
    friend bool operator==(const ExtentArgument&, const ExtentArgument&) = default;
};
/// alpha, beta or another scalar of an epilogue, an f32.
struct ScalarArgument {
    ArgumentRole role;
    friend bool operator==(const ScalarArgument&, const ScalarArgument&) = default;
};
/// A dimension of a tensor map. Its numbers are arguments: "k" elements, "lda" apart. If the first two dimensions name
/// none, they are the operand's own: elements in a line, and lines a pitch apart.
struct TensorMapDimension {
    std::uint32_t box = 1;  ///< elements along it that one copy moves
    ArgumentRole extent{};
    ArgumentRole pitch{};  ///< elements from one to the next; for dimension 0 it is 1

    // NOLINTNEXTLINE(google-explicit-constructor): most have nothing but a box
    constexpr TensorMapDimension(std::uint32_t elements, ArgumentRole extent_role = {}, ArgumentRole pitch_role = {})
        : box(elements), extent(extent_role), pitch(pitch_role) {}
    friend constexpr bool operator==(const TensorMapDimension&, const TensorMapDimension&) = default;
};
/// The tensor map (CUtensorMap, 128 bytes aligned to 64) of an operand or of its copy. It is encoded when the kernel is
/// launched. Dimension 0 is the contiguous one. If the launch does not read the operand, all bytes are 0.
struct TensorMapArgument {
    ArgumentRole role;
    std::vector<TensorMapDimension> dimensions{};  ///< at most kMaxTensorRank
    TensorMapSwizzle swizzle = TensorMapSwizzle::none;
    L2Promotion promotion = L2Promotion::none;
    std::string_view field{};  ///< the field's name in the struct, if it is not map_a and so on
    bool is_of_rest = false;   ///< of the last boxes of a row, which are narrower: map_d_rest
    /// If set, dimension 1 counts lines by pairs: in a box, eight first lines of pairs stand before the eight second
    /// lines of the same pairs. So there are two dimensions more (argument_plan.cpp).
    EpiloguePairs pairs = EpiloguePairs::none;

    [[nodiscard]] int rank() const {
        return static_cast<int>(dimensions.size()) + (pairs == EpiloguePairs::none ? 0 : 2);
    }
    friend bool operator==(const TensorMapArgument&, const TensorMapArgument&) = default;
};
/// First lines of pairs that lie side by side in a box.
inline constexpr std::uint32_t kLinesOfGroup = 8;
/// The dimensions of an operand's own map. `box` holds the box's elements along the contiguous extent, and across it.
[[nodiscard]] std::vector<TensorMapDimension> box_of_matrix(const std::array<int, 2>& box);

using KernelArgument = std::variant<PointerArgument, ExtentArgument, ScalarArgument, TensorMapArgument>;

/// An argument as a field of the struct that a kernel takes by value.
struct ArgumentField {
    std::string name;
    std::string_view c_type;
    std::size_t bytes;  ///< also its alignment, except for tensor maps
    std::size_t alignment;
    std::size_t offset;
};
/// The fields in order, each at its natural alignment, as a C compiler lays out the struct (CUDA C++ Programming Guide,
/// "__global__ Function Argument Processing").
struct ArgumentLayout {
    std::vector<ArgumentField> fields;
    std::size_t bytes = 0;  ///< sizeof, padding at the end included
    std::size_t alignment = 1;
};
[[nodiscard]] ArgumentLayout argument_layout(std::span<const KernelArgument> arguments);

/// The field's name in the struct: "lda", "map_d". A packed copy has the same name as its operand: "map_a".
[[nodiscard]] std::string field_name(const KernelArgument& argument);

[[nodiscard]] ArgumentRole role_of(const KernelArgument& argument);

/// The ranks of the tensor maps, each once, in rising order.
[[nodiscard]] std::set<int> tensor_map_ranks(std::span<const KernelArgument> arguments);

/// Whether the kernel computes D^T = B^T A^T. Its field m is then the problem's n.
[[nodiscard]] bool computes_transpose(std::span<const KernelArgument> arguments);

/// Most bytes of arguments that a launch passes. Every architecture allows as many (CUDA C++ Programming Guide,
/// "Parameter size").
inline constexpr std::size_t kMaxArgumentBytes = 4096;

}  // namespace jitgemm
