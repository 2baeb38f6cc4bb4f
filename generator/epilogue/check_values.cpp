#include "generator/epilogue/check_values.hpp"

#include "generator/epilogue/functions.hpp"
#include "generator/epilogue/names.hpp"
#include "generator/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

constexpr int kDeepestValue = 100;  // a canonical form of it can still be read

bool can_read_back(const EpilogueOutput& output) {
    const EpilogueIndex& index = output.index;
    return output.reduction && index.row && index.row->over == 1 && index.column && index.column->over > 1;
}

std::string columns_text(std::string_view source, char columns) {
    return fmt::format("{} has {}", source, columns == 'h' ? "pairs of columns (h)" : "columns (n)");
}

/// The names that a wrong one may stand for.
std::vector<std::string_view> readable_names(const EpilogueSymbols& symbols) {
    std::vector<std::string_view> names{"acc", "alpha", "beta"};
    for (const auto& [name, local] : symbols.locals) names.push_back(name);
    for (const auto& [name, declared] : symbols.declared) names.push_back(name);
    return names;
}

DataType default_operand_type(const EpilogueIndex& index, DataType d) {
    return index.is_element() || index.is_over_blocks() ? DataType::f32 : d;
}

}  // namespace

CheckedValue ValueChecker::refuse(TextPosition at, std::string message) {
    symbols_.problems.add(at, std::move(message));
    return {};
}

CheckedValue ValueChecker::add(TextPosition at, EpilogueNode node, const std::vector<CheckedValue>& arguments) {
    CheckedValue value;
    int depth = 1;
    bool reads_back = node.operation == EpilogueOperation::reduced;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].is_broken()) return {};
        node.arguments[i] = arguments[i].node;
        value.has_rows |= arguments[i].has_rows;
        if (arguments[i].columns != ' ') value.columns = arguments[i].columns;
        depth = std::max(depth, depth_[static_cast<std::size_t>(arguments[i].node)] + 1);
        reads_back = reads_back || this->reads_back(arguments[i].node);
    }
    if (depth > kDeepestValue)
        return refuse(at, fmt::format("a value depends on others {} deep at most", kDeepestValue));
    value.node = symbols_.graph.add(node);
    depth_.resize(symbols_.graph.nodes().size(), depth);
    reads_back_.resize(symbols_.graph.nodes().size(), reads_back);
    return value;
}

CheckedValue ValueChecker::check(const Expression& written) {
    using enum ExpressionKind;
    switch (written.kind) {
        case number: return add(written.at, {.operation = EpilogueOperation::number, .number = written.number}, {});
        case name: return this->name(written);
        case indexed: return this->indexed(written);
        case negation: return this->negation(written);
        case binary: return between(written);
        case call: return this->call(written);
        case comparison: break;
    }
    return refuse(
        written.at,
        fmt::format("'{}' compares two values: a comparison is the first argument of select alone", written.word));
}

CheckedValue ValueChecker::name(const Expression& written) {
    if (written.word == "acc") {
        CheckedValue acc = add(written.at, {.operation = EpilogueOperation::acc}, {});
        acc.has_rows = true;
        acc.columns = 'n';
        return acc;
    }
    if (symbols_.broken.contains(written.word)) return {};
    const auto local = symbols_.locals.find(written.word);
    if (local != symbols_.locals.end()) {
        local->second.is_used = true;
        return local->second.value;
    }
    return is_launch_scalar(written.word) ? scalar(written) : unknown_name(written);
}

CheckedValue ValueChecker::unknown_name(const Expression& written) {
    const std::string_view name = written.word;
    if (find_epilogue_function(name) >= 0 || is_reduction_name(name) || name == "fast")
        return refuse(written.at, fmt::format("'{0}' is a function: write {0}(x)", name));
    if (is_language_name(name)) return refuse(written.at, fmt::format("'{}' is no value of the language", name));
    if (symbols_.find_output(name) >= 0) return read_output(written, symbols_.find_output(name));
    const auto declared = symbols_.declared.find(name);
    if (declared != symbols_.declared.end() && !declared->second.index) return scalar(written);
    if (declared != symbols_.declared.end()) {
        declared->second.is_used = true;
        return refuse(written.at, fmt::format("{0} is declared as [{1}] and read without an index: write {0}[{1}]",
                                              name, to_string(*declared->second.index)));
    }
    if (name == "d")
        return refuse(written.at,
                      "d is what the text stores, and it has no value before. To read what D holds, give it another "
                      "name with an index, as c[m,n], and pass D's address for it");
    if (const std::string wrong = wrong_name(name); !wrong.empty()) return refuse(written.at, wrong);
    if (name == symbols_.assigned)
        return refuse(written.at, fmt::format("{0} has no value before this statement, which assigns {0}", name));
    return refuse(written.at, fmt::format("'{0}' is neither assigned before nor declared. A scalar of the launch is "
                                          "declared as '{0}: f32'{1}",
                                          name, nearest_hint(name, readable_names(symbols_))));
}

CheckedValue ValueChecker::scalar(const Expression& written) {
    const int known = symbols_.find_operand(written.word);
    if (known >= 0) return operand(written.at, known);
    const DataType type = symbols_.type_of(written.word, DataType::f32);
    symbols_.operands.push_back({.name = std::string(written.word), .type = type, .is_scalar = true});
    return operand(written.at, static_cast<int>(symbols_.operands.size()) - 1);
}

