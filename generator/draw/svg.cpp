#include "generator/draw/svg.hpp"

#include "generator/draw/markup.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

std::string rectangle(const Box& box) {
    return fmt::format("<path d=\"M{} {}h{}v{}h-{}z\"/>", box.x, box.y, box.width, box.height, box.width);
}

}  // namespace

void Svg::box(const Box& box, std::string_view classes) {
    body_ += fmt::format("<g class=\"{}\">{}</g>\n", classes, rectangle(box));
}

void Svg::box(const Box& box, std::string_view classes, const Hint& hint, std::string_view text) {
    const std::string owner = hint.owner.empty() ? "" : fmt::format(" data-k=\"{}\"", escape_markup(hint.owner));
    body_ +=
        fmt::format("<g class=\"{}\"{} data-h=\"{}\">{}", classes, owner, escape_markup(hint.text), rectangle(box));
    if (!text.empty()) {
        body_ += fmt::format("<text x=\"{}\" y=\"{}\">{}</text>", box.x + box.width / 2, box.y + box.height / 2 + 4,
                             escape_markup(text));
    }
    body_ += "</g>\n";
}

void Svg::path(const std::string& points, std::string_view classes) {
    body_ += fmt::format("<polyline class=\"{}\" points=\"{}\"/>\n", classes, points);
}

void Svg::text(int x, int y, std::string_view text, std::string_view classes) {
    body_ += fmt::format("<text class=\"l {}\" x=\"{}\" y=\"{}\">{}</text>\n", classes, x, y, escape_markup(text));
}

std::string Svg::figure(std::string_view caption, bool shrinks) const {
    return jitgemm::figure(body_, width_, height_, caption, shrinks);
}

std::string_view svg_css() {
    return "text.l{font-weight:400;text-anchor:start}text.l.e{text-anchor:end}text.l.m{text-anchor:middle}\n"
           "text.l.q{fill:var(--muted)}text.l.h{font-weight:600;font-size:13px}\n"
           ".o path{stroke:var(--ink);stroke-width:2}.p path{stroke:var(--paper);stroke-width:1}\n"
           ".z path{fill:none;stroke:var(--ink);stroke-width:2;pointer-events:none}.y "
           "path{fill:none;stroke:var(--line)}\n"
           "polyline.w{fill:none;stroke:var(--ink);stroke-width:1.5;stroke-linejoin:round;opacity:.55;"
           "pointer-events:none}\n";
}

std::string figure(const std::string& svg, int width, int height, std::string_view caption, bool shrinks) {
    const std::string title = caption.empty() ? "" : fmt::format("<figcaption>{}</figcaption>", escape_markup(caption));
    return fmt::format(
        "<figure style=\"width:{}px\"><svg{} width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\">\n{}</svg>{}</figure>\n",
        width, shrinks ? " class=\"fit\"" : "", width, height, width, height, svg, title);
}

}  // namespace jitgemm
