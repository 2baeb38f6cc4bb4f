#include "generator/base/packed_lines.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {

std::string packed_items(std::string start, const std::vector<std::string>& items, std::size_t indent,
                         std::size_t tail) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool last = i + 1 == items.size();
        const bool first_of_line = start.empty() || start.back() == ' ' || start.ends_with("::");
        if (!first_of_line && start.size() + 1 + items[i].size() + (last ? tail : 1) > kTextColumns) {
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

std::string call_in_lines(std::string_view call) { return in_lines(call, call.find('(') + 1); }

std::string call_statement(std::string_view function, const std::string& first, const std::vector<std::string>& others,
                           std::size_t indent) {
    const std::string start = fmt::format("{:{}}{}(", "", indent, function);
    std::string lines = packed_items(start + first + ",", others, start.size(), 2) + ");\n";
    for (std::size_t begin = 0; begin < lines.size(); begin = lines.find('\n', begin) + 1) lines.erase(begin, indent);
    return lines;
}

std::string assignment(std::size_t indent, const std::string& target, const std::string& value) {
    const bool fits = indent + target.size() + 3 + value.size() <= kTextColumns;
    return fmt::format("{:{}}{} ={}{}\n", "", indent, target,
                       fits ? " " : fmt::format("\n{:{}}", "", indent + kTextIndent), value);
}

}  // namespace jitgemm
