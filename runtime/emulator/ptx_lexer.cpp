#include "runtime/emulator/ptx_lexer.hpp"

#include "runtime/emulator/ptx.hpp"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <charconv>
#include <string>

namespace jitgemm::emulator::ptx {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }

constexpr std::string_view kPunctuation = "()[]{},;:|!@=+-<>";

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text) { next_ = scan(); }

Token Lexer::take() {
    const Token taken = next_;
    if (taken.kind != TokenKind::end) next_ = scan();
    return taken;
}

void Lexer::skip_comment() {
    const bool block = text_[position_ + 1] == '*';
    const std::size_t end = text_.find(block ? "*/" : "\n", position_ + 2);
    const std::size_t after = end == std::string_view::npos ? text_.size() : end + (block ? 2 : 0);
    for (; position_ < after; ++position_) line_ += text_[position_] == '\n' ? 1 : 0;
}

void Lexer::skip_blanks() {
    while (position_ < text_.size()) {
        const char c = text_[position_];
        const bool comment = text_.substr(position_, 2) == "//" || text_.substr(position_, 2) == "/*";
        if (comment) {
            skip_comment();
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\0') {
            line_ += c == '\n' ? 1 : 0;
            ++position_;
        } else {
            return;
        }
    }
}

Token Lexer::token(TokenKind kind, std::size_t begin, std::size_t end, std::int64_t value) {
    position_ = end;
    return {kind, text_.substr(begin, end - begin), value, line_, begin, end};
}

Token Lexer::scan() {
    skip_blanks();
    if (position_ >= text_.size()) return token(TokenKind::end, text_.size(), text_.size());
    const char c = text_[position_];
    if (is_digit(c)) return scan_number();
    if (is_letter(c)) return scan_word(TokenKind::identifier, position_);
    if (c == '.') return scan_word(TokenKind::dotted, position_ + 1);
    if (c == '"') return scan_text();
    if (kPunctuation.find(c) != std::string_view::npos) return token(TokenKind::punctuation, position_, position_ + 1);
    throw PtxError(line_, fmt::format("unexpected character '{}'", c));
}

Token Lexer::scan_word(TokenKind kind, std::size_t first) {
    std::size_t end = first;
    const auto colons = [&] { return kind == TokenKind::dotted && text_.substr(end, 2) == "::"; };
    while (end < text_.size() && (is_word(text_[end]) || colons())) end += colons() ? 2 : 1;
    const std::size_t begin = position_;
    Token word = token(kind, first, end);
    word.begin = begin;
    return word;
}

Token Lexer::scan_number() {
    if (text_[position_] == '0' && position_ + 1 < text_.size()) {
        const char mark = static_cast<char>(std::tolower(static_cast<unsigned char>(text_[position_ + 1])));
        if (mark == 'f') return scan_float_bits(8);
        if (mark == 'd') return scan_float_bits(16);
    }
    std::size_t end = position_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    const bool fraction = end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1]);
    const bool exponent = end < text_.size() && (text_[end] == 'e' || text_[end] == 'E');
    return fraction || exponent ? scan_decimal_real(end) : scan_integer();
}

Token Lexer::scan_float_bits(std::size_t digits) {
    const std::size_t first = position_ + 2;
    std::uint64_t bits = 0;
    std::size_t end = first;
    while (end < text_.size() && end < first + digits && is_hex(text_[end])) ++end;
    if (end != first + digits)
        throw PtxError(line_, fmt::format("a number of {} hexadecimal digits is cut short", digits));
    std::from_chars(text_.data() + first, text_.data() + end, bits, 16);
    return token(digits == 8 ? TokenKind::real32 : TokenKind::real64, position_, end, static_cast<std::int64_t>(bits));
}

Token Lexer::scan_decimal_real(std::size_t end) {
    double value = 0;
    const auto [last, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), value);
    const auto after = static_cast<std::size_t>(last - text_.data());
    if (error != std::errc{} || after < end) throw PtxError(line_, "a malformed number");
    return token(TokenKind::real64, position_, after, std::bit_cast<std::int64_t>(value));
}

Token Lexer::scan_integer() {
    std::size_t first = position_;
    int base = 10;
    if (text_[first] == '0' && first + 1 < text_.size() && is_word(text_[first + 1]) && text_[first + 1] != 'U') {
        const char mark = text_[first + 1];
        base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
        first += base == 8 ? 1 : 2;
    }
    std::size_t end = first;
    while (end < text_.size() && is_word(text_[end]) && text_[end] != 'U') ++end;
    std::uint64_t value = 0;
    const auto [last, error] = std::from_chars(text_.data() + first, text_.data() + end, value, base);
    if (error != std::errc{} || last != text_.data() + end) {
        throw PtxError(line_, fmt::format("\"{}\" is not a 64-bit integer", text_.substr(position_, end - position_)));
    }
    if (end < text_.size() && text_[end] == 'U') ++end;
    return token(TokenKind::integer, position_, end, static_cast<std::int64_t>(value));
}

Token Lexer::scan_text() {
    const std::size_t close = text_.find('"', position_ + 1);
    if (close == std::string_view::npos) throw PtxError(line_, "a string without its closing quote");
    Token quoted = token(TokenKind::text, position_ + 1, close);
    position_ = close + 1;
    quoted.end = close + 1;
    return quoted;
}

}  // namespace jitgemm::emulator::ptx
