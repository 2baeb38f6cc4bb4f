#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace jitgemm::emulator::ptx {

enum class TokenKind : std::uint8_t {
    identifier,   ///< mov, %r1, $L__BB0_2, shared_memory
    dotted,       ///< .u32, .L2::128B: text is the part after the dot
    integer,      ///< value
    real32,       ///< value: bits
    real64,       ///< value: bits
    text,         ///< "…": text is the part between the quotes
    punctuation,  ///< one character
    end
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::string_view text;
    std::int64_t value = 0;
    int line = 1;
    std::size_t begin = 0;  ///< in the module's text
    std::size_t end = 0;

    [[nodiscard]] bool is(char symbol) const { return kind == TokenKind::punctuation && text.front() == symbol; }
    [[nodiscard]] bool is_dotted(std::string_view word) const { return kind == TokenKind::dotted && text == word; }
    [[nodiscard]] bool is_word(std::string_view word) const { return kind == TokenKind::identifier && text == word; }
};

/// Cuts PTX into tokens, one ahead. Throws PtxError for a character or number that PTX does not have.
class Lexer {
public:
    explicit Lexer(std::string_view text);

    [[nodiscard]] const Token& peek() const { return next_; }
    Token take();
    [[nodiscard]] std::string_view text() const { return text_; }

private:
    void skip_blanks();
    void skip_comment();
    [[nodiscard]] Token scan();
    [[nodiscard]] Token scan_word(TokenKind kind, std::size_t first);
    [[nodiscard]] Token scan_number();
    [[nodiscard]] Token scan_float_bits(std::size_t digits);
    [[nodiscard]] Token scan_decimal_real(std::size_t end);
    [[nodiscard]] Token scan_integer();
    [[nodiscard]] Token scan_text();
    [[nodiscard]] Token token(TokenKind kind, std::size_t begin, std::size_t end, std::int64_t value = 0);

    std::string_view text_;
    std::size_t position_ = 0;
    int line_ = 1;
    Token next_;
};

}  // namespace jitgemm::emulator::ptx
