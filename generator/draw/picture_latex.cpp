#include "generator/draw/markup.hpp"
#include "generator/draw/palette.hpp"
#include "generator/draw/picture.hpp"
#include "generator/layout/int_tuple.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <string_view>

namespace jitgemm {
namespace {

// TeX measures up to 16383 points.
constexpr double kMostCentimetres = 560;
constexpr double kCharacter = 0.17;  // of 7-point sans serif, in cm
constexpr double kLine = 0.33;
constexpr double kTitle = 0.9;  // height of a grid's title with its axis
constexpr double kLatexGap = 1.0;

struct CellSize {
    double width = 0.55;
    double height = 0.55;
};

CellSize cell_size(const Grid& grid) {
    std::size_t lines = 1;
    std::size_t widest = 1;
    for (const Cell& cell : grid.cells) {
        lines = std::max(lines, cell.lines.size());
        for (const std::string& line : cell.lines) widest = std::max(widest, line.size());
    }
    return {std::max(0.55, kCharacter * static_cast<double>(widest) + 0.16),
            std::max(0.55, kLine * static_cast<double>(lines) + 0.14)};
}

void check_room(double extent) {
    if (extent <= kMostCentimetres) return;
    throw LayoutError(
        fmt::format("the picture would be {:.0f} cm long; a LaTeX page holds {:.0f} cm", extent, kMostCentimetres));
}

std::string color_definitions(const Picture& picture) {
    std::set<std::size_t> used;
    for (const Grid& grid : picture.grids) {
        for (const Cell& cell : grid.cells)
            if (cell.color >= 0) used.insert(static_cast<std::size_t>(cell.color) % palette().size());
    }
    std::string text = fmt::format("\\definecolor{{c}}{{HTML}}{{{}}}\n", kPageColors.panel.light.substr(1));
    for (const std::size_t color : used)
        text += fmt::format("\\definecolor{{c{}}}{{HTML}}{{{}}}\n", color, palette()[color].light.substr(1));
    return text;
}

/// First line in bold, the others below it; {} keeps "[" and "*" from being read as arguments of the line break.
std::string cell_lines(const Cell& cell) {
    std::string text;
    for (std::size_t line = 0; line < cell.lines.size(); ++line) {
        const std::string escaped = escape_latex(cell.lines[line]);
        text += line == 0 ? "\\textbf{" + escaped + "}" : "\\\\{}" + escaped;
    }
    return text;
}

std::string indices(std::string_view anchor, int count, std::string_view at) {
    if (count == 0) return {};
    return fmt::format("\\foreach \\i in {{0,...,{}}} \\node[axis,anchor={}] at ({}) {{\\i}};\n", count - 1, anchor,
                       at);
}

std::string row_boxes(const Grid& grid, int row) {
    std::string boxes = "\\hbox{";
    for (int column = 0; column < grid.columns; ++column) {
        const Cell& cell = grid.cells[grid.index(row, column)];
        boxes += fmt::format("\\cell{{{}}}{{{}}}%\n", color_class(cell.color), cell_lines(cell));
    }
    return boxes + "}\n";
}

/// Upper left corner of the drawing goes to (0, −top).
std::string grid_tikz(const Grid& grid, double top, const CellSize& size) {
    std::string tikz =
        fmt::format("\\begin{{scope}}[yshift=-{:.3f}cm,x={:.3f}cm,y=-{:.3f}cm]\n", top, size.width, size.height);
    tikz += fmt::format("\\node[title] at (0,0) [yshift={:.2f}cm] {{{}}};\n", kTitle, escape_latex(grid.title));
    tikz += fmt::format("\\node[axis,anchor=south west] at (0,0) [yshift=0.32cm] {{{} $\\rightarrow$}};\n",
                        escape_latex(grid.column_axis));
    tikz += fmt::format("\\node[axis,anchor=south east] at (0,0) [yshift=0.02cm] {{{} $\\downarrow$}};\n",
                        escape_latex(grid.row_axis));
    tikz += indices("south", grid.columns, "\\i+0.5,0") + indices("east", grid.rows, "0,\\i+0.5");
    tikz += fmt::format("\\cellwidth={:.3f}cm \\cellheight={:.3f}cm\n", size.width, size.height);
    tikz += "\\node[anchor=north west,inner sep=0] at (0,0) {\\vbox{\\offinterlineskip\n";
    for (int row = 0; row < grid.rows; ++row) tikz += row_boxes(grid, row);
    return tikz + "}};\n\\end{scope}\n";
}

std::string all_tikz(const Picture& picture) {
    std::string tikz =
        fmt::format("\\node[title,font=\\sffamily\\bfseries\\large] at (0,0) {{{}}};\n", escape_latex(picture.title));
    double top = kLatexGap + kTitle;
    for (const Grid& grid : picture.grids) {
        const CellSize size = cell_size(grid);
        tikz += grid_tikz(grid, top, size);
        top += grid.rows * size.height + kLatexGap + kTitle;
        check_room(std::max(top, grid.columns * size.width));
    }
    top -= kTitle;
    for (const std::string& note : picture.notes) {
        tikz += fmt::format("\\node[axis,anchor=base west] at (0,-{:.3f}) {{{}}};\n", top, escape_latex(note));
        top += kLine;
    }
    return tikz;
}

constexpr const char* kPreamble = R"tex(% pdflatex FILE: one page, as large as the picture
\documentclass{article}
\usepackage{tikz}
\pagestyle{empty}
\definecolor{muted}{HTML}{5A6270}
\tikzset{
  title/.style={anchor=base west,inner sep=0,font=\sffamily\bfseries},
  axis/.style={inner sep=2pt,text=muted,font=\sffamily\scriptsize}}
\newcommand\inside{\sffamily\fontsize{6}{7.5}\selectfont}
\newdimen\cellwidth
\newdimen\cellheight
\newdimen\cellgap
\cellgap=0.6pt
% \cell{colour}{lines}: a rule with text on it. Plain boxes, for TeX's memory holds few thousand TikZ nodes.
\newcommand\cell[2]{%
  {\color{#1}\vrule width\dimexpr\cellwidth-\cellgap\relax height\dimexpr\cellheight-\cellgap\relax}%
  \kern\dimexpr\cellgap-\cellwidth\relax
  \hbox to\dimexpr\cellwidth-\cellgap\relax{\hss\vbox to\dimexpr\cellheight-\cellgap\relax{\vss
    \hbox{\inside\shortstack{#2}}\vss\kern\cellgap}\hss}%
  \kern\cellgap\vrule width0pt height\cellheight}
)tex";

constexpr const char* kOpening = R"tex(\begin{document}
\setbox0=\hbox{\begin{tikzpicture}
)tex";

constexpr const char* kClosing = R"tex(\end{tikzpicture}}
\pdfhorigin=5mm \pdfvorigin=5mm \hoffset=0pt \voffset=0pt
\pdfpagewidth=\wd0 \advance\pdfpagewidth by 1cm
\pdfpageheight=\ht0 \advance\pdfpageheight by \dp0 \advance\pdfpageheight by 1cm
\shipout\box0
\end{document}
)tex";

}  // namespace

std::string picture_latex(const Picture& picture) {
    check_picture(picture);
    return kPreamble + color_definitions(picture) + kOpening + all_tikz(picture) + kClosing;
}

}  // namespace jitgemm
