#include "generator/draw/markup.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/picture.hpp"
#include "generator/draw/svg_grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kMargin = 16;
constexpr int kTitleHeight = 32;
constexpr int kGridGap = 24;
constexpr int kNoteHeight = 18;
constexpr int kNoteCharacter = 7;

/// Parts below each other, from the margin on.
class Column {
public:
    void add(const std::string& svg, int width, int height) {
        body_ += fmt::format("<g transform=\"translate({},{})\">\n{}</g>\n", kMargin, bottom_, svg);
        width_ = std::max(width_, width);
        bottom_ += height;
    }
    void skip(int height) { bottom_ += height; }
    [[nodiscard]] const std::string& body() const { return body_; }
    [[nodiscard]] int width() const { return width_ + 2 * kMargin; }
    [[nodiscard]] int height() const { return bottom_ + kMargin; }

private:
    std::string body_;
    int width_ = 0;
    int bottom_ = kMargin;
};

std::string line_of_text(const std::string& text, std::string_view classes) {
    return fmt::format("<text class=\"{}\" x=\"0\" y=\"15\">{}</text>\n", classes, escape_markup(text));
}

Column arranged(const Picture& picture) {
    Column column;
    const auto width_of = [](const std::string& text, int character) {
        return static_cast<int>(text.size()) * character;
    };
    if (!picture.title.empty()) column.add(line_of_text(picture.title, "t"), width_of(picture.title, 9), kTitleHeight);
    for (const Grid& grid : picture.grids) {
        const Drawing drawing = draw_grid(grid, Hover::title);
        column.add(drawing.svg, drawing.width, drawing.height);
        column.skip(kGridGap);
    }
    for (const std::string& note : picture.notes)
        column.add(line_of_text(note, "i s"), width_of(note, kNoteCharacter), kNoteHeight);
    return column;
}

}  // namespace

std::string picture_svg(const Picture& picture) {
    check_picture(picture);
    const Column column = arranged(picture);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
        "<title>{2}</title>\n<style>\n{3}{4}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" rx=\"8\" style=\"fill:var(--paper)\"/>\n{5}</svg>\n",
        column.width(), column.height(), escape_markup(picture.title), palette_css(), grid_css(), column.body());
}

}  // namespace jitgemm
