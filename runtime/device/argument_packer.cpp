#include "runtime/device/argument_packer.hpp"

#include "generator/base/matrix_storage.hpp"
#include "generator/base/overloaded.hpp"
#include "generator/base/round_up.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <cstring>
#include <string>

namespace jitgemm {
namespace {

constexpr std::uint64_t kPitchUnit = 16;  // of a tensor map, bytes

DevicePointer pointer(ArgumentRole role, const KernelOperands& operands) {
    switch (role) {
        case ArgumentRole::a: return operands.a;
        case ArgumentRole::b: return operands.b;
        case ArgumentRole::c: return operands.c;
        case ArgumentRole::d: return operands.d;
        case ArgumentRole::counters: return operands.counters;
        default: return operands.workspace;
    }
}

// What is one run has no pitch that matters, and may have one that a map can't.
TiledTensorMap map_of(const TensorMapArgument& argument, const GemmSpec& spec, bool of_one_row) {
    const MatrixStorage matrix = storage_of(argument.role, spec);
    const auto element = static_cast<std::uint64_t>(bytes(matrix.type));
    const auto number = [&](ArgumentRole role) { return static_cast<std::uint64_t>(extent(role, spec)); };
    TiledTensorMap map;
    map.type = matrix.type;
    map.extents = {number(matrix.run), of_one_row ? 1 : number(matrix.runs)};
    map.pitches = {map.extents[1] == 1 ? ceil_div(map.extents[0] * element, kPitchUnit) * kPitchUnit
                                       : number(matrix.pitch) * element};
    map.box = {argument.box[0], argument.box[1]};
    map.swizzle = argument.swizzle;
    map.promotion = argument.promotion;
    return map;
}

[[noreturn]] void throw_no_map(ArgumentRole role, std::vector<std::string> problems) {
    throw SpecError(fmt::format("no tensor map of {}", to_string(role)), std::move(problems));
}

}  // namespace

ArgumentPacker::ArgumentPacker(std::span<const KernelArgument> arguments, const GemmSpec& row_major)
    : has_k_(row_major.k != 0), broadcasts_c_(row_major.broadcast_c) {
    const ArgumentLayout layout = argument_layout(arguments);
    if (layout.bytes > kMaxArgumentBytes) {
        throw ConfigError("no launch", {fmt::format("the kernel's arguments have {} bytes, a launch passes on {}",
                                                    layout.bytes, kMaxArgumentBytes)});
    }
    constants_.resize(layout.bytes);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const ArgumentField& field = layout.fields[i];
        std::visit(Overloaded{[&](PointerArgument of) {
                                  pointers_.push_back({field.offset, of.role});
                              },
                              [&](ScalarArgument of) {
                                  scalars_.push_back({field.offset, of.role});
                              },
                              [&](const TensorMapArgument& of) { add(of, field.offset, row_major); },
                              [&](ExtentArgument of) {
                                  const std::int64_t value = extent(of.role, row_major);
                                  std::memcpy(&constants_[field.offset], &value,
                                              field.bytes);  // of a little-endian machine
                                  if (of.role == ArgumentRole::k) k_.push_back(field);
                                  if (of.role == ArgumentRole::ldc) ldc_.push_back(field);
                              }},
                   arguments[i]);
    }
}

void ArgumentPacker::add(const TensorMapArgument& argument, std::size_t offset, const GemmSpec& row_major) {
    const std::int64_t in_workspace = is_packed(argument.role) ? packed_offset(argument.role, row_major) : 0;
    const auto add_map = [&](bool of_one_row) {
        maps_.push_back({offset, argument.role, of_one_row, static_cast<std::uint64_t>(in_workspace),
                         map_of(argument, row_major, of_one_row), std::make_unique<TensorMapCache>()});
    };
    if (argument.role != ArgumentRole::c || !broadcasts_c_) add_map(false);
    if (argument.role == ArgumentRole::c) add_map(true);
}

void ArgumentPacker::pack(const KernelOperands& operands, Device& device, PackedArguments& packed) const {
    std::byte* const bytes = packed.bytes.data();
    packed.size = constants_.size();
    std::memcpy(bytes, constants_.data(), constants_.size());
    for (const Patch& patch : pointers_) {
        const std::uint64_t address = pointer(patch.role, operands).address;
        std::memcpy(bytes + patch.offset, &address, sizeof address);
    }
    for (const Patch& patch : scalars_) {
        const float value = patch.role == ArgumentRole::alpha ? operands.alpha : operands.beta;
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
    const bool is_factor = patch.role != ArgumentRole::c && patch.role != ArgumentRole::d;
    if (is_factor && (operands.alpha == 0.0F || !has_k_)) return;
    const bool of_one_row = operands.broadcast_c || broadcasts_c_;
    if (patch.role == ArgumentRole::c && (operands.beta == 0.0F || patch.of_one_row != of_one_row)) return;
    const std::uint64_t address = pointer(patch.role, operands).address + patch.in_workspace;
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
