#include "generator/draw/svg_grid.hpp"

#include "generator/draw/markup.hpp"
#include "generator/draw/palette.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace jitgemm {
namespace {

constexpr int kCharacterWidth = 7;  // of 11 px monospace, rounded up
constexpr int kLineHeight = 13;
constexpr int kLeastCell = 22;
constexpr int kTitleHeight = 26;
constexpr int kIndexHeight = 16;

int characters(const std::string& text) {
    return static_cast<int>(
        std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

/// Where things stand in one grid, in pixels.
struct Metrics {
    int cell_width = kLeastCell;
    int cell_height = kLeastCell;
    int left = 0;  // of the first cell
    int top = 0;
};

Metrics metrics_of(const Grid& grid) {
    Metrics metrics;
    std::size_t lines = 1;
    int widest = 1;
    for (const Cell& cell : grid.cells) {
        lines = std::max(lines, cell.lines.size());
        for (const std::string& line : cell.lines) widest = std::max(widest, characters(line));
    }
    metrics.cell_width = std::max(kLeastCell, widest * kCharacterWidth + 6);
    metrics.cell_height = std::max(kLeastCell, static_cast<int>(lines) * kLineHeight + 6);
    const int digits = characters(std::to_string(std::max(grid.rows - 1, 0)));
    metrics.left = std::max(digits, characters(grid.row_axis) + 2) * kCharacterWidth + 8;
    metrics.top = (grid.title.empty() ? 0 : kTitleHeight) + 2 * kIndexHeight;
    return metrics;
}

std::string cell_text(const Cell& cell, int x, int middle) {
    if (cell.lines.empty()) return {};
    const int count = static_cast<int>(cell.lines.size());
    const int first = middle - (count - 1) * kLineHeight / 2 + 4;
    std::string text = fmt::format("<text x=\"{}\" y=\"{}\">{}", x, first, escape_markup(cell.lines.front()));
    for (int line = 1; line < count; ++line) {
        text += fmt::format("<tspan x=\"{}\" dy=\"{}\">{}</tspan>", x, kLineHeight,
                            escape_markup(cell.lines[static_cast<std::size_t>(line)]));
    }
    return text + "</text>";
}

std::string opening(const Cell& cell, Hover hover) {
    const std::string hint = escape_markup(cell.hint);
    const std::string name = color_class(cell.color);
    if (hover == Hover::title) return fmt::format("<g class=\"{}\"><title>{}</title>", name, hint);
    const std::string owner = cell.lines.empty() ? "" : escape_markup(cell.lines.front());
    return fmt::format("<g class=\"{}\" data-k=\"{}\" data-h=\"{}\">", name, owner, hint);
}

std::string cell_svg(const Cell& cell, int x, int y, const Metrics& metrics, Hover hover) {
    const int width = metrics.cell_width - 1;  // a pixel of paper keeps cells apart
    const int height = metrics.cell_height - 1;
    return fmt::format("{}<path d=\"M{} {}h{}v{}h-{}z\"/>{}</g>\n", opening(cell, hover), x, y, width, height, width,
                       cell_text(cell, x + width / 2, y + height / 2));
}

std::string frame(const Grid& grid, const Metrics& metrics) {
    std::string svg;
    if (!grid.title.empty())
        svg += fmt::format("<text class=\"t\" x=\"0\" y=\"15\">{}</text>\n", escape_markup(grid.title));
    const int axis_line = metrics.top - kIndexHeight - 4;
    svg += fmt::format("<text class=\"i s\" x=\"{}\" y=\"{}\">{} →</text>\n", metrics.left, axis_line,
                       escape_markup(grid.column_axis));
    svg += fmt::format("<text class=\"i s\" x=\"0\" y=\"{}\">{} ↓</text>\n", metrics.top - 5,
                       escape_markup(grid.row_axis));
    for (int column = 0; column < grid.columns; ++column) {
        svg +=
            fmt::format("<text class=\"i\" x=\"{}\" y=\"{}\">{}</text>",
                        metrics.left + column * metrics.cell_width + metrics.cell_width / 2, metrics.top - 5, column);
    }
    for (int row = 0; row < grid.rows; ++row) {
        svg += fmt::format("<text class=\"i e\" x=\"{}\" y=\"{}\">{}</text>", metrics.left - 6,
                           metrics.top + row * metrics.cell_height + metrics.cell_height / 2 + 4, row);
    }
    return svg + "\n";
}

}  // namespace

Drawing draw_grid(const Grid& grid, Hover hover) {
    const Metrics metrics = metrics_of(grid);
    Drawing drawing;
    drawing.svg = frame(grid, metrics);
    for (int row = 0; row < grid.rows; ++row) {
        for (int column = 0; column < grid.columns; ++column) {
            drawing.svg += cell_svg(grid.cells[grid.index(row, column)], metrics.left + column * metrics.cell_width,
                                    metrics.top + row * metrics.cell_height, metrics, hover);
        }
    }
    drawing.width = std::max(metrics.left + grid.columns * metrics.cell_width, characters(grid.title) * 9);
    drawing.height = metrics.top + grid.rows * metrics.cell_height;
    return drawing;
}

std::string grid_css() {
    return fmt::format(
        "text{{font:11px {};fill:var(--ink);text-anchor:middle}}\n"
        "text.t{{font:600 15px {};text-anchor:start}}\n"
        "g>text{{font-weight:600}}tspan{{font-weight:400}}\n"
        "text.i{{fill:var(--muted);font-weight:400}}text.s{{text-anchor:start}}text.e{{text-anchor:end}}\n",
        kMonospace, kSansSerif);
}

}  // namespace jitgemm
