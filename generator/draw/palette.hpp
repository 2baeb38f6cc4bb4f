#pragma once

#include <span>
#include <string>
#include <string_view>

namespace jitgemm {

/// One colour of cells, for light and for dark pages: "#c6e1ff".
struct Shade {
    std::string_view light;
    std::string_view dark;
};

/// Eight hues in four shades: neighbours i and i + 1 differ in hue, i and i + 8 in shade.
[[nodiscard]] std::span<const Shade> palette();

/// The other colours of a picture. Text is always `ink`, on every shade as on paper: its contrast is at least 4.5:1.
struct PageColors {
    Shade paper{"#ffffff", "#14171c"};
    Shade ink{"#16181d", "#f4f5f7"};
    Shade muted{"#5a6270", "#a3acba"};  ///< indices, axes, notes; on paper and panel only
    Shade panel{"#f3f4f7", "#1e232b"};  ///< cells without colour
    Shade line{"#c9ced8", "#3b434f"};
    Shade accent{"#0b5bd3", "#7db4ff"};  ///< marked elements
};
inline constexpr PageColors kPageColors;

/// The class of a colour in palette_css(): "c17", or "c" for none.
[[nodiscard]] std::string color_class(int color);

/// The rules .c (no colour) and .c0 … .c31 for `fill`, and the page's colours as --paper, --ink …, for light pages, and
/// for dark ones where the reader's system prefers them.
[[nodiscard]] std::string palette_css();

}  // namespace jitgemm
