#include "generator/layout/layout_expression.hpp"

#include "generator/layout/layout_text.hpp"
#include "generator/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kDeepestExpression = 128;  // of parentheses and compositions

/// A recursive descent over
///     expression = term ("o" term)*        compositions, the last first
///     term       = primary ("(" … ")")*    applied to coordinates
///     primary    = number [":" stride] | "_" | "(" expression, … ")" [":" strides]
///                | name ["<" integers ">"] "(" … ")" | swizzle
class Calculator {
public:
    explicit Calculator(std::string_view text) : text_(text) {}

    LayoutValue run() {
        LayoutValue value = expression();
        text_.expect_end();
        return value;
    }

private:
    LayoutValue expression() {
        if (++nesting_ > kDeepestExpression)
            text_.fail(fmt::format("expressions nest deeper than {}", kDeepestExpression));
        LayoutValue value = composition_of_terms();
        --nesting_;
        return value;
    }

    LayoutValue composition_of_terms() {
        LayoutValue left = term();
        const std::size_t at = here();
        if (!take_composition()) return left;
        left = without_parentheses(left);
        // "Sw<3,3,3> o 16 o layout" is how CuTe prints an offset.
        if (std::holds_alternative<Swizzle>(left.variant())) {
            LayoutValue right = without_parentheses(term());
            if (take_composition()) return with_rule(at, [&] { return offset(left, right, expression()); });
            return with_rule(at, [&] { return compose(left, right); });
        }
        LayoutValue right = without_parentheses(expression());
        return with_rule(at, [&] { return compose(left, right); });
    }

    /// Around one layout they group where `o` stands; elsewhere they make a tuple of one mode, as CuTe prints it.
    static LayoutValue without_parentheses(const LayoutValue& value) {
        const auto* parts = std::get_if<LayoutValue::Tuple>(&value.variant());
        return parts != nullptr && parts->size() == 1 ? parts->front() : value;
    }

    static LayoutValue offset(const LayoutValue& swizzle, const LayoutValue& middle, const LayoutValue& inner) {
        const bool is_offset = middle.is_int_tuple() && middle.as_int_tuple().is_integer();
        if (!is_offset) return compose(swizzle, compose(middle, inner));
        return LayoutValue::Variant(
            ComposedLayout(std::get<Swizzle>(swizzle.variant()), middle.as_integer(), inner.as_layout()));
    }

    LayoutValue term() {
        LayoutValue value = primary();
        while (text_.peek() == '(') {
            const std::size_t at = here();
            LayoutValue::Tuple coordinate = arguments();
            value = with_rule(at, [&] {
                return apply_layout(value, coordinate.size() == 1 ? coordinate[0] : LayoutValue::tuple_of(coordinate));
            });
        }
        return value;
    }

    LayoutValue primary() {
        const std::size_t at = here();
        const std::string_view word = text_.take_word();
        if (!word.empty()) return named(word, at);
        if (text_.peek() != '(') return with_strides(LayoutValue::Variant(text_.take_int_tuple()), at);
        LayoutValue::Tuple parts = arguments();
        return with_strides(LayoutValue::tuple_of(std::move(parts)), at);
    }

    LayoutValue with_strides(LayoutValue shape, std::size_t at) {
        if (!text_.take(':')) return shape;
        const IntTuple strides = text_.take_int_tuple();
        return with_rule(at, [&] { return LayoutValue(Layout(shape.as_int_tuple(), strides)); });
    }

    LayoutValue named(std::string_view name, std::size_t at) {
        std::vector<std::int64_t> parameters;
        if (text_.take('<')) {
            do {
                parameters.push_back(text_.take_integer());
            } while (text_.take(','));
            text_.expect('>');
        }
        if (name == "Swizzle" || name == "Sw") return with_rule(at, [&] { return swizzle(parameters); });
        return call(name, parameters, at);
    }

    static LayoutValue swizzle(const std::vector<std::int64_t>& parameters) {
        constexpr std::int64_t kLargest = 64;
        if (parameters.size() != 3) throw LayoutError("a swizzle has three parameters: Swizzle<bits,base,shift>");
        if (std::any_of(parameters.begin(), parameters.end(), [](auto p) { return p > kLargest || p < -kLargest; }))
            throw LayoutError(fmt::format("a parameter of the swizzle exceeds {}", kLargest));
        return LayoutValue::Variant(
            Swizzle(static_cast<int>(parameters[0]), static_cast<int>(parameters[1]), static_cast<int>(parameters[2])));
    }

    LayoutValue call(std::string_view name, const std::vector<std::int64_t>& parameters, std::size_t at) {
        const LayoutFunction* function = find_layout_function(name);
        if (function == nullptr) text_.fail_at(at, fmt::format("unknown function '{}'{}", name, hint(name)));
        if (parameters.size() != static_cast<std::size_t>(function->parameters))
            text_.fail_at(at, fmt::format("{} takes {} integers between < and >, not {}", name, function->parameters,
                                          parameters.size()));
        if (text_.peek() != '(') text_.fail(fmt::format("expected '(' behind {}", name));
        const LayoutValue::Tuple given = arguments();
        if (given.size() < function->fewest || given.size() > function->most)
            text_.fail_at(at, fmt::format("{} takes ({}), not {} arguments", name, function->arguments, given.size()));
        return with_rule(at, [&] { return function->apply(parameters, given); });
    }

    static std::string hint(std::string_view name) {
        std::vector<std::string_view> known{"Swizzle"};
        for (const LayoutFunction& function : layout_functions()) known.push_back(function.name);
        return nearest_hint(name, known);
    }

    LayoutValue::Tuple arguments() {
        LayoutValue::Tuple values;
        text_.expect('(');
        do {
            values.push_back(expression());
        } while (text_.take(','));
        text_.expect(')');
        return values;
    }

    bool take_composition() {
        const std::size_t before = text_.position();
        if (text_.take_word() == "o") return true;
        text_.rewind(before);
        return false;
    }

    /// Where the next token starts.
    std::size_t here() {
        static_cast<void>(text_.peek());
        return text_.position();
    }

    /// An operation whose broken rule is reported with the column of the operator or function; inner ones keep theirs.
    template <typename Operation>
    LayoutValue with_rule(std::size_t at, Operation&& operation) {
        try {
            return operation();
        } catch (const LayoutError& error) {
            if (std::string_view(error.what()).starts_with("column ")) throw;
            text_.fail_at(at, error.what());
        }
    }

    LayoutText text_;
    int nesting_ = 0;
};

}  // namespace

LayoutValue evaluate_layout_expression(std::string_view expression) { return Calculator(expression).run(); }

}  // namespace jitgemm
