#include "generator/draw/palette.hpp"
#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

using namespace jitgemm;

namespace {

/// WCAG 2.1: the relative luminance of an sRGB colour, and the contrast ratio of two.
double luminance(std::string_view color) {
    const auto channel = [&](std::size_t at) {
        const double value = std::stoi(std::string(color.substr(at, 2)), nullptr, 16) / 255.0;
        return value <= 0.03928 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}

double contrast(std::string_view one, std::string_view other) {
    const auto [low, high] = std::minmax({luminance(one), luminance(other)});
    return (high + 0.05) / (low + 0.05);
}

}  // namespace

TEST_CASE("contrast is that of WCAG 2.1") {
    CHECK(contrast("#000000", "#ffffff") == Approx(21.0));
    CHECK(contrast("#777777", "#ffffff") == Approx(4.48).margin(0.01));
}

TEST_CASE("text reads well on every colour of cells, light and dark") {
    for (const Shade& shade : palette()) {
        INFO(shade.light << " " << shade.dark);
        CHECK(contrast(shade.light, kPageColors.ink.light) >= 4.5);
        CHECK(contrast(shade.dark, kPageColors.ink.dark) >= 4.5);
    }
    for (const auto side : {&Shade::light, &Shade::dark}) {
        for (const Shade& ground : {kPageColors.paper, kPageColors.panel}) {
            CHECK(contrast(ground.*side, kPageColors.ink.*side) >= 4.5);
            CHECK(contrast(ground.*side, kPageColors.muted.*side) >= 4.5);
        }
    }
}

TEST_CASE("the palette has 32 different colours on each side and wraps around") {
    std::set<std::string_view> lights;
    std::set<std::string_view> darks;
    for (const Shade& shade : palette()) {
        lights.insert(shade.light);
        darks.insert(shade.dark);
    }
    CHECK(palette().size() == 32);
    CHECK(lights.size() == 32);
    CHECK(darks.size() == 32);
    CHECK(color_class(33) == "c1");
    CHECK(color_class(-1) == "c");
}
