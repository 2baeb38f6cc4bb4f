#include "generator/draw/palette.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace jitgemm {
namespace {

// Hues 250, 70, 150, 20, 300, 105, 200 and 345 degrees of OKLCH at four lightnesses each (0.90, 0.83, 0.76, 0.69 on
// light pages; 0.46, 0.40, 0.52, 0.34 on dark ones), with as much chroma as sRGB holds up to 0.13.
constexpr std::array<Shade, 32> kPalette{{
    {"#c6e1ff", "#265b8d"}, {"#f8d8b4", "#7b4c00"}, {"#c3eac9", "#266739"}, {"#ffd1d0", "#873e40"},
    {"#e3d6fe", "#614a87"}, {"#e3e1b3", "#615a00"}, {"#afebee", "#016569"}, {"#fccfe7", "#7e3f65"},
    {"#9cccff", "#1f4a73"}, {"#edbd86", "#643e03"}, {"#9dd8a9", "#1f542e"}, {"#fdb0af", "#6e3334"},
    {"#d0bafa", "#4f3c6e"}, {"#d0cb86", "#4f4a00"}, {"#7bd9de", "#035256"}, {"#f2b0d5", "#673352"},
    {"#79b6f4", "#2d6ca8"}, {"#dea45f", "#915b00"}, {"#7cc58c", "#2d7b44"}, {"#ef9494", "#a04a4d"},
    {"#bca1ed", "#7458a1"}, {"#bbb55e", "#736c04"}, {"#46c6cd", "#07787d"}, {"#e394c1", "#964b78"},
    {"#57a0e8", "#183a5b"}, {"#ce8b32", "#4f3005"}, {"#59b26f", "#194224"}, {"#e07879", "#572729"},
    {"#a888e0", "#3e2f57"}, {"#a89f2e", "#3e3a03"}, {"#0bb0b8", "#004144"}, {"#d378ae", "#512840"},
}};

using Side = std::string_view Shade::*;

std::string variables(Side side) {
    const PageColors& page = kPageColors;
    std::string css =
        fmt::format(":root{{--paper:{};--ink:{};--muted:{};--panel:{};--line:{};--accent:{}", page.paper.*side,
                    page.ink.*side, page.muted.*side, page.panel.*side, page.line.*side, page.accent.*side);
    for (std::size_t i = 0; i < kPalette.size(); ++i) css += fmt::format(";--c{}:{}", i, kPalette[i].*side);
    return css + "}";
}

}  // namespace

std::span<const Shade> palette() { return kPalette; }

std::string color_class(int color) {
    return color < 0 ? "c" : fmt::format("c{}", static_cast<std::size_t>(color) % kPalette.size());
}

std::string palette_css() {
    std::string css = ":root{color-scheme:light dark}\n" + variables(&Shade::light) + "\n";
    css += "@media(prefers-color-scheme:dark){" + variables(&Shade::dark) + "}\n.c{fill:var(--panel)}";
    for (std::size_t i = 0; i < kPalette.size(); ++i) css += fmt::format(".c{0}{{fill:var(--c{0})}}", i);
    return css + "\n";
}

}  // namespace jitgemm
