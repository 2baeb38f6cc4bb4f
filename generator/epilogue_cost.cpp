#include "generator/epilogue_cost.hpp"

#include "generator/base/operand.hpp"
#include "generator/families/family.hpp"

namespace jitgemm {
namespace {

double stored_bytes(const GemmOperand& operand) {
    return static_cast<double>(operand.rows) * static_cast<double>(operand.columns) *
           static_cast<double>(operand.matrices()) * bytes(operand.type);
}

/// The same product, whose sums are stored. With pairs, D has half of its columns and no room for the others.
GemmSpec plain_spec(const Problem& problem) {
    GemmSpec spec = problem.requested();
    spec.epilogue = {};
    if (has_pairs(problem.signature)) {
        spec.ldd = 0;
        spec.align_d = 0;
        spec.batch_stride_d = kPackedBatch;
    }
    return spec;
}

std::optional<double> plain_time(const Problem& problem, const KernelConfig& config, const GpuModel& gpu) {
    const GemmSpec spec = plain_spec(problem);
    if (!problems(spec).empty()) return std::nullopt;
    const Family& family = family_of(config);
    const Problem plain = problem_of(spec);
    const bool is_served =
        family.unsupported(plain, *gpu.arch).empty() && family.violations(plain, config, *gpu.arch).empty();
    if (!is_served) return std::nullopt;
    return family.cost(plain, config, gpu).total_us;
}

}  // namespace

std::optional<EpilogueCost> epilogue_cost(const Problem& problem, const KernelConfig& config, const GpuModel& gpu) {
    const auto& epilogue = problem.signature.epilogue;
    if (!epilogue) return std::nullopt;
    EpilogueCost cost;
    for (const GemmOperand& operand : gemm_operands(problem.row_major())) {
        if (operand.is_written)
            cost.written_bytes += stored_bytes(operand);
        else if (operand.pointer == nullptr)
            cost.read_bytes += stored_bytes(operand);
    }
    cost.special_operations = epilogue->counts().special;
    cost.other_operations = epilogue->counts().others;
    cost.plain_us = plain_time(problem, config, gpu);
    return cost;
}

}  // namespace jitgemm
