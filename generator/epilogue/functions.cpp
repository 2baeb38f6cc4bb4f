#include "generator/epilogue/functions.hpp"

#include "generator/epilogue/function_texts.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace jitgemm {
namespace {

constexpr double kSqrtTwoOverPi = 0.7978845608028654;
constexpr double kGeluCube = 0.044715;

double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
/// gelu(x) = x · sigmoid(2 · inner): 1 + tanh(u) is 2 · sigmoid(2u).
double gelu_inner(double x) { return kSqrtTwoOverPi * (x + kGeluCube * x * x * x); }
double nan_or(const double* args, double value) { return std::isnan(args[0]) ? args[0] : value; }

double larger(double x, double y) { return std::isnan(x) || x > y ? x : y; }
double smaller(double x, double y) { return std::isnan(x) || x < y ? x : y; }

double gelu_slope(double x) {
    if (std::fabs(x) > 40) return x > 0 ? 1 : 0;  // beyond, the cube would make NaNs of infinities
    const double s = sigmoid_of(2 * gelu_inner(x));
    return s + x * s * (1 - s) * 2 * kSqrtTwoOverPi * (1 + 3 * kGeluCube * x * x);
}

/// Sources of the errors: the PTX ISA for .approx instructions (ex2 and lg2 2^-22, rcp 2^-23, tanh 2^-11), and the
/// roundings of the formulas around them. Slopes are rounded up.
constexpr std::array kFunctions{
    EpilogueFunction{.name = "relu",
                     .formula = [](const double* x) { return nan_or(x, larger(x[0], 0)); },
                     .cuda_name = "relu",
                     .cuda = function_text::kRelu},
    EpilogueFunction{.name = "drelu",
                     .formula = [](const double* x) { return x[0] > 0 ? 1.0 : 0.0; },
                     .cuda_name = "drelu",
                     .cuda = function_text::kDrelu},
    EpilogueFunction{.name = "clamp",
                     .arity = 3,
                     .formula = [](const double* x) { return smaller(larger(x[0], x[1]), x[2]); },
                     .operations = 2,
                     .cuda_name = "clamp",
                     .cuda = function_text::kClamp},
    EpilogueFunction{.name = "abs",
                     .formula = [](const double* x) { return std::fabs(x[0]); },
                     .growth = Growth::sloped,
                     .slope = 1,
                     .least = 0,
                     .cuda_name = "fabsf"},
    EpilogueFunction{.name = "max",
                     .arity = 2,
                     .formula = [](const double* x) { return larger(x[0], x[1]); },
                     .cuda_name = "max_f32",
                     .cuda = function_text::kMax},
    EpilogueFunction{.name = "min",
                     .arity = 2,
                     .formula = [](const double* x) { return smaller(x[0], x[1]); },
                     .cuda_name = "min_f32",
                     .cuda = function_text::kMin},
    EpilogueFunction{.name = "select",
                     .arity = 3,
                     .kind = FunctionKind::select,
                     .formula = [](const double* x) { return x[0] != 0 ? x[1] : x[2]; },
                     .operations = 2},
    EpilogueFunction{.name = "sigmoid",
                     .formula = [](const double* x) { return sigmoid_of(x[0]); },
                     .error = {.absolute = 0x1p-23, .of_value = 0x1p-21},
                     .special = 2,
                     .operations = 2,
                     .cuda_name = "sigmoid",
                     .cuda = function_text::kSigmoid},
    EpilogueFunction{.name = "sigmoid",
                     .is_fast = true,
                     .formula = [](const double* x) { return sigmoid_of(x[0]); },
                     .error = {.absolute = 0x1p-11},
                     .special = 1,
                     .operations = 2,
                     .cuda_name = "fast_sigmoid",
                     .cuda = function_text::kFastSigmoid},
    EpilogueFunction{.name = "silu",
                     .formula = [](const double* x) { return x[0] * sigmoid_of(x[0]); },
                     .error = {.absolute = 0x1p-23, .of_value = 0x1p-21},
                     .growth = Growth::sloped,
                     .slope = 1.1,
                     .least = -0.2785,
                     .special = 2,
                     .operations = 3,
                     .cuda_name = "silu",
                     .cuda = function_text::kSilu},
    EpilogueFunction{.name = "silu",
                     .is_fast = true,
                     .formula = [](const double* x) { return x[0] * sigmoid_of(x[0]); },
                     .error = {.of_argument = 0x1p-11},
                     .growth = Growth::sloped,
                     .slope = 1.1,
                     .least = -0.2785,
                     .special = 1,
                     .operations = 2,
                     .cuda_name = "fast_silu",
                     .cuda = function_text::kFastSilu},
    EpilogueFunction{.name = "dsilu",
                     .formula =
                         [](const double* x) {
                             const double s = sigmoid_of(x[0]);
                             return s * (1 + x[0] * (1 - s));
                         },
                     .error = {.absolute = 0x1p-19},
                     .growth = Growth::sloped,
                     .slope = 0.51,
                     .least = -0.1,
                     .special = 2,
                     .operations = 5,
                     .cuda_name = "dsilu",
                     .needs = "sigmoid",
                     .cuda = function_text::kDsilu},
    EpilogueFunction{.name = "tanh",
                     .formula = [](const double* x) { return std::tanh(x[0]); },
                     .error = {.absolute = 0x1p-126, .of_value = 0x1p-21},
                     .special = 2,
                     .operations = 12,
                     .cuda_name = "tanh_f32",
                     .cuda = function_text::kTanh},
    EpilogueFunction{.name = "tanh",
                     .is_fast = true,
                     .formula = [](const double* x) { return std::tanh(x[0]); },
                     .error = {.absolute = 0x1p-126, .of_value = 0x1p-10},
                     .special = 1,
                     .operations = 0,
                     .cuda_name = "fast_tanh",
                     .cuda = function_text::kFastTanh},
    EpilogueFunction{.name = "gelu",
                     .formula = [](const double* x) { return x[0] * sigmoid_of(2 * gelu_inner(x[0])); },
                     .error = {.absolute = 0x1p-21, .of_value = 0x1p-21},
                     .growth = Growth::sloped,
                     .slope = 1.13,
                     .least = -0.1701,
                     .special = 2,
                     .operations = 5,
                     .cuda_name = "gelu",
                     .cuda = function_text::kGelu},
    EpilogueFunction{.name = "gelu",
                     .is_fast = true,
                     .formula = [](const double* x) { return x[0] * sigmoid_of(2 * gelu_inner(x[0])); },
                     .error = {.of_argument = 0x1p-11},
                     .growth = Growth::sloped,
                     .slope = 1.13,
                     .least = -0.1701,
                     .special = 1,
                     .operations = 5,
                     .cuda_name = "fast_gelu",
                     .cuda = function_text::kFastGelu},
    EpilogueFunction{.name = "gelu_erf",
                     .formula = [](const double* x) { return 0.5 * x[0] * (1 + std::erf(x[0] * std::sqrt(0.5))); },
                     .error = {.absolute = 0x1p-21, .of_value = 0x1p-22},
                     .growth = Growth::sloped,
                     .slope = 1.13,
                     .least = -0.1701,
                     .special = 1,
                     .operations = 18,
                     .cuda_name = "gelu_erf",
                     .needs = "erf_f32",
                     .cuda = function_text::kGeluErf},
    EpilogueFunction{.name = "dgelu",
                     .formula = [](const double* x) { return gelu_slope(x[0]); },
                     .error = {.absolute = 0x1p-18},
                     .growth = Growth::sloped,
                     .slope = 0.81,
                     .least = -0.13,
                     .special = 2,
                     .operations = 14,
                     .cuda_name = "dgelu",
                     .needs = "sigmoid",
                     .cuda = function_text::kDgelu},
    EpilogueFunction{.name = "erf",
                     .formula = [](const double* x) { return std::erf(x[0]); },
                     .error = {.absolute = 0x1p-126, .of_value = 0x1p-21},
                     .special = 1,
                     .operations = 15,
                     .cuda_name = "erf_f32",
                     .cuda = function_text::kErf},
    EpilogueFunction{.name = "exp",
                     .formula = [](const double* x) { return std::exp(x[0]); },
                     .error = {.absolute = 0x1p-126, .of_value = 0x1p-20},
                     .special = 1,
                     .operations = 7,
                     .cuda_name = "exp_f32",
                     .cuda = function_text::kExp},
    EpilogueFunction{.name = "exp2",
                     .formula = [](const double* x) { return std::exp2(x[0]); },
                     .error = {.absolute = 0x1p-126, .of_value = 0x1p-21},
                     .special = 1,
                     .operations = 0,
                     .cuda_name = "exp2_f32",
                     .cuda = function_text::kExp2},
    EpilogueFunction{.name = "log",
                     .formula = [](const double* x) { return std::log(x[0]); },
                     .error = {.absolute = 0x1p-21, .of_value = 0x1p-21},
                     .special = 1,
                     .cuda_name = "log_f32",
                     .cuda = function_text::kLog},
    EpilogueFunction{.name = "log2",
                     .formula = [](const double* x) { return std::log2(x[0]); },
                     .error = {.absolute = 0x1p-21, .of_value = 0x1p-21},
                     .special = 1,
                     .operations = 0,
                     .cuda_name = "log2_f32",
                     .cuda = function_text::kLog2},
    EpilogueFunction{.name = "sqrt",
                     .formula = [](const double* x) { return std::sqrt(x[0]); },
                     .error = {.of_value = 0x1p-22},
                     .special = 1,
                     .operations = 1,
                     .cuda_name = "sqrt_f32",
                     .cuda = function_text::kSqrt},
    EpilogueFunction{.name = "rsqrt",
                     .formula = [](const double* x) { return 1 / std::sqrt(x[0]); },
                     .error = {.of_value = 0x1p-21},
                     .growth = Growth::falling,
                     .special = 1,
                     .operations = 0,
                     .cuda_name = "rsqrt_f32",
                     .cuda = function_text::kRsqrt},
    EpilogueFunction{.name = "even", .kind = FunctionKind::half, .operations = 0},
    EpilogueFunction{.name = "odd", .kind = FunctionKind::half, .operations = 0},
    EpilogueFunction{.name = "left", .kind = FunctionKind::half, .operations = 0},
    EpilogueFunction{.name = "right", .kind = FunctionKind::half, .operations = 0},
};

constexpr std::array kCasts{
    EpilogueCast{DataType::f32, "", ""},
    EpilogueCast{DataType::f16, "round_f16", function_text::kRoundF16},
    EpilogueCast{DataType::bf16, "round_bf16", function_text::kRoundBf16},
    EpilogueCast{DataType::e4m3, "round_e4m3", function_text::kRoundE4m3},
    EpilogueCast{DataType::e5m2, "round_e5m2", function_text::kRoundE5m2},
    EpilogueCast{DataType::s8, "round_s8", function_text::kRoundS8},
    EpilogueCast{DataType::s32, "round_s32", function_text::kRoundS32},
};

std::vector<std::string_view> sorted_function_names() {
    std::vector<std::string_view> names{"fast"};
    for (const EpilogueFunction& row : kFunctions)
        if (!row.is_fast) names.push_back(row.name);
    std::ranges::sort(names);
    return names;
}

std::vector<std::string_view> cast_names() {
    std::vector<std::string_view> names;
    for (const EpilogueCast& cast : kCasts) names.push_back(to_string(cast.type));
    return names;
}

}  // namespace

std::span<const EpilogueFunction> epilogue_functions() { return kFunctions; }

int find_epilogue_function(std::string_view name, bool is_fast) {
    const auto found = std::ranges::find_if(
        kFunctions, [&](const EpilogueFunction& row) { return row.name == name && row.is_fast == is_fast; });
    return found == kFunctions.end() ? -1 : static_cast<int>(found - kFunctions.begin());
}

const std::vector<std::string_view>& epilogue_function_names() {
    static const std::vector<std::string_view> kNames = sorted_function_names();
    return kNames;
}

std::span<const EpilogueCast> epilogue_casts() { return kCasts; }

const EpilogueCast* find_epilogue_cast(std::string_view type_name) {
    const auto* const found =
        std::ranges::find_if(kCasts, [&](const EpilogueCast& cast) { return to_string(cast.type) == type_name; });
    return found == kCasts.end() ? nullptr : found;
}

const std::vector<std::string_view>& epilogue_type_names() {
    static const std::vector<std::string_view> kNames = cast_names();
    return kNames;
}

}  // namespace jitgemm
