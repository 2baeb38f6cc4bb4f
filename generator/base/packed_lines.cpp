#include "generator/base/packed_lines.hpp"

#include <algorithm>

namespace jitgemm {

std::string packed_items(std::string start, const std::vector<std::string>& items, std::size_t indent,
                         std::size_t tail) {
    constexpr std::size_t kLineColumns = 120;
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool last = i + 1 == items.size();
        const bool first_of_line = start.empty() || start.back() == ' ' || start.ends_with("::");
        if (!first_of_line && start.size() + 1 + items[i].size() + (last ? tail : 1) > kLineColumns) {
            text += start + '\n';
            start = std::string(indent, ' ');
        } else if (!first_of_line) {
            start += ' ';
        }
        start += items[i] + (last ? "" : ",");
    }
    return text + start;
}

std::string in_lines(std::string_view list, std::size_t indent) {
    constexpr std::string_view kComma = ", ";
    std::vector<std::string> items;
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(kComma), list.size());
        items.emplace_back(list.substr(0, end));
        list.remove_prefix(std::min(end + kComma.size(), list.size()));
    }
    return packed_items({}, items, indent, 0);
}

}  // namespace jitgemm
