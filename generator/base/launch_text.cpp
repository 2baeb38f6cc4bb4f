#include "generator/base/launch_text.hpp"

#include "generator/base/matrix_storage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

std::string_view map_type(DataType type) {
    switch (type) {
        case DataType::f16: return "FLOAT16";
        case DataType::bf16: return "BFLOAT16";
        case DataType::f32: return "FLOAT32";
        case DataType::tf32: return "TFLOAT32";
        case DataType::s32: return "INT32";
        default: return "UINT8";
    }
}

std::string_view swizzle_name(TensorMapSwizzle swizzle) {
    constexpr std::array<std::string_view, 4> kNames{"NONE", "32B", "64B", "128B"};
    return kNames.at(static_cast<std::size_t>(swizzle));
}

std::string_view promotion_name(L2Promotion promotion) {
    constexpr std::array<std::string_view, 4> kNames{"NONE", "L2_64B", "L2_128B", "L2_256B"};
    return kNames.at(static_cast<std::size_t>(promotion));
}

/// PackedOperand::pitch() of a packed operand.
std::string pitch_text(const MatrixStorage& matrix, const RoleName& name) {
    if (!matrix.pitch.is_packed) return name(matrix.pitch);
    return fmt::format("({0} > 32 ? ({0} + 63) / 64 * 64 : {0} > 16 ? 32 : 16)", name(matrix.run));
}

/// The address; of a packed operand packed_offset() behind the workspace.
std::string pointer_text(ArgumentRole role, const GemmSpec& spec, const RoleName& name) {
    if (!role.is_packed) return name(role);
    std::string workspace = name(ArgumentRole::workspace);
    if (packed_offset(role, spec) == 0) return workspace;
    const MatrixStorage a = storage_of(ArgumentRole::packed_a, spec);
    return fmt::format("{} + (CUdeviceptr)(({} * {} * 2 + 255) / 256 * 256)", workspace, name(a.runs),
                       pitch_text(a, name));
}

MatrixText matrix_text(ArgumentRole role, const GemmSpec& spec, const RoleName& name) {
    const MatrixStorage matrix = storage_of(role, spec);
    return {pointer_text(role, spec, name), name(matrix.run), name(matrix.runs), pitch_text(matrix, name)};
}

// What is not read may be anywhere, and has no map then.
std::string unread(const ArgumentRole& role, const GemmSpec& spec, const RoleName& name) {
    switch (gemm_operands(spec).find(role.name)->guard) {
        case OperandGuard::alpha:
            return fmt::format("{} == 0 || {} == 0", name(ArgumentRole::alpha), name(ArgumentRole::k));
        case OperandGuard::beta: return name(ArgumentRole::beta) + " == 0";
        default: return {};
    }
}

}  // namespace

const std::string_view kEncodeTensorMapText =
    R"(static CUresult encode_tensor_map(void *map, CUtensorMapDataType type, int element_bytes, CUdeviceptr pointer,
                                  int64_t run, int64_t runs, int64_t pitch, unsigned box_run, unsigned box_runs,
                                  CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion) {
    const cuuint64_t extents[2] = {(cuuint64_t)run, (cuuint64_t)runs};
    const cuuint64_t row_bytes = (cuuint64_t)(runs == 1 ? run : pitch) * (unsigned)element_bytes;
    const cuuint64_t pitches[1] = {runs == 1 ? (row_bytes + 15) / 16 * 16 : row_bytes};
    const cuuint32_t box[2] = {box_run, box_runs};
    const cuuint32_t steps[2] = {1, 1};
    // The driver asks for an address that 64 divides. C99 promises that of no variable.
    unsigned char room[sizeof(CUtensorMap) + 64];
    CUtensorMap *const aligned = (CUtensorMap *)(void *)(room + 64 - (uintptr_t)room % 64);
    const CUresult result =
        cuTensorMapEncodeTiled(aligned, type, 2, (void *)pointer, extents, pitches, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) memcpy(map, aligned, sizeof(*aligned));
    return result;
}
)";

std::string encode_call(const TensorMapArgument& map, const GemmSpec& row_major, std::string_view target,
                        const MatrixText& matrix) {
    const DataType type = storage_of(map.role, row_major).type;
    return fmt::format(
        "encode_tensor_map(&{}.{}, CU_TENSOR_MAP_DATA_TYPE_{}, {}, {}, {}, {}, {}, {}, {}, "
        "CU_TENSOR_MAP_SWIZZLE_{}, "
        "CU_TENSOR_MAP_L2_PROMOTION_{})",
        target, field_name(map), map_type(type), bytes(type), matrix.pointer, matrix.run, matrix.runs, matrix.pitch,
        map.box[0], map.box[1], swizzle_name(map.swizzle), promotion_name(map.promotion));
}

bool has_tensor_maps(const KernelEntry& entry) {
    return std::any_of(entry.arguments.begin(), entry.arguments.end(),
                       [](const KernelArgument& of) { return std::holds_alternative<TensorMapArgument>(of); });
}

std::string argument_assignments(const KernelEntry& entry, std::string_view target,
                                 const std::function<std::string(const KernelArgument&)>& value) {
    std::string text;
    for (const KernelArgument& argument : entry.arguments) {
        if (std::holds_alternative<TensorMapArgument>(argument)) continue;
        text += fmt::format("    {}.{} = {};\n", target, field_name(argument), value(argument));
    }
    return text;
}

std::string tensor_map_statements(const KernelEntry& entry, const GemmSpec& row_major, std::string_view target,
                                  const RoleName& name, std::string_view is_one_row,
                                  const std::function<std::string(std::string)>& statement) {
    std::string text;
    for (const KernelArgument& argument : entry.arguments) {
        const auto* const map = std::get_if<TensorMapArgument>(&argument);
        if (map == nullptr) continue;
        const std::string unless = unread(map->role, row_major, name);
        MatrixText matrix = matrix_text(map->role, row_major, name);
        if (map->role == ArgumentRole::c)
            matrix.runs = row_major.broadcast_c ? "1" : fmt::format("{} ? 1 : {}", is_one_row, matrix.runs);
        const std::string call = encode_call(*map, row_major, target, matrix);
        text += statement(unless.empty() ? call : fmt::format("{} ? CUDA_SUCCESS : {}", unless, call));
    }
    return text;
}

}  // namespace jitgemm