CheckedValue ValueChecker::operand(TextPosition at, int place) {
    const EpilogueOperand& operand = symbols_.operands[static_cast<std::size_t>(place)];
    const EpilogueNode node{.operation = EpilogueOperation::operand, .which = static_cast<std::int16_t>(place)};
    CheckedValue value = add(at, node, {});
    if (operand.is_block_scale()) return value;
    value.has_rows = operand.index.row.has_value();
    if (operand.index.column) value.columns = operand.index.column->size;
    return value;
}

CheckedValue ValueChecker::indexed(const Expression& written) {
    const std::string_view name = written.word;
    if (symbols_.broken.contains(name)) return {};
    if (const std::string wrong = wrong_name(name); !wrong.empty()) return refuse(written.at, wrong);
    const auto local = symbols_.locals.find(name);
    if (local != symbols_.locals.end()) {
        local->second.is_used = true;
        return refuse(written.at, fmt::format("{0} is a local value: read it as {0}, without an index", name));
    }
    const int output = symbols_.find_output(name);
    return output >= 0 ? read_output(written, output) : read_operand(written);
}

CheckedValue ValueChecker::read_output(const Expression& written, int place) {
    const EpilogueOutput& output = symbols_.outputs[static_cast<std::size_t>(place)];
    if (!can_read_back(output))
        return refuse(written.at, fmt::format("{} is an output. Only a name without an index (or a reduction over a "
                                              "block) can be read again",
                                              output.name));
    if (written.kind != ExpressionKind::indexed || written.index != output.index)
        return refuse(written.at, fmt::format("{0} is assigned as {0}[{1}] and read as {2}", output.name,
                                              to_string(output.index), written.source));
    const int columns = output.index.column->over;
    if (std::ranges::find(kBlockColumns, columns) == kBlockColumns.end())
        return refuse(written.at, fmt::format("{} has {} columns: a block that is read back has 32, 64 or 128",
                                              written.source, columns));
    symbols_.outputs[static_cast<std::size_t>(place)].reduction->is_read_back = true;
    const EpilogueNode node{.operation = EpilogueOperation::reduced, .which = static_cast<std::int16_t>(place)};
    CheckedValue value = add(written.at, node, {});
    value.has_rows = true;
    value.columns = output.index.column->size;
    return value;
}

CheckedValue ValueChecker::read_operand(const Expression& written) {
    const auto declared = symbols_.declared.find(written.word);
    if (declared != symbols_.declared.end() && declared->second.index != written.index) {
        declared->second.is_used = true;
        const std::string as =
            declared->second.index ? fmt::format("as [{}]", to_string(*declared->second.index)) : "without an index";
        return refuse(written.at,
                      fmt::format("{} is declared {} and read as [{}]", written.word, as, to_string(written.index)));
    }
    const int known = symbols_.find_operand(written.word);
    if (known < 0) {
        const DataType otherwise = default_operand_type(written.index, symbols_.types.d);
        const DataType type = symbols_.type_of(written.word, otherwise);
        symbols_.operands.push_back({.name = std::string(written.word), .type = type, .index = written.index});
        return operand(written.at, static_cast<int>(symbols_.operands.size()) - 1);
    }
    const EpilogueOperand& before = symbols_.operands[static_cast<std::size_t>(known)];
    if (before.index == written.index) return operand(written.at, known);
    return refuse(written.at, fmt::format("{} is read as [{}] and as [{}]", written.word, to_string(before.index),
                                          to_string(written.index)));
}

CheckedValue ValueChecker::negation(const Expression& written) {
    const std::vector<CheckedValue> inner = arguments(written);
    if (inner.empty()) return {};
    const EpilogueNode node = symbols_.graph[inner[0].node];
    if (node.operation == EpilogueOperation::number)
        return add(written.at, {.operation = EpilogueOperation::number, .number = -node.number}, {});
    if (node.operation != EpilogueOperation::negate)
        return add(written.at, {.operation = EpilogueOperation::negate}, inner);
    CheckedValue value = inner[0];
    value.node = node.arguments[0];
    return value;
}

CheckedValue ValueChecker::between(const Expression& written) {
    const std::vector<CheckedValue> both = arguments(written);
    return both.empty() ? CheckedValue() : add(written.at, {.operation = operation_of(written.word)}, both);
}

std::vector<CheckedValue> ValueChecker::arguments(const Expression& written, bool first_is_condition) {
    std::vector<CheckedValue> values;
    for (const Expression& argument : written.arguments) {
        const bool is_condition = first_is_condition && values.empty();
        values.push_back(is_condition ? between(argument) : check(argument));
    }
    const bool is_broken = std::ranges::any_of(values, &CheckedValue::is_broken);
    return is_broken || !agree(written, values) ? std::vector<CheckedValue>() : values;
}

bool ValueChecker::agree(const Expression& written, const std::vector<CheckedValue>& values) {
    std::size_t first = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].columns == ' ') continue;
        if (values[first].columns == ' ') first = i;
        if (values[i].columns == values[first].columns) continue;
        const std::string left = columns_text(written.arguments[first].source, values[first].columns);
        symbols_.problems.add(
            written.at, fmt::format("{}, {}", left, columns_text(written.arguments[i].source, values[i].columns)));
        return false;
    }
    return true;
}

}  // namespace jitgemm
