#include "generator/draw/legend.hpp"

#include "generator/draw/markup.hpp"
#include "generator/draw/palette.hpp"

#include <fmt/format.h>

namespace jitgemm {

std::string legend(const std::vector<ColorMeaning>& entries) {
    std::string html = "<p class=\"legend\">";
    for (const ColorMeaning& entry : entries)
        html += fmt::format(
            "<span><svg width=\"12\" height=\"12\" viewBox=\"0 0 12 12\"><g class=\"{}\"><path d=\"M0 "
            "0h12v12h-12z\"/></g>"
            "</svg>{}</span>",
            color_class(entry.color), escape_markup(entry.text));
    return html + "</p>\n";
}

}  // namespace jitgemm
