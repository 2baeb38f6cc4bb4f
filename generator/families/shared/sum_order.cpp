#include "generator/families/shared/sum_order.hpp"

#include "generator/base/operand_parts.hpp"
#include "generator/layout/wgmma_atom.hpp"

#include <fmt/format.h>

namespace jitgemm {

std::string to_string(const SumOrder& order) {
    return fmt::format("{} over {} of k, {}", to_string(order.instruction), order.instruction_k,
                       order.in_k_order ? "in order of k" : "not in order of k");
}

SumOrder batch_invariant_order(const GemmSpec& spec, const Arch& arch) {
    const bool on_tensor_cores = spec.math != Math::ieee && arch.has_wgmma;
    if (spec.a == DataType::f32 && !on_tensor_cores) return {};
    // A wgmma has the k of mma.sync's largest shape.
    return {.instruction = fastest_instruction(arch, MathUnit::tensor_cores),
            .instruction_k = wgmma_k(multiplied_type(spec))};
}

}  // namespace jitgemm
