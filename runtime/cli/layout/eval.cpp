#include "generator/draw/layout_pictures.hpp"
#include "generator/layout/layout_expression.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"

#include <fmt/format.h>

#include <memory>

namespace jitgemm::cli {
namespace {

constexpr std::int64_t kLargestJsonTable = 4096;
constexpr std::int64_t kLargestTextTable = 1024;

struct EvalOptions {
    std::string expression;
    bool functions = false;
    LayoutFormat format;
};

LayoutAnswer layout_answer(const std::string& expression, const ComposedLayout& layout, const std::string& format) {
    LayoutAnswer answer;
    const std::int64_t size = layout.size();
    answer.document = {
        {"expression", expression}, {"layout", to_string(layout)}, {"size", size}, {"cosize", layout.cosize()}};
    answer.document["table"] = nullptr;
    if (size <= kLargestJsonTable) answer.document["table"] = table(layout);
    answer.text = fmt::format("{}\nsize {}, cosize {}\n", to_string(layout), size, layout.cosize());
    if (format == "text" ? size <= kLargestTextTable : format != "json") answer.picture = layout_picture(layout);
    return answer;
}

LayoutAnswer value_answer(const std::string& expression, const LayoutValue& value) {
    LayoutAnswer answer;
    answer.text = to_string(value) + "\n";
    answer.document = {{"expression", expression}, {"value", nullptr}};
    if (value.is_int_tuple() && value.as_int_tuple().is_integer())
        answer.document["value"] = value.as_integer();
    else
        answer.document["value"] = to_string(value);
    return answer;
}

/// A shape that stands alone is its column-major layout; what a function made of integers stays what it is.
bool is_layout(const std::string& expression, const LayoutValue& value) {
    if (value.is_int_tuple())
        return value.as_int_tuple().is_tuple() && expression.find_first_not_of(" \t") == expression.find('(');
    return !std::holds_alternative<Swizzle>(value.variant());
}

std::string function_list() {
    std::string text;
    for (const LayoutFunction& function : layout_functions()) {
        const std::string call =
            fmt::format("{}{}({})", function.name, function.parameters > 0 ? "<n>" : "", function.arguments);
        text += fmt::format("  {:<38} {}\n", call, function.what);
    }
    return text;
}

int evaluate(const EvalOptions& options, Output& output) {
    const std::string format = chosen_format(options.format, output);
    const LayoutValue value = evaluate_layout_expression(options.expression);
    if (!is_layout(options.expression, value))
        return show(value_answer(options.expression, value), options.format, output);
    return show(layout_answer(options.expression, value.as_composed(), format), options.format, output);
}

}  // namespace

Action declare_layout_eval(CLI::App& app) {
    auto options = std::make_shared<EvalOptions>();
    app.add_option("EXPRESSION", options->expression,
                   "An expression of layouts, functions, 'a o b', and a layout applied to coordinates")
        ->required();
    app.footer("Functions:\n" + function_list() +
               "  Swizzle<bits,base,shift>               XOR of index bits; composes with 'o'");
    declare_format(app, options->format);
    return [options](Output& output) { return evaluate(*options, output); };
}

}  // namespace jitgemm::cli
