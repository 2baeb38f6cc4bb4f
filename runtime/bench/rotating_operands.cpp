#include "runtime/bench/rotating_operands.hpp"

#include "generator/base/round_up.hpp"
#include "runtime/verify/scattered_matrices.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kAllocationAlignment = 256;

MatrixForm form_in_copy(const GemmOperand& operand) {
    const MatrixForm form = form_of(operand, true);
    return operand.by_addresses ? scattered(form) : form;
}

/// Where an operand begins in a copy: at 256 bytes, or at just its promised alignment.
std::int64_t offset_of(const MatrixForm& form) { return form.generous ? 0 : form.alignment; }

std::int64_t stride_of(const MatrixForm& form) {
    return round_up(std::max(form.extent_bytes() + offset_of(form), std::int64_t{1}), kAllocationAlignment);
}

}  // namespace

RotationPlan rotation_plan(const OperandList& operands, std::int64_t wanted_bytes, std::int64_t free_bytes) {
    RotationPlan plan;
    for (const GemmOperand& operand : operands) plan.strides.push_back(stride_of(form_in_copy(operand)));
    const std::int64_t each = plan.bytes_per_copy();
    const std::int64_t wanted = (wanted_bytes + each - 1) / each;
    const std::int64_t fitting = free_bytes / 5 * 4 / each;
    plan.copies = std::max<std::int64_t>(1, std::min({wanted, fitting, kMostCopies}));
    return plan;
}

RotationPlan rotation_plan(const GemmSpec& spec, std::int64_t wanted_bytes, std::int64_t free_bytes) {
    return rotation_plan(gemm_operands(spec), wanted_bytes, free_bytes);
}

RotatingOperands::RotatingOperands(ContextState& context, const GemmSpec& spec, std::int64_t wanted_bytes,
                                   std::uint64_t seed, float alpha, float beta, GroupSizes sizes)
    : RotatingOperands(context, gemm_operands(spec), wanted_bytes, seed, alpha, spec.c ? beta : 0.0F) {
    if (has_groups(spec)) divide_rows(*context.device, spec, sizes, seed);
    if (!spec.epilogue.empty()) scalars_ = scalar_arguments(spec, alpha, beta);
}

RotatingOperands::RotatingOperands(ContextState& context, const OperandList& operands, std::int64_t wanted_bytes,
                                   std::uint64_t seed, float alpha, float beta)
    : plan_(rotation_plan(operands, wanted_bytes, static_cast<std::int64_t>(context.device->free_memory()))),
      scalars_({.alpha = alpha, .beta = beta}) {
    const ReferenceKernels kernels(context);
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Copies& copies = operands_.emplace_back(allocate(context.device, operands[i], plan_.strides[i]));
        if (!operands[i].is_written && !operands[i].has_row_numbers())
            fill(kernels, copies, operands[i].type, 3 * seed + i);
        else
            context.device->fill_bytes(copies.memory.data(), 0, static_cast<std::size_t>(copies.memory.size_bytes()));
    }
    for (Copies& copies : operands_)
        if (copies.operand.by_addresses) add_arrays(context.device, copies, seed);
    context.device->synchronize(nullptr);
}

/// For each copy an array of addresses.
void RotatingOperands::add_arrays(const std::shared_ptr<Device>& device, Copies& copies, std::uint64_t seed) const {
    std::vector<std::uint64_t> all;
    for (std::int64_t copy = 0; copy < plan_.copies; ++copy) {
        const std::vector<std::int64_t> places = random_places(copies.operand.batch, seed + all.size());
        const auto addresses = addresses_at(form_in_copy(copies.operand), copies.at(copy), places);
        all.insert(all.end(), addresses.begin(), addresses.end());
    }
    const std::size_t bytes = all.size() * sizeof(std::uint64_t);
    copies.arrays = DeviceMemory(device, static_cast<std::int64_t>(bytes));
    device->copy_to_device(copies.arrays.data(), all.data(), bytes);
}

RotatingOperands::Copies RotatingOperands::allocate(const std::shared_ptr<Device>& device, const GemmOperand& operand,
                                                    std::int64_t stride) const {
    Copies copies;
    copies.operand = operand;
    copies.memory = DeviceMemory(device, plan_.copies * stride);
    copies.stride = stride;
    copies.first = copies.memory.data().address + static_cast<std::uint64_t>(offset_of(form_in_copy(operand)));
    return copies;
}

void RotatingOperands::divide_rows(Device& device, const GemmSpec& spec, GroupSizes sizes, std::uint64_t seed) const {
    const std::int64_t all = is_grouped(spec) ? expected_rows(spec) : expected_k(spec);
    for (const Copies& copies : operands_) {
        if (!copies.operand.has_row_numbers()) continue;
        for (std::int64_t copy = 0; copy < plan_.copies; ++copy) {
            const std::uint64_t own_seed = seed + static_cast<std::uint64_t>(copy);
            const std::vector<std::int32_t> values = copies.operand.column == OperandIndex::groups
                                                         ? group_offsets(spec, all, sizes, own_seed)
                                                         : row_index(spec, own_seed, false);
            device.copy_to_device(copies.at(copy), values.data(), values.size() * sizeof(std::int32_t));
        }
    }
}

// Padding and the room between copies are filled as well: one launch per operand, and nothing reads them.
void RotatingOperands::fill(const ReferenceKernels& kernels, const Copies& copies, DataType type, std::uint64_t seed) {
    const std::int64_t elements = copies.memory.size_bytes() / bytes(type);
    kernels.fill({copies.memory.data(), 1, elements, elements, 1, type}, {.kind = FillKind::normal, .seed = seed});
}

void RotatingOperands::point(GemmArguments& arguments, std::int64_t index) const {
    for (const Copies& copies : operands_) set_address(copies.operand, arguments, copies.given(index % plan_.copies));
}

GemmArguments RotatingOperands::arguments(std::int64_t index) const {
    GemmArguments arguments = scalars_;
    point(arguments, index);
    return arguments;
}

}  // namespace jitgemm
