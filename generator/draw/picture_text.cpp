#include "generator/draw/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

namespace jitgemm {
namespace {

constexpr std::size_t kTextPageWidth = 120;

/// Characters, not bytes, of UTF-8 text.
std::size_t width_of(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }));
}

std::string padded_left(const std::string& text, std::size_t width) {
    const std::size_t own = width_of(text);
    return own < width ? std::string(width - own, ' ') + text : text;
}

std::string padded_right(const std::string& text, std::size_t width) {
    const std::size_t own = width_of(text);
    return own < width ? text + std::string(width - own, ' ') : text;
}

std::string without_trailing_blanks(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

/// "T5V1": a line that begins with a letter needs no blank before it.
std::string joined(const Cell& cell) {
    std::string text;
    for (const std::string& line : cell.lines) {
        const bool letter = !line.empty() && std::isalpha(static_cast<unsigned char>(line.front())) != 0;
        if (!text.empty() && !letter) text += ' ';
        text += line;
    }
    return text;
}

/// A grid as columns of text: every cell has `height` lines of `width` characters.
struct TextGrid {
    std::vector<std::vector<std::string>> cells;  // as many as the grid has, each a list of lines
    std::size_t height = 1;
    std::size_t width = 1;
    std::size_t gap = 2;          // blanks between two columns
    std::size_t index_width = 1;  // of the row indices

    [[nodiscard]] std::size_t line_width(const Grid& grid) const {
        return index_width + 2 + static_cast<std::size_t>(grid.columns) * (width + gap);
    }
};

TextGrid measured(std::vector<std::vector<std::string>> cells, const Grid& grid, std::size_t gap) {
    TextGrid text{std::move(cells)};
    text.gap = gap;
    text.width = std::to_string(std::max(grid.columns - 1, 0)).size();
    for (const std::vector<std::string>& lines : text.cells) {
        text.height = std::max(text.height, lines.size());
        for (const std::string& line : lines) text.width = std::max(text.width, width_of(line));
    }
    text.index_width = std::max(std::to_string(std::max(grid.rows - 1, 0)).size(), width_of(grid.row_axis));
    return text;
}

/// One line per cell with two blanks between columns, else one blank; lines below each other where that is too wide.
TextGrid fitted(const Grid& grid) {
    std::vector<std::vector<std::string>> single;
    std::vector<std::vector<std::string>> stacked;
    for (const Cell& cell : grid.cells) {
        single.push_back({joined(cell)});
        stacked.push_back(cell.lines);
    }
    for (const std::size_t gap : {std::size_t{2}, std::size_t{1}}) {
        TextGrid text = measured(single, grid, gap);
        if (text.line_width(grid) <= kTextPageWidth) return text;
    }
    return measured(std::move(stacked), grid, 1);
}

std::string column_indices(const Grid& grid, const TextGrid& text) {
    std::string line = padded_right("", text.index_width) + " │";
    for (int column = 0; column < grid.columns; ++column)
        line += std::string(text.gap, ' ') + padded_left(std::to_string(column), text.width);
    return line + "\n";
}

std::string ruler(const Grid& grid, const TextGrid& text) {
    const auto bars = [](std::size_t count) {
        std::string line;
        for (std::size_t i = 0; i < count; ++i) line += "─";
        return line;
    };
    return bars(text.index_width + 1) + "┼" + bars(static_cast<std::size_t>(grid.columns) * (text.width + text.gap)) +
           "\n";
}

std::string row_text(const Grid& grid, const TextGrid& text, int row) {
    std::string lines;
    for (std::size_t height = 0; height < text.height; ++height) {
        std::string line = padded_left(height == 0 ? std::to_string(row) : "", text.index_width) + " │";
        for (int column = 0; column < grid.columns; ++column) {
            const auto& cell = text.cells[grid.index(row, column)];
            line += std::string(text.gap, ' ') + padded_left(height < cell.size() ? cell[height] : "", text.width);
        }
        lines += without_trailing_blanks(std::move(line)) + "\n";
    }
    return lines;
}

std::string grid_text(const Grid& grid) {
    const TextGrid text = fitted(grid);
    std::string out = grid.title.empty() ? "" : grid.title + "\n";
    out += without_trailing_blanks(padded_right(grid.row_axis, text.index_width) + " │ " + grid.column_axis) + "\n";
    out += column_indices(grid, text) + ruler(grid, text);
    for (int row = 0; row < grid.rows; ++row) out += row_text(grid, text, row);
    return out;
}

}  // namespace

std::string picture_text(const Picture& picture) {
    check_picture(picture);
    std::string text = picture.title.empty() ? "" : picture.title + "\n";
    for (const Grid& grid : picture.grids) text += (text.empty() ? "" : "\n") + grid_text(grid);
    if (!picture.notes.empty()) text += "\n";
    for (const std::string& note : picture.notes) text += note + "\n";
    return text;
}

}  // namespace jitgemm
