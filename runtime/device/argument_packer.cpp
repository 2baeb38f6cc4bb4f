#include "runtime/device/argument_packer.hpp"

#include "generator/base/matrix_storage.hpp"
#include "generator/base/overloaded.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>

namespace jitgemm {
namespace {

constexpr std::uint64_t kPitchUnit = 16;  // of a tensor map, bytes

DevicePointer KernelOperands::*pointer_of(const ArgumentRole& role, const OperandList& operands) {
    if (role == ArgumentRole::counters) return &KernelOperands::counters;
    if (role == ArgumentRole::workspace || role.is_packed) return &GemmArguments::workspace;
    const GemmOperand* const operand = operands.find(role.name);
    return operand == nullptr ? nullptr : operand->pointer;
}

struct LaunchScalar {
    ArgumentRole role;
    float GemmArguments::*value;
};
constexpr std::array<LaunchScalar, 2> kLaunchScalars{
    {{ArgumentRole::alpha, &GemmArguments::alpha}, {ArgumentRole::beta, &GemmArguments::beta}}};

float GemmArguments::*scalar_of(const ArgumentRole& role) {
    for (const LaunchScalar& scalar : kLaunchScalars)
        if (scalar.role == role) return scalar.value;
    throw ConfigError("no launch", {fmt::format("no launch has a scalar {}", to_string(role))});
}

// A dimension of one has no pitch that matters, and may have one that a map can't: it gets the least that does.
TiledTensorMap map_of(const TensorMapArgument& argument, const GemmSpec& spec, const OperandList& operands,
                      bool of_one_row) {
    const MatrixStorage matrix = storage_of(argument.role, operands);
    const auto element = static_cast<std::uint64_t>(bytes(matrix.type));
    const auto number = [&](const ArgumentRole& role) {
        return static_cast<std::uint64_t>(extent(role, spec, operands));
    };
    TiledTensorMap map;
    map.type = matrix.type;
    map.rank = argument.rank();
    std::uint64_t pitch = element;
    for (std::size_t i = 0; const TensorMapDimension& dimension : named_dimensions(argument, matrix)) {
        map.extents.at(i) = of_one_row && i == 1 ? 1 : number(dimension.extent);
        map.box.at(i) = dimension.box;
        if (i > 0) {
            const std::uint64_t least = ceil_div(map.extents[i - 1] * pitch, kPitchUnit) * kPitchUnit;
            pitch = map.extents[i] == 1 ? least : number(dimension.pitch) * element;
            map.pitches[i - 1] = pitch;
        }
        ++i;
    }
    map.swizzle = argument.swizzle;
    map.promotion = argument.promotion;
    return map;
}

void check_rank(const TensorMapArgument& map) {
    if (map.rank() < 1 || map.rank() > kMaxTensorRank)
        throw ConfigError("no launch", {fmt::format("{} has {} dimensions, a tensor map 1 to {}", field_name(map),
                                                    map.rank(), kMaxTensorRank)});
}

[[noreturn]] void throw_no_map(ArgumentRole role, std::vector<std::string> problems) {
    throw SpecError(fmt::format("no tensor map of {}", to_string(role)), std::move(problems));
}

}  // namespace

ArgumentPacker::ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major)
    : ArgumentPacker(arguments, row_major, gemm_operands(row_major, false)) {}

