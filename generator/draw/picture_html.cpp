#include "generator/draw/html_page.hpp"
#include "generator/draw/markup.hpp"
#include "generator/draw/picture.hpp"
#include "generator/draw/svg.hpp"
#include "generator/draw/svg_grid.hpp"

#include <fmt/format.h>

namespace jitgemm {

std::string picture_html(const Picture& picture) {
    check_picture(picture);
    std::string body =
        fmt::format("<h1>{}</h1>\n<p class=\"muted\">Point at a cell: its owner's other cells stay lit.</p>\n",
                    escape_markup(picture.title));
    body += "<div class=\"side\">\n";
    for (const Grid& grid : picture.grids) {
        const Drawing drawing = draw_grid(grid, Hover::data);
        body += figure(drawing.svg, drawing.width, drawing.height, "", false);
    }
    body += "</div>\n";
    for (const std::string& note : picture.notes)
        body += fmt::format("<p class=\"muted\">{}</p>\n", escape_markup(note));
    return html_page(picture.title.empty() ? "jitgemm layout" : picture.title, body);
}

}  // namespace jitgemm
