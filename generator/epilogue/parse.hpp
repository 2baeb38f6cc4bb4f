#pragma once

#include "generator/epilogue/index.hpp"
#include "generator/epilogue/problem.hpp"
#include "jitgemm/data_type.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace jitgemm {

/// \file The language of an epilogue, and what a text of it says before anybody asks whether it makes sense.
///
///   bias: bf16[n]; t = alpha * acc + bias[n]; pre[m,n] = t; d = silu(t) * up[m,n]
///
/// A text is a list of statements. A semicolon or the end of a line ends one. "#" begins a comment.
///
///   declaration   name : type [index]         up: bf16[m,n]     scale: f32
///   assignment    name [index] = value        t = acc + bias[n]
///   reduction     name [index] = sum(value)   or max, min; then "*" or "/" and a number may follow
///   index         [m,n]  [n]  [h]  [0]  [m,n/128]
///   value         + - * / and parentheses; numbers; calls of functions; rounding to a type: bf16(x);
///                 select(x < y, a, b), the only place of a comparison
///
/// Names:
/// - `acc` is the sum of products. m and n are its row and column. h is the column of a pair.
/// - `alpha` and `beta` are scalars of the launch, and so is a name that is declared without an index.
/// - A name with an index that is read is an operand. Its index says how it lies: [0] is one element, [n] and [m] are
///   vectors along D's columns and rows, [m,n] is a matrix, [m,n/128] has one element for each block.
/// - A name without an index that is assigned is a local value. `d` is the exception: it is D.
/// - A name with an index that is assigned is a further output. A reduction goes over the indices that its left side
///   lacks. Its result is f32.
///
/// Types: a declared type counts. Else the caller's counts. Else an operand or output has D's type. Scalars, [0],
/// operands over blocks, and reductions are f32.
///
/// Arithmetic: all of it is f32. Each operation is rounded once. A product that is added is one fmaf. Of two products
/// that are added, the right one is fused. A value that is used twice is computed once, and never fused. max, min and
/// relu pass NaN on. Functions are accurate to some 2^-20; fast(silu(x)) takes half the time and is good to 2^-11.
///
/// Pairs: left(x) and right(x) are x in columns h and h + n/2, even(x) and odd(x) are x in columns 2h and 2h + 1. An
/// output of pairs has the index [m,h].
///
/// Guards: where a scalar of the launch multiplies an operand in each of its uses, and is 0, the operand is not read.
/// With beta = 0, C is not read in "alpha * acc + beta * c[m,n]".
///
/// Reductions that are read back: a result over blocks of 32, 64 or 128 columns of a row may be read by later
/// statements: "s[m,n/128] = max(abs(t)) / 448; d = e4m3(t / s[m,n/128])". It is a scale. Where a max is 0, it is 1.
///
/// Every text is valid Python, and its values are valid C.

enum class ExpressionKind : std::uint8_t { number, name, indexed, negation, binary, comparison, call };

/// A value as it is written. `source` and `word` are parts of the text that was parsed.
struct Expression {
    ExpressionKind kind = ExpressionKind::number;
    TextPosition at = {};          ///< of a binary operation: its operator
    std::string_view source = {};  ///< all of it
    std::string_view word = {};    ///< a name, an operator, a function or a type
    float number = 0;
    EpilogueIndex index = {};
    std::vector<Expression> arguments = {};
};

/// A declaration or an assignment.
struct Statement {
    std::string_view name = {};
    TextPosition at = {};
    std::optional<EpilogueIndex> index = std::nullopt;
    std::optional<DataType> type = std::nullopt;     ///< of a declaration
    std::optional<Expression> value = std::nullopt;  ///< of an assignment
    bool is_broken = false;                          ///< what follows the name could not be read
};

/// The statements of a text, in its order. What can't be read is a problem, and the next statement is read.
[[nodiscard]] std::vector<Statement> parse_epilogue(std::string_view text, EpilogueProblems& problems);

}  // namespace jitgemm
