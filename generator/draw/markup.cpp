#include "generator/draw/markup.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace jitgemm {
namespace {

struct Spelling {
    std::string_view character;  // UTF-8
    std::string_view spelt;
};

constexpr std::array<Spelling, 5> kMarkup{
    {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}}};

constexpr std::array<Spelling, 37> kLatex{{
    {"\\", "\\textbackslash{}"},
    {"{", "\\{"},
    {"}", "\\}"},
    {"$", "\\$"},
    {"&", "\\&"},
    {"#", "\\#"},
    {"%", "\\%"},
    {"_", "\\_"},
    {"^", "\\textasciicircum{}"},
    {"~", "\\textasciitilde{}"},
    {"<", "$<$"},
    {">", "$>$"},
    {"|", "$|$"},
    {"\"", "\\char34{}"},
    {"'", "\\char39{}"},
    {"`", "\\char96{}"},
    {"-", "{-}"},  // no ligature of two
    {"\n", " "},
    {"\t", " "},
    {"×", "$\\times$"},
    {"·", "$\\cdot$"},
    {"→", "$\\rightarrow$"},
    {"←", "$\\leftarrow$"},
    {"↓", "$\\downarrow$"},
    {"↑", "$\\uparrow$"},
    {"≤", "$\\leq$"},
    {"≥", "$\\geq$"},
    {"≠", "$\\neq$"},
    {"−", "$-$"},
    {"∘", "$\\circ$"},
    {"…", "\\ldots{}"},
    {"–", "--"},
    {"—", "---"},
    {"⌈", "$\\lceil$"},
    {"⌉", "$\\rceil$"},
    {"⊕", "$\\oplus$"},
    {"²", "$^2$"},
}};

/// Bytes of the UTF-8 character that begins with this byte; 1 for what cannot begin one.
std::size_t character_bytes(unsigned char first) {
    if (first >= 0xF0U) return 4;
    if (first >= 0xE0U) return 3;
    return first >= 0xC0U ? 2 : 1;
}

std::string_view next_character(std::string_view text, std::size_t at) {
    return text.substr(at, character_bytes(static_cast<unsigned char>(text[at])));
}

std::uint32_t code_point(std::string_view character) {
    if (character.size() == 1) return static_cast<unsigned char>(character[0]);
    std::uint32_t code = static_cast<unsigned char>(character[0]) & (0xFFU >> (character.size() + 1));
    for (const char byte : character.substr(1)) code = code << 6U | (static_cast<unsigned char>(byte) & 0x3FU);
    return code;
}

template <std::size_t kCount>
const Spelling* spelling_of(const std::array<Spelling, kCount>& table, std::string_view character) {
    const auto* found = std::ranges::find(table, character, &Spelling::character);
    return found == table.end() ? nullptr : found;
}

bool is_forbidden_in_xml(std::string_view character) {
    const auto byte = static_cast<unsigned char>(character[0]);
    const bool control = byte < 0x20U && byte != '\n' && byte != '\t' && byte != '\r';
    return control || (character.size() == 1 && byte >= 0x7FU);
}

}  // namespace

std::string escape_markup(std::string_view text) {
    std::string escaped;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view character = next_character(text, at);
        const Spelling* spelling = spelling_of(kMarkup, character);
        if (spelling != nullptr)
            escaped += spelling->spelt;
        else if (is_forbidden_in_xml(character))
            escaped += "\uFFFD";
        else
            escaped += character;
        at += character.size();
    }
    return escaped;
}

std::string escape_latex(std::string_view text) {
    std::string escaped;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view character = next_character(text, at);
        const Spelling* spelling = spelling_of(kLatex, character);
        const bool printable = character.size() == 1 && character[0] >= ' ' && character[0] <= '~';
        if (spelling != nullptr)
            escaped += spelling->spelt;
        else if (printable)
            escaped += character;
        else
            escaped += fmt::format("U+{:04X}", code_point(character));
        at += character.size();
    }
    return escaped;
}

}  // namespace jitgemm
