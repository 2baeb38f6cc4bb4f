#pragma once

#include <string>
#include <string_view>

namespace jitgemm {

/// A rectangle in pixels.
struct Box {
    int x = 0;
    int y = 0;
    int width = 0;
    int height = 0;
};

/// The text shown when a shape is pointed at (see html_page), and the shape's owner. An empty owner means none.
struct Hint {
    std::string text;
    std::string owner;
};

/// A drawing made shape by shape. Classes are the palette's (c0 … c31, c) and those of svg_css().
class Svg {
public:
    Svg(int width, int height) : width_(width), height_(height) {}

    void box(const Box& box, std::string_view classes);
    /// A box with text in its middle. It is one element for pointing.
    void box(const Box& box, std::string_view classes, const Hint& hint, std::string_view text = {});
    /// Lines between the points, "x,y x,y …".
    void path(const std::string& points, std::string_view classes);
    /// A text that begins at (x, y). Class "e" ends it there, and "m" centres it.
    void text(int x, int y, std::string_view text, std::string_view classes = {});

    /// The drawing as a <figure> with a caption, which may be empty. It shrinks with the page if `shrinks`; else it
    /// scrolls sideways.
    [[nodiscard]] std::string figure(std::string_view caption, bool shrinks) const;

private:
    int width_;
    int height_;
    std::string body_;
};

[[nodiscard]] std::string_view svg_css();

/// <figure> around SVG elements that take width × height pixels.
[[nodiscard]] std::string figure(const std::string& svg, int width, int height, std::string_view caption, bool shrinks);

}  // namespace jitgemm
