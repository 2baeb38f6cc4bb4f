#include "generator/draw/markup.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/picture.hpp"
#include "generator/draw/svg_grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kPageWidth = 1200;
constexpr int kMargin = 16;
constexpr int kFigureGap = 24;
constexpr int kHeadingHeight = 18;
constexpr int kTitleCharacter = 9;
constexpr int kNoteCharacter = 7;

/// Parts side by side as far as a page's width allows, then below each other.
class Flow {
public:
    void add(const std::string& svg, int width, int height) {
        if (right_ > kMargin && right_ + width > kPageWidth) end_row();
        body_ += fmt::format("<g transform=\"translate({},{})\">\n{}</g>\n", right_, top_, svg);
        right_ += width + kFigureGap;
        row_height_ = std::max(row_height_, height);
        width_ = std::max(width_, right_ - kFigureGap);
    }
    /// The next figure begins below all figures drawn so far.
    void end_row(int gap = kFigureGap) {
        if (row_height_ > 0) top_ += row_height_ + gap;
        right_ = kMargin;
        row_height_ = 0;
    }
    [[nodiscard]] const std::string& body() const { return body_; }
    [[nodiscard]] int width() const { return width_ + kMargin; }
    [[nodiscard]] int height() const { return std::max(top_, kMargin); }

private:
    std::string body_;
    int top_ = kMargin;
    int right_ = kMargin;
    int row_height_ = 0;
    int width_ = 0;
};

std::string line_of_text(const std::string& text, std::string_view classes) {
    return fmt::format("<text class=\"{}\" x=\"0\" y=\"15\">{}</text>\n", classes, escape_markup(text));
}

int width_of(const std::string& text, int character) { return static_cast<int>(text.size()) * character; }

Flow arranged(const Picture& picture) {
    Flow flow;
    if (!picture.title.empty())
        flow.add(line_of_text(picture.title, "t"), width_of(picture.title, kTitleCharacter), kHeadingHeight);
    flow.end_row();
    for (const Grid& grid : picture.grids) {
        const Drawing drawing = draw_grid(grid, Hover::title);
        flow.add(drawing.svg, drawing.width, drawing.height);
    }
    flow.end_row();
    for (const std::string& note : picture.notes) {
        flow.add(line_of_text(note, "i s"), width_of(note, kNoteCharacter), kHeadingHeight);
        flow.end_row(0);
    }
    return flow;
}

}  // namespace

std::string picture_svg(const Picture& picture) {
    check_picture(picture);
    const Flow flow = arranged(picture);
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" role=\"img\">\n"
        "<title>{2}</title>\n<style>\n{3}{4}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" rx=\"8\" style=\"fill:var(--paper)\"/>\n{5}</svg>\n",
        flow.width(), flow.height(), escape_markup(picture.title), palette_css(), grid_css(), flow.body());
}

}  // namespace jitgemm
