#include "runtime/bench/rotating_operands.hpp"

#include "generator/base/round_up.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::int64_t kAllocationAlignment = 256;

/// Where an operand begins in a copy: at 256 bytes, or at just its promised alignment.
std::int64_t offset_of(const MatrixForm& form) { return form.generous ? 0 : form.alignment; }

std::int64_t stride_of(const MatrixForm& form) {
    return round_up(std::max(form.extent_bytes() + offset_of(form), std::int64_t{1}), kAllocationAlignment);
}

}  // namespace

RotationPlan rotation_plan(const GemmSpec& spec, std::int64_t wanted_bytes, std::int64_t free_bytes) {
    const ProblemForms forms = problem_forms(spec, true);
    RotationPlan plan;
    plan.stride_a = stride_of(forms.a);
    plan.stride_b = stride_of(forms.b);
    plan.stride_c = spec.c ? stride_of(forms.c) : 0;
    plan.stride_d = stride_of(forms.d);
    const std::int64_t each = plan.bytes_per_copy();
    const std::int64_t wanted = (wanted_bytes + each - 1) / each;
    const std::int64_t fitting = free_bytes / 5 * 4 / each;
    plan.copies = std::max<std::int64_t>(1, std::min({wanted, fitting, kMostCopies}));
    return plan;
}

RotatingOperands::RotatingOperands(ContextState& context, const GemmSpec& spec, std::int64_t wanted_bytes,
                                   std::uint64_t seed, float alpha, float beta)
    : plan_(rotation_plan(spec, wanted_bytes, static_cast<std::int64_t>(context.device->free_memory()))),
      alpha_(alpha),
      beta_(spec.c ? beta : 0.0F) {
    const ProblemForms forms = problem_forms(spec, true);
    const ReferenceKernels kernels(context);
    a_ = allocate(context.device, forms.a, plan_.stride_a);
    b_ = allocate(context.device, forms.b, plan_.stride_b);
    if (spec.c) c_ = allocate(context.device, forms.c, plan_.stride_c);
    d_ = allocate(context.device, forms.d, plan_.stride_d);
    fill(kernels, a_, spec.a, 3 * seed);
    fill(kernels, b_, spec.b, 3 * seed + 1);
    if (spec.c) fill(kernels, c_, *spec.c, 3 * seed + 2);
    context.device->fill_bytes(d_.memory.data(), 0, static_cast<std::size_t>(d_.memory.size_bytes()));
    context.device->synchronize(nullptr);
}

RotatingOperands::Operand RotatingOperands::allocate(const std::shared_ptr<Device>& device, const MatrixForm& form,
                                                     std::int64_t stride) const {
    Operand operand;
    operand.memory = DeviceMemory(device, plan_.copies * stride);
    operand.first = operand.memory.data().address + static_cast<std::uint64_t>(offset_of(form));
    operand.stride = stride;
    return operand;
}

// Padding and the room between copies are filled as well: one launch per operand, and nothing reads them.
void RotatingOperands::fill(const ReferenceKernels& kernels, const Operand& operand, DataType type,
                            std::uint64_t seed) {
    const std::int64_t elements = operand.memory.size_bytes() / bytes(type);
    kernels.fill({operand.memory.data(), 1, elements, elements, 1, type}, {.kind = FillKind::normal, .seed = seed});
}

GemmArguments RotatingOperands::arguments(std::int64_t index) const {
    const std::int64_t copy = index % plan_.copies;
    GemmArguments arguments;
    arguments.a = a_.at(copy);
    arguments.b = b_.at(copy);
    if (c_.first) arguments.c = c_.at(copy);
    arguments.d = d_.at(copy);
    arguments.alpha = alpha_;
    arguments.beta = beta_;
    return arguments;
}

}  // namespace jitgemm
