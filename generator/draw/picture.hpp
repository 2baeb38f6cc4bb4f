#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// One element of a drawn tensor.
struct Cell {
    std::vector<std::string> lines;  ///< the text in it, top to bottom: {"T5", "V1"}; the first line names its owner
    int color = -1;                  ///< index into the palette, which wraps around; −1: none
    std::string hint;                ///< shown on hovering: thread, value and coordinate
};

/// A matrix of cells, row by row, with its axes: rows of "m", columns of "k".
struct Grid {
    std::string title;
    std::string row_axis, column_axis;
    int rows = 0, columns = 0;
    std::vector<Cell> cells = {};  ///< rows · columns cells, row by row

    [[nodiscard]] std::size_t index(int row, int column) const {
        return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column);
    }
};

/// `jitgemm layout` draws grids one below the other, and sentences below them.
struct Picture {
    std::string title;
    std::vector<Grid> grids;
    std::vector<std::string> notes = {};
};

/// Cells of all grids together: a tile of 128 × 64 elements. A larger picture throws LayoutError stating this limit.
inline constexpr int kMostCells = 8192;

/// Throws LayoutError with the limit if a picture would have more cells. Callers ask before they make the cells.
void require_drawable(std::int64_t cells);

/// Throws LayoutError if there are more cells than kMostCells, or if a grid's cells are not rows · columns.
void check_picture(const Picture& picture);

// Each throws LayoutError as check_picture does. Text may hold any characters: every form escapes them.

/// The columns are aligned. Lines have up to 120 columns if the cells allow it.
[[nodiscard]] std::string picture_text(const Picture& picture);
/// A stand-alone SVG without scripts, in light or dark colours as the reader's system prefers.
[[nodiscard]] std::string picture_svg(const Picture& picture);
/// A stand-alone LaTeX document with TikZ, for pdflatex.
[[nodiscard]] std::string picture_latex(const Picture& picture);
/// A self-contained page: hovering a cell shows its hint and marks all cells of the same owner (first line).
[[nodiscard]] std::string picture_html(const Picture& picture);

}  // namespace jitgemm
