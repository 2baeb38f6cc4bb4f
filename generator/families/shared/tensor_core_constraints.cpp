#include "generator/families/shared/tensor_core_constraints.hpp"

#include "generator/base/promoted_sums.hpp"
#include "generator/epilogue/index.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

constexpr int kMaxPassesAsync = 32;      // one predicate bit per pass in a 32-bit mask
constexpr int kMaxPassesShifted = 12;    // eight registers per pass
constexpr int kMaxPassesRegisters = 24;  // four
constexpr int kCpAsyncCapability = 80;

/// "f16 by f16 or bf16 by bf16"
std::string_view factors_text(const TensorCoreTypes& types) {
    if (types.parts)
        return "f16 by f16, bf16 by bf16, s8 by s8, e4m3 and e5m2 in any mix, or f32 with a math other than ieee";
    return types.factors_of_8_bits ? "f16 by f16, bf16 by bf16, s8 by s8, or e4m3 and e5m2 in any mix"
                                   : "f16 by f16 or bf16 by bf16";
}

/// Where along K the problem's sums begin anew, and what says so: "with sums=fast, sums of e4m3 never begin anew".
std::string sums_text(const GemmSpec& spec) {
    const std::string_view sums = has_promoted_sums(spec) ? "promoted" : "fast";
    const std::string option = spec.math != Math::ieee ? fmt::format("with math={}, ", to_string(spec.math))
                               : is_float8(spec.a)     ? fmt::format("with sums={}, ", sums)
                                                       : "";
    const int promoted = promoted_k(spec);
    const std::string place = promoted == 0 ? "never begin anew" : fmt::format("begin anew every {} of K", promoted);
    return fmt::format("{}sums of {} {}", option, to_string(spec.a), place);
}

}  // namespace

Reasons unsupported_on_tensor_cores(std::string_view family, const GemmSpec& spec, const Arch& arch,
                                    const TensorCoreTypes& types) {
    Reasons reasons;
    const bool has_8_bits = types.factors_of_8_bits && bytes(spec.a) == 1;
    const bool is_served =
        (is_half(spec.a) && spec.a == spec.b) || has_8_bits || (types.parts && spec.math != Math::ieee);
    if (!is_served)
        reasons.push_back(fmt::format("{} multiplies {}, not {} by {}", family, factors_text(types), to_string(spec.a),
                                      to_string(spec.b)));
    check_outputs(reasons, family, spec, has_8_bits || types.outputs_of_8_bits);
    if (arch.compute_capability < kCpAsyncCapability)
        reasons.push_back(fmt::format("{} needs sm_{} (cp.async), not {}", family, kCpAsyncCapability, arch.name));
    return reasons;
}

void check_scaled_types(Reasons& reasons, const Problem& problem) {
    const GemmSpec& spec = problem.row_major();
    if (!has_block_scales(problem.signature) || (has_promoted_sums(spec) && bytes(spec.a) == 1)) return;
    for (const EpilogueOperand& operand : problem.signature.epilogue->parts().operands)
        if (operand.is_block_scale())
            reasons.push_back(
                fmt::format("{} scales blocks of K, which needs A and B of 8-bit floats and sums=promoted",
                            with_index(operand.name, operand.index)));
}

void check_promoted_k(Reasons& reasons, const GemmSpec& spec, int promote, int block_k) {
    const int promoted = promoted_k(spec);
    if (promote != promoted)
        reasons.push_back(fmt::format("promote = {}: {}, so promote must be {}", promote, sums_text(spec), promoted));
    if (promote != 0) check_divides(reasons, "block_tile.k", block_k, "promote", promote);
}

void check_warps(Reasons& reasons, const TensorCoreGeometry& g, int most) {
    const int warps = g.warps_m * g.warps_n;
    if (warps < 1 || warps > most)
        reasons.push_back(
            fmt::format("{} x {} = {} warps per block, outside 1 to {}", g.warps_m, g.warps_n, warps, most));
}

void check_copy(Reasons& reasons, std::string_view name, const OperandGeometry& operand, int threads) {
    if (operand.vectors_per_row == 0 || threads % operand.vectors_per_row != 0) {
        reasons.push_back(fmt::format("{}: {} threads don't divide into rows of {} vectors of {} bytes", name, threads,
                                      operand.vectors_per_row, operand.vector_bytes));
        return;
    }
    const int most = operand.async ? kMaxPassesAsync : operand.shifted ? kMaxPassesShifted : kMaxPassesRegisters;
    if (operand.passes > most)
        reasons.push_back(fmt::format("{}: {} vectors of {} bytes per thread and tile, more than {}", name,
                                      operand.passes, operand.vector_bytes, most));
}

void check_resources(Reasons& reasons, const TensorCoreGeometry& g, const Arch& arch) {
    if (g.shared_bytes > arch.shared_bytes_per_block)
        reasons.push_back(fmt::format("{} bytes of shared memory (pipeline {}, epilogue {}), {} has {}", g.shared_bytes,
                                      g.pipeline_bytes, g.epilogue_bytes, arch.name, arch.shared_bytes_per_block));
    if (g.registers() > arch.max_registers_per_thread)
        reasons.push_back(fmt::format(
            "about {} registers per thread ({} accumulators, {} fragments, {} staging), the most is {}", g.registers(),
            g.accumulator_registers, g.fragment_registers, g.staging_registers, arch.max_registers_per_thread));
    else if (std::int64_t{g.registers()} * g.threads > arch.registers_per_sm)
        reasons.push_back(fmt::format("about {} registers x {} threads exceed the {} of an SM", g.registers(),
                                      g.threads, arch.registers_per_sm));
}

}  // namespace jitgemm
