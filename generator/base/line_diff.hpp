#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

enum class LineChange : std::uint8_t { same, removed, added };

/// A line of one of two texts, or of both.
struct DiffLine {
    LineChange change = LineChange::same;
    std::string text;  ///< without its line end
    friend bool operator==(const DiffLine&, const DiffLine&) = default;
};

/// The lines that turn `before` into `after`, with as many common lines as possible (a longest common subsequence).
/// Removed lines come before the lines added in their place. Time and memory grow with the product of the numbers of
/// lines: the function is for files of some thousand lines.
[[nodiscard]] std::vector<DiffLine> line_diff(std::string_view before, std::string_view after);

/// The changed lines with up to `context` lines around each, as runs of neighbouring lines. Equal texts have none.
[[nodiscard]] std::vector<std::vector<DiffLine>> changed_hunks(const std::vector<DiffLine>& diff, std::size_t context);

/// The lines of a text. A line end at the very end begins no further line.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace jitgemm
