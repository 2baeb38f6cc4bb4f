#include "generator/base/line_diff.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

using Lines = std::vector<std::string_view>;

/// lengths(i, j): lines that the texts from line i and line j on have in common, in order.
class CommonLengths {
public:
    CommonLengths(const Lines& before, const Lines& after)
        : columns_(after.size() + 1), lengths_((before.size() + 1) * columns_) {
        for (std::size_t i = before.size(); i-- > 0;)
            for (std::size_t j = after.size(); j-- > 0;)
                at(i, j) =
                    before[i] == after[j] ? (*this)(i + 1, j + 1) + 1 : std::max((*this)(i + 1, j), (*this)(i, j + 1));
    }
    [[nodiscard]] std::uint32_t operator()(std::size_t i, std::size_t j) const { return lengths_[i * columns_ + j]; }

private:
    std::uint32_t& at(std::size_t i, std::size_t j) { return lengths_[i * columns_ + j]; }

    std::size_t columns_;
    std::vector<std::uint32_t> lengths_;
};

/// Marks the lines around every change.
std::vector<bool> kept_lines(const std::vector<DiffLine>& diff, std::size_t context) {
    std::vector<bool> kept(diff.size());
    for (std::size_t i = 0; i < diff.size(); ++i) {
        if (diff[i].change == LineChange::same) continue;
        const std::size_t first = i - std::min(i, context);
        const std::size_t last = std::min(i + context, diff.size() - 1);
        for (std::size_t line = first; line <= last; ++line) kept[line] = true;
    }
    return kept;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::vector<DiffLine> line_diff(std::string_view before_text, std::string_view after_text) {
    const Lines before = lines_of(before_text);
    const Lines after = lines_of(after_text);
    const CommonLengths common(before, after);
    std::vector<DiffLine> diff;
    const auto add = [&](LineChange change, std::string_view line) { diff.push_back({change, std::string(line)}); };
    std::size_t i = 0;
    std::size_t j = 0;
    while (i < before.size() || j < after.size()) {
        if (i < before.size() && j < after.size() && before[i] == after[j]) {
            add(LineChange::same, before[i]);
            ++i;
            ++j;
        } else if (j == after.size() || (i < before.size() && common(i + 1, j) >= common(i, j + 1))) {
            add(LineChange::removed, before[i++]);
        } else {
            add(LineChange::added, after[j++]);
        }
    }
    return diff;
}

std::vector<std::vector<DiffLine>> changed_hunks(const std::vector<DiffLine>& diff, std::size_t context) {
    const std::vector<bool> kept = kept_lines(diff, context);
    std::vector<std::vector<DiffLine>> hunks;
    for (std::size_t i = 0; i < diff.size(); ++i) {
        if (!kept[i]) continue;
        if (i == 0 || !kept[i - 1]) hunks.emplace_back();
        hunks.back().push_back(diff[i]);
    }
    return hunks;
}

}  // namespace jitgemm
