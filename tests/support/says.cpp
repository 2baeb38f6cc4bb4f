#include "tests/support/says.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace jitgemm::testing {
namespace {

bool continues_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Whether a word or number goes on from `left` to `right`: "a|b", "3|2", "1.|5".
bool is_inside_word(std::string_view text, std::size_t at) {
    if (at == 0 || at >= text.size()) return false;
    const char left = text[at - 1], right = text[at];
    if (left == '.') return at > 1 && continues_word(text[at - 2]) && continues_word(right);
    if (right == '.') return at + 1 < text.size() && continues_word(left) && continues_word(text[at + 1]);
    return continues_word(left) && continues_word(right);
}

bool has_words(std::string_view text, std::string_view words) {
    for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1))
        if (!is_inside_word(text, at) && !is_inside_word(text, at + words.size())) return true;
    return false;
}

}  // namespace

bool Says::match(const std::string& text) const {
    return std::ranges::all_of(parts_, [&](const std::string& part) { return has_words(text, part); });
}

std::string Says::describe() const {
    std::string text = "says";
    for (const std::string& part : parts_) text += " '" + part + "'";
    return text;
}

}  // namespace jitgemm::testing
