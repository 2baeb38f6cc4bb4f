#include "generator/epilogue/check_values.hpp"
#include "generator/epilogue/functions.hpp"
#include "generator/epilogue/names.hpp"
#include "generator/text/nearest_name.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

EpiloguePairs pairs_of(std::string_view function) {
    return function == "left" || function == "right" ? EpiloguePairs::halves : EpiloguePairs::neighbours;
}

}  // namespace

CheckedValue ValueChecker::call(const Expression& written) {
    const std::string_view name = written.word;
    if (const EpilogueCast* const type = find_epilogue_cast(name)) return cast(written, type->type);
    if (name == "fast") return fast(written);
    if (is_reduction_name(name) && (written.arguments.size() == 1 || name == "sum"))
        return refuse(written.at,
                      fmt::format("{} of one value is a reduction. It must stand alone on the right side, and the left "
                                  "side must have an index{}",
                                  name, hint_at_two_values(name)));
    const int row = find_epilogue_function(name);
    if (row >= 0) return function(written, row);
    const std::vector<std::string_view>& known = epilogue_function_names();
    const std::string_view nearest = nearest_name(name, known);
    return refuse(written.at, fmt::format("'{}' is not a function. Known functions are {}{}", name, join_names(known),
                                          nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest)));
}

CheckedValue ValueChecker::cast(const Expression& written, DataType type) {
    if (written.arguments.size() != 1)
        return refuse(written.at,
                      fmt::format("{} takes 1 argument, but has {}", written.word, written.arguments.size()));
    const std::vector<CheckedValue> inner = arguments(written);
    if (inner.empty() || type == DataType::f32) return inner.empty() ? CheckedValue() : inner[0];
    return add(written.at, {.operation = EpilogueOperation::cast, .which = static_cast<std::int16_t>(type)}, inner);
}

CheckedValue ValueChecker::fast(const Expression& written) {
    const Expression& inner = written.arguments[0];
    const bool is_call = written.arguments.size() == 1 && inner.kind == ExpressionKind::call;
    const int row = is_call ? find_epilogue_function(inner.word, true) : -1;
    if (row >= 0) return function(inner, row);
    std::vector<std::string_view> known;
    for (const EpilogueFunction& one : epilogue_functions())
        if (one.is_fast) known.push_back(one.name);
    return refuse(written.at, fmt::format("fast takes one call, as fast(silu(x)), of one of {}", join_names(known)));
}

CheckedValue ValueChecker::function(const Expression& written, int row) {
    const EpilogueFunction& function = epilogue_functions()[static_cast<std::size_t>(row)];
    if (written.arguments.size() != static_cast<std::size_t>(function.arity))
        return refuse(written.at, fmt::format("{} takes {} argument{}, but has {}", function.name, function.arity,
                                              function.arity == 1 ? "" : "s", written.arguments.size()));
    if (function.kind == FunctionKind::half) return half(written);
    const bool selects = function.kind == FunctionKind::select;
    if (selects && written.arguments[0].kind != ExpressionKind::comparison)
        return refuse(written.arguments[0].at,
                      "the first argument of select is a comparison, as in select(x > 0, x, y)");
    const std::vector<CheckedValue> values = arguments(written, selects);
    if (values.empty()) return {};
    return add(written.at, {.operation = EpilogueOperation::function, .which = static_cast<std::int16_t>(row)}, values);
}

CheckedValue ValueChecker::half(const Expression& written) {
    const std::vector<CheckedValue> inner = arguments(written);
    if (inner.empty()) return {};
    if (inner[0].columns == 'h')
        return refuse(written.at, fmt::format("{} has pairs of columns (h) already", written.arguments[0].source));
    if (inner[0].columns == ' ')
        return refuse(written.at, fmt::format("{} has no columns (n) to make pairs of", written.arguments[0].source));
    if (symbols_.pairs != EpiloguePairs::none && symbols_.pairs != pairs_of(written.word))
        return refuse(written.at, fmt::format("{} and {} in one text: pairs are left and right, or even and odd",
                                              symbols_.paired_by, written.source));
    if (symbols_.pairs == EpiloguePairs::none) symbols_.paired_by = written.source;
    symbols_.pairs = pairs_of(written.word);
    CheckedValue value = inner[0];
    value.node = half_of(value.node, written.word == "left" || written.word == "even" ? 1 : 2);
    value.columns = 'h';
    return value;
}

/// The half of a value is made of the halves of acc and of the operands.
std::int32_t ValueChecker::half_of(std::int32_t node, std::int8_t which) {
    const auto known = halves_.find({node, which});
    if (known != halves_.end()) return known->second;
    EpilogueNode made = symbols_.graph[node];
    const auto differs = [&] {
        if (made.operation == EpilogueOperation::acc || made.operation == EpilogueOperation::reduced) return true;
        if (made.operation != EpilogueOperation::operand) return false;
        return symbols_.operands[static_cast<std::size_t>(made.which)].index.column.has_value();
    };
    if (differs()) made.half = which;
    for (std::int32_t& argument : made.arguments)
        if (argument >= 0) argument = half_of(argument, which);
    const std::int32_t place = symbols_.graph.add(made);
    depth_.resize(symbols_.graph.nodes().size(), depth_[static_cast<std::size_t>(node)]);
    reads_back_.resize(symbols_.graph.nodes().size(), reads_back(node));
    return halves_[{node, which}] = place;
}

}  // namespace jitgemm
