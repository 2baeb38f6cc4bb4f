#include "generator/base/roofline.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/operand_parts.hpp"

#include <algorithm>

namespace jitgemm {

namespace {

/// The matrices that the problems of a batch have: along each of its dimensions, all one where the stride is 0.
double matrices(const GemmSpec& spec, std::int64_t stride, std::int64_t OuterBatch::*outer_stride) {
    if (!is_nested(spec)) return static_cast<double>(stride == 0 ? 1 : spec.batch);
    const std::int64_t inner = stride == 0 ? 1 : spec.outer->inner;
    const std::int64_t outer = (*spec.outer).*outer_stride == 0 ? 1 : spec.batch / spec.outer->inner;
    return static_cast<double>(inner * outer);
}

/// Rows of A that are read, at most. No row is read twice.
std::int64_t read_rows(const GemmSpec& spec) {
    return is_gathered(spec) ? std::min(spec.source_rows, expected_rows(spec)) : expected_rows(spec);
}

/// Every group of rows has its B. There are no more of them than rows.
double matrices_of_b(const GemmSpec& spec) {
    if (!is_grouped(spec) || spec.batch_stride_b == 0)
        return matrices(spec, spec.batch_stride_b, &OuterBatch::stride_b);
    return static_cast<double>(std::min(spec.groups, expected_rows(spec)));
}

}  // namespace

double operand_bytes(const GemmSpec& spec) {
    const auto k = static_cast<double>(expected_k(spec));
    const double of_a = static_cast<double>(read_rows(spec)) * k * bytes(spec.a) *
                        matrices(spec, spec.batch_stride_a, &OuterBatch::stride_a);
    if (spec.symmetric) return of_a;
    return of_a + k * static_cast<double>(spec.n) * bytes(spec.b) * matrices_of_b(spec);
}

double bytes_of_d(const GemmSpec& spec) {
    const auto [all_rows, columns] = size_of_d(spec);
    const std::int64_t rows = is_grouped(spec) ? expected_rows(spec) : all_rows;
    return static_cast<double>(rows) * static_cast<double>(columns) * bytes(spec.d) * static_cast<double>(spec.batch);
}

double compulsory_bytes(const GemmSpec& spec) {
    double all = operand_bytes(spec) + bytes_of_d(spec) + compulsory_bytes_of_c(spec);
    const EpilogueParts* const parts = parts_of(spec);
    if (parts == nullptr) return all;
    const auto add = [&](const EpilogueIndex& index, DataType type) {
        const auto [rows, columns] = size_of(index, *parts, spec);
        all += static_cast<double>(rows) * static_cast<double>(columns) * bytes(type);
    };
    for (const EpilogueOperand& operand : parts->operands)
        if (!operand.is_scalar) add(operand.index, operand.type);
    for (const EpilogueOutput& output : parts->outputs)
        if (is_beside_d(output)) add(output.index, output.type.value_or(spec.d));
    return all;
}

double compulsory_bytes_of_c(const GemmSpec& spec) {
    if (!spec.c) return 0;
    const auto m = static_cast<double>(spec.m);
    const auto n = static_cast<double>(spec.n);
    const double elements = !spec.broadcast_c ? m * n : spec.d_order == Order::row ? n : m;
    return elements * bytes(*spec.c) * matrices(spec, spec.batch_stride_c, &OuterBatch::stride_c);
}

Roofline roofline(const GemmSpec& spec, const GpuModel& gpu, MathInstruction instruction) {
    Roofline line;
    line.instruction = instruction;
    line.flops = flops(spec);
    line.bytes = compulsory_bytes(spec);
    line.intensity = line.bytes > 0 ? line.flops / line.bytes : 0;
    const DataType operands = instruction == MathInstruction::fma       ? DataType::f32
                              : bytes(spec.a) == 1                      ? spec.a
                              : multiplied_type(spec) == DataType::tf32 ? DataType::tf32
                                                                        : DataType::f16;
    const bool multiplies_parts = has_parts(spec) && instruction != MathInstruction::fma;
    const int per_clock = flops_per_clock(*gpu.arch, instruction, operands, default_accumulator(operands)) /
                          (multiplies_parts ? parts_of_math(spec.math).terms() : 1);
    line.peak_flops = static_cast<double>(per_clock) * gpu.sm_count * gpu.clock_mhz * 1e6;
    line.dram_bytes = gpu.dram_bytes_per_second;
    line.ridge = line.peak_flops / line.dram_bytes;
    line.attainable_flops = std::min(line.peak_flops, line.intensity * line.dram_bytes);
    line.least_microseconds = std::max(line.flops / line.peak_flops, line.bytes / line.dram_bytes) * 1e6;
    return line;
}

}  // namespace jitgemm
