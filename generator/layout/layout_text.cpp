#include "generator/layout/layout_text.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <limits>

namespace jitgemm {
namespace {

constexpr int kDeepestTuple = 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

}  // namespace

IntTuple LayoutText::take_int_tuple() {
    if (!take('(')) {
        if (peek() != '_') return take_integer();
        const bool number_follows = position_ + 1 < text_.size() && is_digit(text_[position_ + 1]);
        if (number_follows) return take_integer();
        ++position_;
        return IntTuple::underscore();
    }
    if (++nesting_ > kDeepestTuple) fail(fmt::format("tuples nest deeper than {}", kDeepestTuple));
    std::vector<IntTuple> modes;
    do {
        modes.push_back(take_int_tuple());
    } while (take(','));
    expect(')');
    --nesting_;
    return modes;
}

Layout LayoutText::take_layout() {
    const std::size_t start = (static_cast<void>(peek()), position_);
    IntTuple shape = take_int_tuple();
    const bool strided = take(':');
    IntTuple stride = strided ? take_int_tuple() : IntTuple();
    try {
        return strided ? Layout(std::move(shape), std::move(stride)) : Layout(std::move(shape));
    } catch (const LayoutError& error) {
        fail_at(start, error.what());
    }
}

std::int64_t LayoutText::take_integer() {
    static_cast<void>(peek());
    const std::size_t start = position_;
    if (position_ < text_.size() && text_[position_] == '_') ++position_;  // CuTe marks constants so: _4
    std::int64_t value = 0;
    const char* const first = text_.data() + position_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    // The least of all has no negative of its own.
    const bool beyond = error == std::errc() && value == std::numeric_limits<std::int64_t>::min();
    if (error == std::errc::result_out_of_range || beyond) fail_at(start, "the integer exceeds 63 bits");
    if (error != std::errc()) fail_at(start, "expected an integer or '('");
    position_ += static_cast<std::size_t>(end - first);
    return value;
}

std::string_view LayoutText::take_word() {
    if (!is_letter(peek())) return {};
    const std::size_t start = position_;
    while (position_ < text_.size() &&
           (is_letter(text_[position_]) || is_digit(text_[position_]) || text_[position_] == '_'))
        ++position_;
    return text_.substr(start, position_ - start);
}

char LayoutText::peek() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
    return position_ < text_.size() ? text_[position_] : '\0';
}

bool LayoutText::take(char wanted) {
    if (peek() != wanted || position_ == text_.size()) return false;
    ++position_;
    return true;
}

void LayoutText::expect(char wanted) {
    if (!take(wanted)) fail(fmt::format("expected '{}'", wanted));
}

void LayoutText::expect_end() {
    if (peek() != '\0') fail("expected the end of the expression");
}

void LayoutText::fail(const std::string& what) {
    const char next = peek();
    const std::string found = position_ < text_.size() ? fmt::format("found '{}'", next) : "the text ends here";
    fail_at(position_, fmt::format("{}, {}", what, found));
}

void LayoutText::fail_at(std::size_t position, const std::string& what) {
    throw LayoutError(fmt::format("column {} of \"{}\": {}", position + 1, text_, what));
}

}  // namespace jitgemm
