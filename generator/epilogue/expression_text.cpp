#include "generator/epilogue/expression_text.hpp"

#include "generator/epilogue/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace jitgemm {
namespace {

/// How strongly an expression holds together; a weaker one needs parentheses inside a stronger one.
enum Level { kChoice, kComparison, kSum, kProduct, kUnary, kPrimary };

std::string in_parentheses(const std::string& text) { return '(' + text + ')'; }

const EpilogueFunction& row_of(const EpilogueNode& node) {
    return epilogue_functions()[static_cast<std::size_t>(node.which)];
}

bool selects(const EpilogueNode& node) {
    return node.operation == EpilogueOperation::function && row_of(node).kind == FunctionKind::select;
}

}  // namespace

std::string cuda_number(float value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + 'f';
}

std::vector<std::string> ExpressionText::local_names(const EpilogueParts& parts, std::size_t count) {
    const auto is_taken = [&](const std::string& name) {
        const auto has_it = [&](const auto& one) { return one.name == name; };
        return std::ranges::any_of(parts.operands, has_it) || std::ranges::any_of(parts.outputs, has_it);
    };
    std::vector<std::string> names;
    for (int i = 0; names.size() < count; ++i)
        if (std::string name = fmt::format("t{}", i); !is_taken(name)) names.push_back(std::move(name));
    return names;
}

int ExpressionText::level_of(const EpilogueNode& node) const {
    using enum EpilogueOperation;
    const bool is_cuda = language_ == Language::cuda;
    if (node.operation == number) return std::signbit(node.number) ? kUnary : kPrimary;
    if (node.operation == negate) return kUnary;
    if (node.operation == acc && node.half == 0 && !is_cuda && has_block_scales(parts_)) return kProduct;
    if (has_divisor(node)) return kPrimary;
    if (node.operation == multiply || node.operation == divide) return kProduct;
    if (is_comparison(node.operation)) return kComparison;
    if (node.operation == add || node.operation == subtract) return fuses(node) ? kPrimary : kSum;
    return is_cuda && selects(node) ? kChoice : kPrimary;
}

std::string ExpressionText::at_level(std::int32_t place, int least) const {
    const auto named = names_.find(place);
    if (named != names_.end()) return named->second;
    const std::string text = whole(node(place));
    return level_of(node(place)) < least ? in_parentheses(text) : text;
}

std::string ExpressionText::whole(const EpilogueNode& node) const {
    using enum EpilogueOperation;
    switch (node.operation) {
        case number: return this->number(node.number);
        case acc:
        case operand:
        case reduced: return leaf_(node);
        case negate: return '-' + at_level(node.arguments[0], kPrimary);
        case function:
        case cast: return call(node);
        default: break;
    }
    if (fuses(node)) return fused(node);
    if (has_divisor(node)) return fmt::format("over{}", arguments(node));
    const int level = is_comparison(node.operation)                            ? int{kComparison}
                      : node.operation == multiply || node.operation == divide ? int{kProduct}
                                                                               : int{kSum};
    return fmt::format("{} {} {}", at_level(node.arguments[0], is_comparison(node.operation) ? level + 1 : level),
                       symbol_of(node.operation), at_level(node.arguments[1], level + 1));
}

std::string ExpressionText::number(float value) const {
    return language_ == Language::text ? fmt::format("{}", value) : cuda_number(value);
}

std::string ExpressionText::arguments(const EpilogueNode& node) const {
    std::vector<std::string> texts;
    for (const std::int32_t argument : arguments_of(node)) texts.push_back(of(argument));
    return fmt::format("({})", fmt::join(texts, ", "));
}

std::string ExpressionText::call(const EpilogueNode& node) const {
    const bool is_cuda = language_ == Language::cuda;
    if (node.operation == EpilogueOperation::cast) {
        const std::string_view type = to_string(static_cast<DataType>(node.which));
        return std::string(is_cuda ? find_epilogue_cast(type)->cuda_name : type) + arguments(node);
    }
    const EpilogueFunction& row = row_of(node);
    if (!is_cuda && row.is_fast) return fmt::format("fast({}{})", row.name, arguments(node));
    if (is_cuda && selects(node))
        return fmt::format("{} ? {} : {}", of(node.arguments[0]), at_level(node.arguments[1], kComparison),
                           at_level(node.arguments[2], kComparison));
    return std::string(is_cuda ? row.cuda_name : row.name) + arguments(node);
}

bool ExpressionText::is_fusible(std::int32_t place) const {
    return node(place).operation == EpilogueOperation::multiply && !names_.contains(place);
}

std::string ExpressionText::negated(std::int32_t place) const {
    if (!names_.contains(place)) {
        if (node(place).operation == EpilogueOperation::number) return number(-node(place).number);
        if (node(place).operation == EpilogueOperation::negate) return of(node(place).arguments[0]);
    }
    return '-' + at_level(place, kPrimary);
}

/// Whether the node divides by a Divisor, in CUDA.
bool ExpressionText::has_divisor(const EpilogueNode& node) const {
    if (language_ != Language::cuda || node.operation != EpilogueOperation::divide) return false;
    const EpilogueNode& divisor = this->node(node.arguments[1]);
    return divisor.operation == EpilogueOperation::reduced &&
           is_divisor(parts_, parts_.outputs[static_cast<std::size_t>(divisor.which)]);
}

/// Whether a product is added, in CUDA.
bool ExpressionText::fuses(const EpilogueNode& node) const {
    const bool adds = node.operation == EpilogueOperation::add || node.operation == EpilogueOperation::subtract;
    return language_ == Language::cuda && adds && (is_fusible(node.arguments[0]) || is_fusible(node.arguments[1]));
}

/// Of two products the right one.
std::string ExpressionText::fused(const EpilogueNode& node) const {
    const bool adds = node.operation == EpilogueOperation::add;
    const std::int32_t left = node.arguments[0], right = node.arguments[1];
    const bool takes_right = is_fusible(right);
    const EpilogueNode& product = this->node(takes_right ? right : left);
    const std::int32_t factor = product.arguments[0];
    const std::string first = adds || !takes_right ? of(factor) : negated(factor);
    const std::string sum = takes_right ? of(left) : adds ? of(right) : negated(right);
    return fmt::format("fmaf({}, {}, {})", first, of(product.arguments[1]), sum);
}

}  // namespace jitgemm
