#include "generator/base/launch_text.hpp"

#include "generator/base/matrix_storage.hpp"
#include "generator/base/packed_lines.hpp"
#include "generator/base/packed_operand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

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

/// Words of a line of a copy in parts: whole groups of K, at least one.
std::string whole_groups(Math math, const RoleName& name) {
    return fmt::format("({0} > 0 ? ({0} + {3}) / {1} * {2} : {2})", name(ArgumentRole::k), kGroupOfParts,
                       parts_of_math(math).group_words(), kGroupOfParts - 1);
}

/// PackedOperand::pitch() of a packed operand with lines of `run` elements. A copy of f32 has parts.
std::string pitch_text(const ArgumentRole& pitch, const ArgumentRole& run, DataType type, Math math,
                       const RoleName& name) {
    if (!pitch.is_packed) return name(pitch);
    if (type == DataType::f32) return whole_groups(math, name);
    const std::int64_t line = PackedOperand{.element_bytes = bytes(type)}.line();
    return fmt::format("({0} > {2} ? ({0} + {4}) / {1} * {1} : {0} > {3} ? {2} : {3})", name(run), line, line / 2,
                       line / 4, line - 1);
}

/// The address; of a packed operand packed_offset() behind the workspace.
std::string pointer_text(ArgumentRole role, const GemmSpec& spec, const RoleName& name) {
    if (!role.is_packed) return name(role);
    std::string workspace = name(ArgumentRole::workspace);
    if (packed_offset(role, spec) == 0) return workspace;
    const MatrixStorage a = storage_of(ArgumentRole::packed_a, spec);
    const std::string factors =
        scales_lines(spec) ? fmt::format(" + ({} * {} + 255) / 256 * 256", name(a.runs), kFactorBytes) : std::string();
    return fmt::format("{} + (CUdeviceptr)(({} * {} * {} + 255) / 256 * 256{})", workspace, name(a.runs),
                       pitch_text(a.pitch, a.run, a.type, spec.math, name), bytes(a.type), factors);
}

TensorText tensor_text(const TensorMapArgument& map, const GemmSpec& spec, const RoleName& name) {
    const MatrixStorage matrix = storage_of(map.role, spec);
    TensorText text{pointer_text(map.role, spec, name), {}};
    for (const TensorMapDimension& dimension : named_dimensions(map, matrix)) {
        const bool has_parts = dimension.extent.is_packed && dimension.extent.part == ArgumentPart::pitch;
        const bool is_line = dimension.pitch.part == ArgumentPart::pitch;
        text.dimensions.push_back(
            {has_parts ? whole_groups(spec.math, name) : name(dimension.extent),
             is_line ? pitch_text(dimension.pitch, matrix.run, matrix.type, spec.math, name) : name(dimension.pitch)});
    }
    return text;
}

/// When a launch does not read the operand, which may then be anywhere and has no map. Empty: it always reads it.
std::string unread(const ArgumentRole& role, const GemmSpec& spec, const RoleName& name) {
    const OperandList operands = kernel_operands(spec);
    std::string text;
    for (const std::string& guard : guards_text(*operands.find(role.name), name))
        text += fmt::format("{}{} == 0", text.empty() ? "" : " || ", guard);
    return text;
}

/// The map's dimensions where lines lie by pairs (TensorMapArgument::pairs), as argument_plan.cpp makes them.
void make_pairs(TensorText& tensor, EpiloguePairs pairs) {
    const auto [lines, pitch] = tensor.dimensions.at(1);
    const std::string pairs_of_lines = fmt::format("{} / 2", lines);
    const bool in_halves = pairs == EpiloguePairs::halves;
    const std::string to_next = in_halves ? pitch : "2 * " + pitch;
    const std::string to_second = in_halves ? fmt::format("{} * {}", pairs_of_lines, pitch) : pitch;
    std::vector<TensorDimensionText> dimensions{
        tensor.dimensions.front(),
        {std::to_string(kLinesOfGroup), to_next},
        {"2", to_second},
        {fmt::format("{} / {}", pairs_of_lines, kLinesOfGroup), fmt::format("{} * {}", kLinesOfGroup, to_next)}};
    dimensions.insert(dimensions.end(), tensor.dimensions.begin() + 2, tensor.dimensions.end());
    tensor.dimensions = std::move(dimensions);
}

/// The boxes of the map's dimensions.
std::vector<std::uint32_t> boxes_of(const TensorMapArgument& map) {
    std::vector<std::uint32_t> boxes;
    for (const TensorMapDimension& dimension : map.dimensions) boxes.push_back(dimension.box);
    if (map.pairs == EpiloguePairs::none) return boxes;
    const std::uint32_t lines = boxes.at(1);
    boxes.at(1) = kLinesOfGroup;
    boxes.insert(boxes.begin() + 2, {2, lines / (2 * kLinesOfGroup)});
    return boxes;
}

