#include "runtime/verify/reference_arguments.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/round_up.hpp"
#include "generator/epilogue/index.hpp"

#include <fmt/format.h>

#include <bit>

namespace jitgemm {
namespace {

// The kernels know types by these numbers.
static_assert(static_cast<int>(DataType::f16) == device_code::kF16 &&
              static_cast<int>(DataType::bf16) == device_code::kBf16 &&
              static_cast<int>(DataType::f32) == device_code::kF32 &&
              static_cast<int>(DataType::tf32) == device_code::kTf32);
static_assert(static_cast<int>(DataType::e4m3) == device_code::kE4m3 &&
              static_cast<int>(DataType::e5m2) == device_code::kE5m2 &&
              static_cast<int>(DataType::s8) == device_code::kS8 &&
              static_cast<int>(DataType::s32) == device_code::kS32);
static_assert(sizeof(CheckResult) == sizeof(device_code::CheckResult));

device_code::Operand operand(const DeviceMatrix& matrix) {
    return {reinterpret_cast<void*>(matrix.data.address),
            matrix.batch_stride,
            matrix.row_stride,
            matrix.column_stride,
            matrix.outer_stride,
            matrix.first_problem,
            static_cast<int>(matrix.type),
            static_cast<int>(matrix.inner)};
}

device_code::Extents extents_of(const DeviceMatrix& matrix) { return {matrix.matrices, matrix.rows, matrix.columns}; }

constexpr int shift_of(int power_of_two) { return std::countr_zero(static_cast<unsigned>(power_of_two)); }
static_assert(1 << shift_of(kScaledBlock) == kScaledBlock);

device_code::BlockScales block_scales(const BlockScales& scales) {
    return {.elements = operand(scales.elements),
            .first = scales.first,
            .line_shift = shift_of(scales.over),
            .k_shift = shift_of(kScaledBlock)};
}

}  // namespace

device_code::FillArguments fill_arguments(const DeviceMatrix& matrix, const Fill& fill) {
    return {.matrix = operand(matrix),
            .extents = extents_of(matrix),
            .seed = fill.seed,
            .group = fill.group,
            .kind = static_cast<int>(fill.kind),
            .range = fill.range,
            .constant = fill.constant,
            .fractions = static_cast<int>(fill.fractions)};
}

device_code::CheckArguments check_arguments(const Check& check) {
    return {.a = operand(check.a),
            .b = operand(check.b),
            .c = operand(check.c),
            .d = operand(check.d),
            .scale_a = block_scales(check.scale_a),
            .scale_b = block_scales(check.scale_b),
            .extents = extents_of(check.d),
            .k = check.k,
            .alpha = check.alpha,
            .beta = check.beta,
            .sum_unit = check.bound.sum_unit,
            .output_unit = check.bound.output_unit,
            .output_floor = check.bound.output_floor,
            .exact = check.exact ? 1 : 0,
            .unused = 0,
            .result = nullptr,
            .at = {},
            .sums = nullptr};
}

device_code::GuardArguments guard_arguments(const GuardedLines& lines, std::uint8_t pattern) {
    return {.data = reinterpret_cast<const unsigned char*>(lines.buffer.address),
            .front = lines.front,
            .lines = lines.lines,
            .run = lines.run,
            .pitch = lines.pitch,
            .groups = lines.groups,
            .between = lines.between,
            .blocks = lines.blocks,
            .between_blocks = lines.between_blocks,
            .back = lines.back,
            .pattern = pattern,
            .unused = 0,
            .result = nullptr};
}

ElementPlace place_of(const DeviceMatrix& matrix, std::uint64_t number) {
    const device_code::Place at = device_code::place_of(static_cast<long long>(number), extents_of(matrix));
    return {at.problem, at.row, at.column};
}

std::uint64_t number_of(const DeviceMatrix& matrix, const ElementPlace& at) {
    return device_code::number_of({at.problem, at.row, at.column}, extents_of(matrix));
}

std::string element_name(std::string_view name, const ElementPlace& at, bool is_batched) {
    return fmt::format("{}{}[{}, {}]", name, is_batched ? fmt::format("[{}]", at.problem) : "", at.row, at.column);
}

std::int64_t DeviceMatrix::begin_of(std::int64_t problem) const {
    return device_code::index_of(operand(*this), {problem, 0, 0});
}

std::int64_t DeviceMatrix::extent_bytes() const {
    if (!data || matrices == 0 || rows == 0 || columns == 0) return 0;
    const MemorySteps steps{MemoryStep{rows, row_stride}, MemoryStep{columns, column_stride}, MemoryStep{}};
    const std::int64_t all = first_problem + matrices;
    const std::int64_t outer = inner == 0 ? 1 : ceil_div(all, inner), within = inner == 0 ? all : inner;
    return (reach_of(1, steps) + (within - 1) * batch_stride + (outer - 1) * outer_stride) * bytes(type);
}

DeviceMatrix DeviceMatrix::part(std::int64_t first, std::int64_t count) const {
    DeviceMatrix some = *this;
    const std::int64_t problem = first_problem + first;
    const std::int64_t begin = inner == 0 ? problem * batch_stride : problem / inner * outer_stride;
    if (data) some.data.address += static_cast<std::uint64_t>(begin * bytes(type));
    some.first_problem = inner == 0 ? 0 : problem % inner;
    some.matrices = count;
    return some;
}

}  // namespace jitgemm
