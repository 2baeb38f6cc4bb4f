#pragma once

#include "generator/epilogue/problem.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace jitgemm {

enum class TokenKind : std::uint8_t { name, number, symbol, end_of_statement, end };

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;  ///< of the scanned text
    TextPosition at;
};

/// The tokens of a text; the last one is `end`. Blanks and comments ("# …") are left out, and so are the ends of lines
/// inside parentheses and brackets. Characters that no token begins with are problems.
[[nodiscard]] std::vector<Token> scan_epilogue(std::string_view text, EpilogueProblems& problems);

}  // namespace jitgemm
