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

/// What turns `before` into `after`, line by line, with as many lines in common as there can be (a longest common
/// subsequence); removed lines come before the added ones in their place. Takes time and memory that grow with the
/// product of the two texts' numbers of lines: for files of some thousand lines.
[[nodiscard]] std::vector<DiffLine> line_diff(std::string_view before, std::string_view after);

/// The lines that changed with up to `context` lines around each, as runs of neighbouring lines; none for equal texts.
[[nodiscard]] std::vector<std::vector<DiffLine>> changed_hunks(const std::vector<DiffLine>& diff, std::size_t context);

/// The lines of a text; a line end at its very end begins no further line.
[[nodiscard]] std::vector<std::string_view> lines_of(std::string_view text);

}  // namespace jitgemm
