#include "generator/base/operand.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <optional>

namespace jitgemm {
namespace {

/// The size that a place names. A block may have several elements of it.
OperandIndex size_named(const std::optional<EpiloguePlace>& place, const EpilogueParts& parts) {
    if (!place) return OperandIndex::one;
    if (place->size == 'h') return parts.is_transposed ? OperandIndex::half_m : OperandIndex::half_n;
    return place->size == 'm' ? OperandIndex::m : OperandIndex::n;
}
int over(const std::optional<EpiloguePlace>& place) { return place ? place->over : 1; }

OperandIndex index_of(const std::optional<EpiloguePlace>& place, const EpilogueParts& parts) {
    if (place && place->size == 'k') return OperandIndex::blocks_k;
    if (over(place) == kScaledBlock) return place->size == 'm' ? OperandIndex::blocks_m : OperandIndex::blocks_n;
    return size_named(place, parts);
}

/// The meaning of a text that may be wrong.
std::optional<Epilogue> sound_meaning(const GemmSpec& spec) { return reading_of(spec.epilogue, spec.d).epilogue; }

/// A value of an epilogue, with the sizes of the problem. A matrix has a pitch, and lies as D does. Values for blocks
/// have a pitch, too, and lie as their index is written.
GemmOperand laid_out(const GemmOperand& of, const GemmSpec& spec) {
    GemmOperand operand = placed(of, spec);
    const auto take_batch_stride = [&] {
        if (!of.is_of_group || !has_batch_stride(of.is_of_group, spec)) return;
        const std::int64_t stride = spec.epilogue.layout_of(of.name).batch_stride;
        operand.batch_stride = stride == kPackedBatch ? behind_one_another(operand) : stride;
        if (!is_nested(spec)) return;
        operand.inner = spec.outer->inner;
        const std::int64_t outer = spec.epilogue.layout_of(of.name).outer_stride;
        operand.outer_stride = outer == kPackedBatch ? behind_inner(operand) : outer;
    };
    if (!operand.is_matrix()) {
        operand.order = operand.row == OperandIndex::one ? Order::row : Order::column;
        take_batch_stride();
        return operand;
    }
    if (operand.is_block_scale() || operand.is_over_blocks()) operand.order = Order::row;
    const EpilogueLayout layout = spec.epilogue.layout_of(of.name);
    operand.pitch = pitch_of(layout, operand.run());
    take_batch_stride();
    operand.alignment = layout.align != 0 ? layout.align : natural_alignment(operand);
    return operand;
}

}  // namespace

void OperandArguments::set(const OperandArgument& operand) {
    for (std::size_t i = 0; i < size_; ++i)
        if (operands_.at(i).name == operand.name) return void(operands_.at(i) = operand);
    if (size_ == kMost)
        throw SpecError("operands of an epilogue",
                        {fmt::format("{} is the {}th: a launch has at most {}", operand.name, kMost + 1, kMost)});
    operands_.at(size_++) = operand;
}

const EpilogueParts* parts_of(const GemmSpec& spec) {
    if (spec.epilogue.empty()) return nullptr;
    const std::optional<Epilogue> meaning = sound_meaning(spec);
    return meaning ? &meaning->parts() : nullptr;
}

GemmOperand epilogue_operand(const EpilogueOperand& of, const EpilogueParts& parts, const GemmSpec& spec) {
    return laid_out({.name = of.name,
                     .title = of.name,
                     .row = index_of(of.index.row, parts),
                     .column = index_of(of.index.column, parts),
                     .is_of_group = of.index.of_problem,
                     .guard = of.guards.empty() ? OperandGuard::none : OperandGuard::epilogue,
                     .epilogue = &parts,
                     .guards = &of.guards,
                     .type = of.type,
                     .order = spec.d_order},
                    spec);
}

GemmOperand epilogue_output(const EpilogueOutput& of, const EpilogueParts& parts, const GemmSpec& spec) {
    return laid_out({.name = of.name,
                     .title = of.name,
                     .row = size_named(of.index.row, parts),
                     .column = size_named(of.index.column, parts),
                     .row_over = over(of.index.row),
                     .column_over = over(of.index.column),
                     .is_written = true,
                     .is_of_group = of.index.of_problem,
                     .epilogue = &parts,
                     .type = of.type.value_or(spec.d),
                     .order = spec.d_order},
                    spec);
}

MatrixSize size_of(const EpilogueIndex& index, const EpilogueParts& parts, const GemmSpec& spec) {
    return {size_of(index_of(index.row, parts), spec), size_of(index_of(index.column, parts), spec)};
}

MatrixSize size_of_d(const GemmSpec& spec) {
    const MatrixIndex index = index_of_d(parts_of(spec));
    return {size_of(index.row, spec), size_of(index.column, spec)};
}

GemmArguments scalar_arguments(const GemmSpec& spec, float alpha, float beta) {
    GemmArguments scalars;
    const EpilogueParts* const parts = parts_of(spec);
    if (parts == nullptr) {
        scalars.alpha = alpha;
        scalars.beta = beta;
        return scalars;
    }
    for (const EpilogueOperand& operand : parts->operands) {
        if (!operand.is_scalar) continue;
        if (operand.name == "alpha")
            scalars.alpha = alpha;
        else if (operand.name == "beta")
            scalars.beta = beta;
        else
            scalars.operands.set({operand.name, alpha});
    }
    return scalars;
}

}  // namespace jitgemm
