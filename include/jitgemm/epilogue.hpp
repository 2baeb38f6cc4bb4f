#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm {

/// A batch stride that puts one matrix directly behind the other.
inline constexpr std::int64_t kPackedBatch = -1;

/// Where a matrix of an epilogue lies. Its rows (or columns) lie in the order of D's.
struct EpilogueLayout {
    std::int64_t ld = 0;  ///< leading dimension in elements; 0: packed
    int align = 0;        ///< bytes of each row (column), a power of two up to 16; 0: as the leading dimension gives
    std::int64_t batch_stride = kPackedBatch;  ///< with the index b: elements from one problem's to the next one's
    std::int64_t outer_stride = kPackedBatch;  ///< the same along the second dimension of a batch: GemmSpec::outer

    friend bool operator==(const EpilogueLayout&, const EpilogueLayout&) = default;
};

struct EpilogueTextValue;  // the library's own

/// The epilogue of a problem, as text: "d = silu(acc + bias[n]) * up[m,n]". docs/epilogues.md describes the language.
/// A text is checked when its problem is: problems(GemmSpec) says what is wrong with it.
///
/// Copies and comparisons cost as much as those of a pointer. The library keeps each text as long as the process lives.
class EpilogueText {
public:
    constexpr EpilogueText() = default;  ///< no text: D = alpha · acc + beta · C
    // NOLINTBEGIN(google-explicit-constructor): a text is given as a string
    EpilogueText(std::string_view text);
    EpilogueText(const std::string& text) : EpilogueText(std::string_view(text)) {}
    EpilogueText(const char* text) : EpilogueText(std::string_view(text)) {}
    // NOLINTEND(google-explicit-constructor)

    /// The same text with a matrix that lies as `layout` says.
    [[nodiscard]] EpilogueText with(std::string_view operand, const EpilogueLayout& layout) const;

    [[nodiscard]] constexpr bool empty() const { return value_ == nullptr; }
    [[nodiscard]] std::string_view text() const;
    /// The layout that with() gave; else the default one.
    [[nodiscard]] EpilogueLayout layout_of(std::string_view operand) const;

    friend constexpr bool operator==(EpilogueText, EpilogueText) = default;

private:
    friend struct EpilogueTextAccess;
    constexpr explicit EpilogueText(const EpilogueTextValue* value) : value_(value) {}
    const EpilogueTextValue* value_ = nullptr;
};

}  // namespace jitgemm