constexpr std::string_view kEncodeBody =
    R"(    // Of a dimension of one no pitch matters, and it may be one that a map can't have.
    for (int i = 1; i < {0}; ++i)
        if (extents[i] == 1) pitches[i] = (extents[i - 1] * pitches[i - 1] + 15) / 16 * 16;
    // The driver asks for an address that 64 divides. C99 promises that of no variable.
    unsigned char room[sizeof(CUtensorMap) + 64];
    CUtensorMap *const aligned = (CUtensorMap *)(void *)(room + 64 - (uintptr_t)room % 64);
    const CUresult result =
        cuTensorMapEncodeTiled(aligned, type, {0}, (void *)pointer, extents, pitches + 1, box, steps,
                               CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, promotion, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result == CUDA_SUCCESS) memcpy(map, aligned, sizeof(*aligned));
    return result;
}}
)";

std::string encoder_of_rank(int rank) {
    return rank == 2 ? "encode_tensor_map" : fmt::format("encode_tensor_map_{}d", rank);
}

}  // namespace

std::string encode_tensor_map_text(int rank) {
    const auto each = [&](int first, std::string_view text) {
        std::string list;
        for (int i = first; i < rank; ++i) list += (i == first ? "" : ", ") + fmt::format(fmt::runtime(text), i);
        return list;
    };
    const std::string parameters = fmt::format(
        "static CUresult {}(void *map, CUtensorMapDataType type, int element_bytes, CUdeviceptr pointer, {}, {}{}{}, "
        "CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion) {{",
        encoder_of_rank(rank), each(0, "int64_t extent_{}"), each(1, "int64_t pitch_{}"), rank > 1 ? ", " : "",
        each(0, "unsigned box_{}"));
    const auto array = [&](std::string_view text) { return in_lines(text, text.find('{') + 1) + "\n"; };
    return call_in_lines(parameters) + "\n" +
           array(fmt::format("    const cuuint64_t extents[{}] = {{{}}};", rank, each(0, "(cuuint64_t)extent_{}"))) +
           array(fmt::format("    cuuint64_t pitches[{}] = {{(cuuint64_t)element_bytes{}{}}};", rank,
                             rank > 1 ? ", " : "", each(1, "(cuuint64_t)pitch_{} * (unsigned)element_bytes"))) +
           array(fmt::format("    const cuuint32_t box[{}] = {{{}}};", rank, each(0, "box_{}"))) +
           array(fmt::format("    const cuuint32_t steps[{}] = {{{}}};", rank, each(0, "1"))) +
           fmt::format(kEncodeBody, rank);
}

std::string encode_tensor_map_texts(const std::vector<KernelEntry>& entries) {
    std::set<int> ranks;
    for (const KernelEntry& entry : entries) ranks.merge(tensor_map_ranks(entry.arguments));
    std::string text;
    for (const int rank : ranks) text += "\n" + encode_tensor_map_text(rank);
    return text;
}

std::string encode_call(const TensorMapArgument& map, const GemmSpec& row_major, std::string_view target,
                        const TensorText& tensor) {
    const DataType type = storage_of(map.role, row_major).type;
    std::string numbers;
    for (const TensorDimensionText& dimension : tensor.dimensions) numbers += dimension.extent + ", ";
    for (std::size_t i = 1; i < tensor.dimensions.size(); ++i) numbers += tensor.dimensions[i].pitch + ", ";
    for (const std::uint32_t box : boxes_of(map)) numbers += fmt::format("{}, ", box);
    return fmt::format(
        "{}(&{}.{}, CU_TENSOR_MAP_DATA_TYPE_{}, {}, {}, {}CU_TENSOR_MAP_SWIZZLE_{}, "
        "CU_TENSOR_MAP_L2_PROMOTION_{})",
        encoder_of_rank(map.rank()), target, field_name(map), map_type(type), bytes(type), tensor.pointer, numbers,
        swizzle_name(map.swizzle), promotion_name(map.promotion));
}

std::vector<std::string> guards_text(const GemmOperand& operand, const RoleName& name) {
    std::vector<std::string> guards;
    if (operand.guard == OperandGuard::alpha) guards.push_back(name(ArgumentRole::alpha));
    if (operand.guard == OperandGuard::beta) guards.push_back(name(ArgumentRole::beta));
    if (operand.guards != nullptr)
        for (const int place : *operand.guards)
            guards.push_back(name({operand.epilogue->operands[static_cast<std::size_t>(place)].name}));
    if (operand.needs_k()) guards.push_back(name(ArgumentRole::k));
    return guards;
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
        TensorText tensor = tensor_text(*map, row_major, name);
        if (map->role == ArgumentRole::c) {
            std::string& runs = tensor.dimensions.at(1).extent;
            runs = row_major.broadcast_c ? "1" : fmt::format("{} ? 1 : {}", is_one_row, runs);
        }
        if (map->pairs != EpiloguePairs::none) make_pairs(tensor, map->pairs);
        const std::string call = encode_call(*map, row_major, target, tensor);
        text += statement(unless.empty() ? call : fmt::format("{} ? CUDA_SUCCESS : {}", unless, call));
    }
    return text;
}

}  // namespace jitgemm
