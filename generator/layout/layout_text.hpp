#pragma once

#include "generator/layout/layout.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace jitgemm {

/// Reads CuTe's notation from left to right: integers ("4", "_4"), "_", tuples, shape:stride. Blanks may stand between
/// any two tokens. Every take_ function throws LayoutError with the column (from 1) and the expected token.
class LayoutText {
public:
    explicit LayoutText(std::string_view text) : text_(text) {}

    [[nodiscard]] IntTuple take_int_tuple();
    [[nodiscard]] Layout take_layout();  ///< shape, or shape:stride
    [[nodiscard]] std::int64_t take_integer();
    /// Letters, digits and underscores that begin with a letter; empty if there is no word here.
    [[nodiscard]] std::string_view take_word();

    [[nodiscard]] char peek();  ///< next character that is no blank; '\0' at the end
    bool take(char wanted);     ///< whether the character stood here and was taken
    void expect(char wanted);
    void expect_end();

    [[nodiscard]] std::size_t position() const { return position_; }
    void rewind(std::size_t position) { position_ = position; }
    [[noreturn]] void fail(const std::string& what);  ///< at the current column
    [[noreturn]] void fail_at(std::size_t position, const std::string& what);

private:
    std::string_view text_;
    std::size_t position_ = 0;
    int nesting_ = 0;
};

}  // namespace jitgemm
