#pragma once

#include "generator/draw/picture.hpp"

#include <string>

namespace jitgemm {

/// How a cell shows its hint: SVG's own <title>, or data-h (hint) and data-k (owner) for a page's script.
enum class Hover { title, data };

/// A drawn part and its size in pixels.
struct Drawing {
    std::string svg;
    int width = 0;
    int height = 0;
};

/// The grid as SVG elements from (0, 0) on, with title, axes and indices; styled by grid_css().
[[nodiscard]] Drawing draw_grid(const Grid& grid, Hover hover);

/// The classes draw_grid uses besides the palette's.
[[nodiscard]] std::string grid_css();

}  // namespace jitgemm