ArgumentPacker::ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major,
                               const OperandList& operands)
    : has_k_(row_major.k != 0), broadcasts_c_(row_major.broadcast_c) {
    const ArgumentLayout layout = argument_layout(arguments);
    if (layout.bytes > kMaxArgumentBytes) {
        throw ConfigError("no launch", {fmt::format("the kernel's arguments have {} bytes, a launch passes on {}",
                                                    layout.bytes, kMaxArgumentBytes)});
    }
    for (const KernelArgument& argument : arguments)
        if (const auto* const map = std::get_if<TensorMapArgument>(&argument)) check_rank(*map);
    constants_.resize(layout.bytes);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentField& field = layout.fields[i];
        std::visit(Overloaded{[&](PointerArgument of) {
                                  if (const auto pointer = pointer_of(of.role, operands))
                                      pointers_.push_back({field.offset, pointer});
                              },
                              [&](ScalarArgument of) {
                                  scalars_.push_back({field.offset, scalar_of(of.role)});
                              },
                              [&](const TensorMapArgument& of) { add(of, field.offset, row_major, operands); },
                              [&](ExtentArgument of) {
                                  const std::int64_t value = extent(of.role, row_major, operands);
                                  std::memcpy(&constants_[field.offset], &value,
                                              field.bytes);  // of a little-endian machine
                                  if (of.role == ArgumentRole::k) k_.push_back(field);
                                  if (of.role == ArgumentRole::ldc) ldc_.push_back(field);
                              }},
                   arguments[i]);
    }
}

void ArgumentPacker::add(const TensorMapArgument& argument, std::size_t offset, const GemmSpec& row_major,
                         const OperandList& operands) {
    const ArgumentRole& role = argument.role;
    const std::int64_t in_workspace = role.is_packed ? packed_offset(role, row_major) : 0;
    const auto add_map = [&](bool of_one_row) {
        maps_.push_back({offset, role, operands.find(role.name)->guard, pointer_of(role, operands),
                         role == ArgumentRole::c, of_one_row, static_cast<std::uint64_t>(in_workspace),
                         map_of(argument, row_major, operands, of_one_row), std::make_unique<TensorMapCache>()});
    };
    if (role != ArgumentRole::c || !broadcasts_c_) add_map(false);
    if (role == ArgumentRole::c) add_map(true);
}

void ArgumentPacker::pack(const KernelOperands& operands, Device& device, PackedArguments& packed) const {
    std::byte* const bytes = packed.bytes.data();
    packed.size = constants_.size();
    std::memcpy(bytes, constants_.data(), constants_.size());
    for (const PointerPatch& patch : pointers_) {
        const std::uint64_t address = (operands.*patch.pointer).address;
        std::memcpy(bytes + patch.offset, &address, sizeof address);
    }
    for (const ScalarPatch& patch : scalars_) {
        const float value = operands.*patch.scalar;
        std::memcpy(bytes + patch.offset, &value, sizeof value);
    }
    if (operands.alpha == 0.0F)
        for (const ArgumentField& k : k_) std::memset(bytes + k.offset, 0, k.bytes);
    if (operands.broadcast_c)
        for (const ArgumentField& ldc : ldc_) std::memset(bytes + ldc.offset, 0, ldc.bytes);
    for (const MapPatch& patch : maps_) pack_map(patch, operands, device, bytes + patch.offset);
}

void ArgumentPacker::pack_map(const MapPatch& patch, const KernelOperands& operands, Device& device,
                              std::byte* bytes) const {
    if (!is_used(patch.guard, has_k_, operands.alpha, operands.beta)) return;
    const bool of_one_row = operands.broadcast_c || broadcasts_c_;
    if (patch.is_c && patch.of_one_row != of_one_row) return;
    const std::uint64_t address = (operands.*patch.pointer).address + patch.in_workspace;
    if (patch.cache->find(address, bytes)) [[likely]]
        return;
    TiledTensorMap map = patch.map;
    map.address = address;
    if (std::vector<std::string> problems = tensor_map_problems(map); !problems.empty())
        throw_no_map(patch.role, std::move(problems));
    const EncodedTensorMap encoded = device.encode_tensor_map(map);
    patch.cache->insert(address, encoded);
    std::memcpy(bytes, encoded.bytes.data(), sizeof encoded);
}

PackedArguments pack_arguments(std::span<const KernelArgument> arguments, const GemmSpec& row_major,
                               const KernelOperands& operands, Device& device) {
    PackedArguments packed;
    ArgumentPacker(arguments, row_major).pack(operands, device, packed);
    return packed;
}

}  // namespace jitgemm
