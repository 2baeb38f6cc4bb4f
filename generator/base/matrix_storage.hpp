#pragma once

#include "generator/base/kernel_argument.hpp"
#include "generator/base/operand.hpp"
#include "generator/base/packed_operand.hpp"
#include "generator/base/problem.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace jitgemm {

/// The place of a problem's matrix in memory: `runs` rows (or columns) of `run` contiguous elements, `pitch` elements
/// apart. Each number is given by the argument that holds it.
struct MatrixStorage {
    DataType type;
    ArgumentRole run;
    ArgumentRole runs;
    ArgumentRole pitch;
};

[[nodiscard]] inline ArgumentRole size_role(OperandIndex index) {
    constexpr std::array<ArgumentRole, 11> kRoles{
        ArgumentRole{"1"},        ArgumentRole{"m"},    ArgumentRole{"n"},        ArgumentRole{"k"},
        ArgumentRole{"h"},        ArgumentRole{"h"},    ArgumentRole{"m_blocks"}, ArgumentRole{"n_blocks"},
        ArgumentRole{"k_blocks"}, ArgumentRole::groups, ArgumentRole::source_rows};
    return kRoles.at(static_cast<std::size_t>(index));
}

/// The storage of an operand, or of its copy. K is contiguous in a copy of elements of 8 and of 32 bits. A copy of f32
/// has parts: it ends with a whole group of them, in words. With Math::tf32, A and B have that type, to which TMA
/// rounds f32.
[[nodiscard]] inline MatrixStorage storage_of(const ArgumentRole& role, const OperandList& operands, Math math) {
    const GemmOperand& operand = *operands.find(role.name);
    const DataType type = math == Math::tf32 && operand.is_factor() ? DataType::tf32 : operand.type;
    const bool is_k_major = (operand.order == Order::row ? operand.column : operand.row) == OperandIndex::k;
    const bool has_parts = role.is_packed && type == DataType::f32;
    const bool is_transposed = role.is_packed && bytes(type) != 2 && !is_k_major;
    const bool by_row = (operand.order == Order::row) != is_transposed;
    const ArgumentRole pitch{role.name, ArgumentPart::pitch, role.is_packed};
    return {type, has_parts ? pitch : size_role(by_row ? operand.column : operand.row),
            size_role(by_row ? operand.row : operand.column), pitch};
}
/// The same, with a C in full, whatever a launch brings.
[[nodiscard]] inline MatrixStorage storage_of(const ArgumentRole& role, const GemmSpec& spec) {
    return storage_of(role, kernel_operands(spec), spec.math);
}

/// The dimensions of an operand's map, with all their numbers named.
[[nodiscard]] inline std::vector<TensorMapDimension> named_dimensions(const TensorMapArgument& argument,
                                                                      const MatrixStorage& matrix) {
    std::vector<TensorMapDimension> dimensions = argument.dimensions;
    const auto fill = [](ArgumentRole& role, const ArgumentRole& otherwise) {
        if (role.name.empty()) role = otherwise;
    };
    for (TensorMapDimension& dimension : dimensions) {
        const bool is_first = &dimension == dimensions.data();
        fill(dimension.extent, is_first ? matrix.run : matrix.runs);
        fill(dimension.pitch, matrix.pitch);
    }
    return dimensions;
}

/// m, n, k, h, a pitch or a number of the batch, as a kernel of the problem sees it. The pitch of an
/// operand that is not in the list is 0.
[[nodiscard]] inline std::int64_t extent(const ArgumentRole& role, const Problem& problem,
                                         const OperandList& operands) {
    const GemmSpec& spec = problem.row_major();
    if (role == ArgumentRole::batch) return spec.batch;
    if (role == ArgumentRole::batch_inner) return is_nested(spec) ? spec.outer->inner : spec.batch;
    if (role == ArgumentRole::group_rows) return spec.group_rows;
    if (role.part == ArgumentPart::value) {
        constexpr std::array kSizes{OperandIndex::m,        OperandIndex::n,        OperandIndex::k,
                                    OperandIndex::half_n,   OperandIndex::blocks_m, OperandIndex::blocks_n,
                                    OperandIndex::blocks_k, OperandIndex::groups,   OperandIndex::source_rows};
        const auto* const index = std::ranges::find(kSizes, role, size_role);
        return index == kSizes.end() ? 1 : size_of(*index, spec);
    }
    if (role == ArgumentRole::workspace_stride) return packed_bytes(spec);
    if (role.is_packed) {
        const PackedOperand copy = role.name == "a" ? packed_a(spec) : packed_b(spec);
        switch (role.part) {
            case ArgumentPart::matrices: return spec.batch;
            case ArgumentPart::batch_stride: return packed_bytes(spec) / copy.element_bytes;
            case ArgumentPart::outer_matrices: return 1;  // copies lie one behind the other
            case ArgumentPart::outer_stride: return 0;
            default: return copy.pitch();
        }
    }
    const GemmOperand* const operand = operands.find(role.name);
    if (operand == nullptr) return 0;
    switch (role.part) {
        case ArgumentPart::matrices: return operand->inner_matrices();
        case ArgumentPart::batch_stride: return operand->batch_stride;
        case ArgumentPart::outer_matrices: return operand->outer_matrices();
        case ArgumentPart::outer_stride: return operand->outer_stride;
        default: return operand->pitch;
    }
}
[[nodiscard]] inline std::int64_t extent(const ArgumentRole& role, const Problem& problem) {
    return extent(role, problem, kernel_operands(problem.row_major()));
}

}  // namespace jitgemm
