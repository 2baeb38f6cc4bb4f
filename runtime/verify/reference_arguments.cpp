#include "runtime/verify/reference_arguments.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

// The kernels know types and activations by these numbers.
static_assert(static_cast<int>(DataType::f16) == device_code::kF16 &&
              static_cast<int>(DataType::bf16) == device_code::kBf16 &&
              static_cast<int>(DataType::f32) == device_code::kF32 &&
              static_cast<int>(DataType::tf32) == device_code::kTf32);
static_assert(static_cast<int>(DataType::e4m3) == device_code::kE4m3 &&
              static_cast<int>(DataType::e5m2) == device_code::kE5m2 &&
              static_cast<int>(DataType::s8) == device_code::kS8 &&
              static_cast<int>(DataType::s32) == device_code::kS32);
static_assert(static_cast<int>(Activation::none) == device_code::kNoActivation &&
              static_cast<int>(Activation::relu) == device_code::kRelu &&
              static_cast<int>(Activation::gelu) == device_code::kGelu &&
              static_cast<int>(Activation::silu) == device_code::kSilu);
static_assert(kScaleBlock == device_code::kScaleBlock);
static_assert(sizeof(CheckResult) == sizeof(device_code::CheckResult));

device_code::Operand operand(const DeviceMatrix& matrix) {
    return {reinterpret_cast<void*>(matrix.data.address),
            matrix.row_stride,
            matrix.column_stride,
            matrix.batch_stride,
            static_cast<int>(matrix.type),
            0};
}

}  // namespace

device_code::FillArguments fill_arguments(const DeviceMatrix& matrix, const Fill& fill) {
    return {.matrix = operand(matrix),
            .batch = matrix.batch,
            .rows = matrix.rows,
            .columns = matrix.columns,
            .seed = fill.seed,
            .group = fill.group,
            .kind = static_cast<int>(fill.kind),
            .range = fill.range,
            .constant = fill.constant,
            .unused = 0};
}

device_code::CheckArguments check_arguments(const Check& check) {
    return {.a = operand(check.a),
            .b = operand(check.b),
            .c = operand(check.c),
            .d = operand(check.d),
            .bias = operand(check.bias),
            .residual = operand(check.residual),
            .scale_a = operand(check.scale_a),
            .scale_b = operand(check.scale_b),
            .scale_d = operand(check.scale_d),
            .m = check.d.rows,
            .n = check.d.columns,
            .k = check.k,
            .batch = check.d.batch,
            .alpha = check.alpha,
            .beta = check.beta,
            .sum_unit = check.bound.sum_unit,
            .activation_unit = check.bound.activation_unit,
            .output_unit = check.bound.output_unit,
            .output_floor = check.bound.output_floor,
            .activation = static_cast<int>(check.activation),
            .exact = check.exact ? 1 : 0,
            .result = nullptr,
            .at = {}};
}

device_code::GuardArguments guard_arguments(const GuardedLines& lines, std::uint8_t pattern) {
    const std::int64_t extent = lines.lines == 0 ? 0 : (lines.lines - 1) * lines.pitch + lines.run;
    return {.data = reinterpret_cast<const unsigned char*>(lines.buffer.address),
            .front = lines.front,
            .lines = lines.lines,
            .run = lines.run,
            .pitch = lines.pitch,
            .back = lines.back,
            .groups = lines.groups,
            .group_pitch = lines.groups == 1 ? extent : lines.group_pitch,
            .pattern = pattern,
            .unused = 0,
            .result = nullptr};
}

ElementPlace place_of(const DeviceMatrix& matrix, std::uint64_t number) {
    const device_code::Place at = device_code::place_of(static_cast<long long>(number), matrix.rows, matrix.columns);
    return {at.batch, at.row, at.column};
}

std::string element_name(std::string_view name, std::int64_t batch, const ElementPlace& at) {
    const std::string element = fmt::format("{}[{}, {}]", name, at.row, at.column);
    return batch == 1 ? element : fmt::format("{} of problem {}", element, at.batch);
}

}  // namespace jitgemm
