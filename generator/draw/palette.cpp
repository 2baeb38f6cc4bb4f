#include "generator/draw/palette.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace jitgemm {
namespace {

// Hues 250, 70, 150, 20, 300, 105, 200 and 345 degrees of OKLCH at four lightnesses each (0.90, 0.83, 0.76, 0.69 on light
// pages; 0.33, 0.39, 0.45, 0.27 on dark ones), with as much chroma as sRGB holds up to 0.13.
constexpr std::array<Shade, 32> kPalette{{
    {"#c6e1ff", "#1b3753"}, {"#f8d8b4", "#492f0e"}, {"#c3eac9", "#1c3e24"}, {"#ffd1d0", "#502828"},
    {"#e3d6fe", "#3a2e50"}, {"#e3e1b3", "#3a370d"}, {"#afebee", "#003e41"}, {"#fccfe7", "#4b283c"},
    {"#9cccff", "#23476c"}, {"#edbd86", "#5e3d0f"}, {"#9dd8a9", "#23502f"}, {"#fdb0af", "#673334"},
    {"#d0bafa", "#4b3b67"}, {"#d0cb86", "#4b470d"}, {"#7bd9de", "#044f53"}, {"#f2b0d5", "#61334e"},
    {"#79b6f4", "#2a5885"}, {"#dea45f", "#754b10"}, {"#7cc58c", "#2b6339"}, {"#ef9494", "#803f40"},
    {"#bca1ed", "#5d4980"}, {"#bbb55e", "#5d580c"}, {"#46c6cd", "#026266"}, {"#e394c1", "#783f61"},
    {"#57a0e8", "#12283e"}, {"#ce8b32", "#362207"}, {"#59b26f", "#122d19"}, {"#e07879", "#3b1c1c"},
    {"#a888e0", "#2a203b"}, {"#a89f2e", "#2a2806"}, {"#0bb0b8", "#002d2f"}, {"#d378ae", "#371c2c"},
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

const Shade& shade(int color) { return kPalette[static_cast<std::size_t>(color) % kPalette.size()]; }

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
