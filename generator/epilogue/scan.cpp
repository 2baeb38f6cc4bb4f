#include "generator/epilogue/scan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr std::string_view kBlanks = " \t\r";
/// Longer symbols before their own beginnings.
constexpr std::array<std::string_view, 18> kSymbols{"//", "<=", ">=", "==", "!=", "<", ">", "=", "+",
                                                    "-",  "*",  "/",  "(",  ")",  "[", "]", ",", ":"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_digit(c) || is_letter(c); }
/// Whether a byte of UTF-8 is not the first one of its character.
bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

class EpilogueScanner {
public:
    EpilogueScanner(std::string_view text, EpilogueProblems& problems) : rest_(text), problems_(problems) {}

    std::vector<Token> scan() {
        while (skip_blanks(), !rest_.empty()) read_token();
        add(TokenKind::end, 0);
        return std::move(tokens_);
    }

private:
    /// Makes a token of the next characters and steps behind them.
    void add(TokenKind kind, std::size_t size) {
        tokens_.push_back({kind, rest_.substr(0, size), at_});
        step(size);
    }
    void step(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            if (rest_[i] == '\n')
                at_ = {at_.line + 1, 1};
            else if (!continues_character(rest_[i]))
                ++at_.column;
        }
        rest_.remove_prefix(size);
    }
    void skip_blanks() {
        const auto is_skipped = [&] {
            return kBlanks.find(rest_.front()) != kBlanks.npos || (rest_.front() == '\n' && depth_ > 0);
        };
        while (!rest_.empty()) {
            if (rest_.front() == '#') {
                step(std::min(rest_.find('\n'), rest_.size()));
            } else if (is_skipped()) {
                step(1);
            } else {
                return;
            }
        }
    }

    void read_token() {
        const char first = rest_.front();
        if (first == ';' || first == '\n') return end_statement();
        if (is_letter(first)) return add(TokenKind::name, word_size());
        if (is_digit(first) || (first == '.' && rest_.size() > 1 && is_digit(rest_[1]))) return read_number();
        read_symbol();
    }
    void end_statement() {
        depth_ = 0;
        add(TokenKind::end_of_statement, 1);
    }
    [[nodiscard]] std::size_t word_size() const {
        return static_cast<std::size_t>(std::ranges::find_if_not(rest_, is_word) - rest_.begin());
    }
    /// Digits, a point, an exponent with a sign; letters that don't belong there make the number wrong later.
    void read_number() {
        std::size_t size = 0;
        const auto belongs = [&](char c) {
            const bool sign = (c == '+' || c == '-') && size > 0 && (rest_[size - 1] == 'e' || rest_[size - 1] == 'E');
            return is_word(c) || c == '.' || sign;
        };
        while (size < rest_.size() && belongs(rest_[size])) ++size;
        add(TokenKind::number, size);
    }
    void read_symbol() {
        const auto* const symbol =
            std::ranges::find_if(kSymbols, [&](std::string_view one) { return rest_.starts_with(one); });
        if (symbol == kSymbols.end()) return refuse_character();
        if (*symbol == "(" || *symbol == "[") ++depth_;
        if ((*symbol == ")" || *symbol == "]") && depth_ > 0) --depth_;
        add(TokenKind::symbol, symbol->size());
    }
    /// A character of several bytes is one.
    void refuse_character() {
        std::size_t size = 1;
        while (size < rest_.size() && continues_character(rest_[size])) ++size;
        const auto byte = static_cast<unsigned char>(rest_.front());
        const bool is_plain = size == 1 && byte > ' ' && byte < 0x7F;
        problems_.add(at_, is_plain ? fmt::format("'{}' is no part of the language", rest_.front())
                                    : fmt::format("a character of code {:#04x} is no part of the language", byte));
        step(size);
    }

    std::string_view rest_;
    EpilogueProblems& problems_;
    TextPosition at_;
    int depth_ = 0;  ///< of open parentheses and brackets
    std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> scan_epilogue(std::string_view text, EpilogueProblems& problems) {
    return EpilogueScanner(text, problems).scan();
}

}  // namespace jitgemm
