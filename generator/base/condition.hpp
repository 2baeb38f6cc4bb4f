#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace jitgemm {

/// Values of GEMM_* macros by name.
using MacroValues = std::map<std::string, int, std::less<>>;

/// Whether `text` holds "GEMM_" anywhere.
[[nodiscard]] bool names_gemm_macro(std::string_view text);

/// The value of a preprocessor condition over GEMM_* macros: integers, || && == != < <= > >= + - * / % ! parentheses,
/// and defined(GEMM_X). Throws Error on an unknown macro (even where its value does not matter), any other name, or bad
/// syntax.
[[nodiscard]] std::int64_t evaluate_condition(std::string_view text, const MacroValues& macros);

}  // namespace jitgemm
