#pragma once

#include "jitgemm/data_type.hpp"

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// \file The functions of an epilogue's text. A new function is one row of the table.

/// The kind of code that a call of a function becomes.
enum class FunctionKind : std::uint8_t {
    value,   ///< computed by a device function, or by one that the compiler has
    select,  ///< select(condition, x, y)
    half     ///< one of the two columns of a pair: even, odd, left, right
};

/// How a function's value moves with its arguments.
enum class Growth : std::uint8_t {
    rising,   ///< with every argument: the ends of the arguments give the ends of the value
    falling,  ///< against every argument
    sloped    ///< neither: `slope` bounds how far the value moves
};

/// |computed − formula| ≤ absolute + of_value · |formula| + of_argument · |first argument|.
struct FunctionError {
    double absolute = 0;
    double of_value = 0;
    double of_argument = 0;
};

struct EpilogueFunction {
    std::string_view name;  ///< as a text has it
    int arity = 1;
    FunctionKind kind = FunctionKind::value;
    bool is_fast = false;                             ///< asked for as fast(name(x))
    double (*formula)(const double* args) = nullptr;  ///< in f64; not of a half
    FunctionError error = {};                         ///< beside f32's rounding; all zero: the value is exact
    Growth growth = Growth::rising;
    double slope = 0;                                         ///< largest |derivative| where `growth` is sloped
    double least = -std::numeric_limits<double>::infinity();  ///< smallest value
    int special = 0;                                          ///< special-function instructions
    int operations = 1;                                       ///< other instructions, such as FMAs
    std::string_view cuda_name = {};                          ///< as a kernel calls it
    std::string_view needs = {};                              ///< the cuda_name of a function that `cuda` calls
    std::string_view cuda = {};                               ///< device function; "": the compiler has it
};

[[nodiscard]] std::span<const EpilogueFunction> epilogue_functions();

/// The row's place in the table; -1 where there is none.
[[nodiscard]] int find_epilogue_function(std::string_view name, bool is_fast = false);

/// The names of the accurate functions and of `fast`, sorted.
[[nodiscard]] const std::vector<std::string_view>& epilogue_function_names();

/// A type that a text can name and round to: "bf16(x)" goes on in f32.
struct EpilogueCast {
    DataType type;
    std::string_view cuda_name;
    std::string_view cuda;
};
[[nodiscard]] std::span<const EpilogueCast> epilogue_casts();
/// Null where a text can't name the type.
[[nodiscard]] const EpilogueCast* find_epilogue_cast(std::string_view type_name);
/// "f32, f16, bf16, …".
[[nodiscard]] const std::vector<std::string_view>& epilogue_type_names();

}  // namespace jitgemm
