#include "generator/base/condition.hpp"

#include "generator/text/nearest_name.hpp"
#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <limits>
#include <optional>
#include <vector>

namespace jitgemm {
namespace {

constexpr std::string_view kPrefix = "GEMM_";
constexpr int kDeepestNesting = 256;  // of signs and parentheses

enum class Operation : std::uint8_t {
    logical_or,
    logical_and,
    equal,
    not_equal,
    less_equal,
    greater_equal,
    less,
    greater,
    add,
    subtract,
    multiply,
    divide,
    remainder
};

struct BinaryOperator {
    std::string_view text;
    Operation operation;
    int precedence;
};

/// Longer texts before their own beginnings: "<=" before "<".
constexpr std::array kBinaryOperators{
    BinaryOperator{"||", Operation::logical_or, 1}, BinaryOperator{"&&", Operation::logical_and, 2},
    BinaryOperator{"==", Operation::equal, 3},      BinaryOperator{"!=", Operation::not_equal, 3},
    BinaryOperator{"<=", Operation::less_equal, 4}, BinaryOperator{">=", Operation::greater_equal, 4},
    BinaryOperator{"<", Operation::less, 4},        BinaryOperator{">", Operation::greater, 4},
    BinaryOperator{"+", Operation::add, 5},         BinaryOperator{"-", Operation::subtract, 5},
    BinaryOperator{"*", Operation::multiply, 6},    BinaryOperator{"/", Operation::divide, 6},
    BinaryOperator{"%", Operation::remainder, 6},
};

bool is_identifier_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Precedence climbing. A value that short-circuiting makes irrelevant is still parsed and its names are still checked.
class ConditionParser {
public:
    ConditionParser(std::string_view text, const MacroValues& macros) : text_(text), rest_(text), macros_(macros) {}

    std::int64_t parse() {
        const std::int64_t value = parse_binary(1, true);
        skip_spaces();
        if (!rest_.empty()) fail(fmt::format("'{}' was not expected", rest_));
        return value;
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw Error(fmt::format("{} in condition '{}'", what, text_));
    }

    void skip_spaces() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
    }

    bool accept(std::string_view token) {
        skip_spaces();
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }

    void expect(std::string_view token) {
        if (!accept(token)) fail(fmt::format("'{}' is missing", token));
    }

    std::optional<BinaryOperator> accept_operator(int lowest_precedence) {
        skip_spaces();
        for (const BinaryOperator& candidate : kBinaryOperators) {
            if (!rest_.starts_with(candidate.text)) continue;
            if (candidate.precedence < lowest_precedence) return std::nullopt;
            rest_.remove_prefix(candidate.text.size());
            return candidate;
        }
        return std::nullopt;
    }

    std::int64_t parse_binary(int lowest_precedence, bool needed) {
        std::int64_t left = parse_unary(needed);
        while (const auto binary = accept_operator(lowest_precedence)) {
            const std::int64_t right = parse_binary(binary->precedence + 1, needed && decides(binary->operation, left));
            left = apply(binary->operation, left, right, needed);
        }
        return left;
    }

    static bool decides(Operation operation, std::int64_t left) {
        if (operation == Operation::logical_or) return left == 0;
        return operation != Operation::logical_and || left != 0;
    }

    std::int64_t apply(Operation operation, std::int64_t left, std::int64_t right, bool needed) const {
        std::int64_t result = 0;
        bool overflow = false;
        switch (operation) {
            case Operation::logical_or: return left != 0 || right != 0 ? 1 : 0;
            case Operation::logical_and: return left != 0 && right != 0 ? 1 : 0;
            case Operation::equal: return left == right ? 1 : 0;
            case Operation::not_equal: return left != right ? 1 : 0;
            case Operation::less_equal: return left <= right ? 1 : 0;
            case Operation::greater_equal: return left >= right ? 1 : 0;
            case Operation::less: return left < right ? 1 : 0;
            case Operation::greater: return left > right ? 1 : 0;
            case Operation::add: overflow = __builtin_add_overflow(left, right, &result); break;
            case Operation::subtract: overflow = __builtin_sub_overflow(left, right, &result); break;
            case Operation::multiply: overflow = __builtin_mul_overflow(left, right, &result); break;
            case Operation::divide: return right != 0 ? left / right : by_zero(needed);
            case Operation::remainder: return right != 0 ? left % right : by_zero(needed);
        }
        return whole(overflow, result);
    }

    /// The least of all counts as an overflow too: it has no negative, and no quotient by -1.
    std::int64_t whole(bool overflow, std::int64_t value) const {
        if (overflow || value == std::numeric_limits<std::int64_t>::min()) fail("a value exceeds 63 bits");
        return value;
    }

    std::int64_t by_zero(bool needed) const {
        if (needed) fail("division by zero");
        return 0;
    }

    std::int64_t parse_unary(bool needed) {
        if (++nesting_ > kDeepestNesting) fail(fmt::format("conditions nest deeper than {}", kDeepestNesting));
        const std::int64_t value = parse_nested(needed);
        --nesting_;
        return value;
    }

    std::int64_t parse_nested(bool needed) {
        if (accept("!")) return parse_unary(needed) == 0 ? 1 : 0;
        if (accept("-")) return -parse_unary(needed);
        if (accept("+")) return parse_unary(needed);
        if (accept("(")) {
            const std::int64_t value = parse_binary(1, needed);
            expect(")");
            return value;
        }
        return parse_word();
    }

    std::int64_t parse_word() {
        const std::string_view word = take_word();
        if (word.empty())
            fail(rest_.empty() ? "a value is missing at the end" : fmt::format("'{}' was not expected", rest_));
        if (std::isdigit(static_cast<unsigned char>(word.front())) != 0) return number(word);
        return word == "defined" ? parse_defined() : macro(word);
    }

    std::string_view take_word() {
        skip_spaces();
        std::size_t length = 0;
        while (length < rest_.size() && is_identifier_character(rest_[length])) ++length;
        const std::string_view word = rest_.substr(0, length);
        rest_.remove_prefix(length);
        return word;
    }

    std::int64_t number(std::string_view word) const {
        const std::optional<int> value = parse_number<int>(word);
        const bool octal = word.size() > 1 && word.front() == '0';
        if (!value || octal) fail(fmt::format("'{}' is not a decimal integer", word));
        return *value;
    }

    /// An unknown macro is an error and not false, so a known one is all there is to find.
    std::int64_t parse_defined() {
        const bool parenthesis = accept("(");
        (void)macro(take_word());
        if (parenthesis) expect(")");
        return 1;
    }

    std::int64_t macro(std::string_view name) const {
        if (!name.starts_with(kPrefix))
            fail(fmt::format("'{}' stands in a condition with GEMM_ macros, but it has no value", name));
        const auto found = macros_.find(name);
        if (found == macros_.end()) fail(fmt::format("unknown macro '{}'{}", name, hint(name)));
        return found->second;
    }

    std::string hint(std::string_view name) const {
        std::vector<std::string_view> known;
        for (const auto& [macro_name, value] : macros_) known.push_back(macro_name);
        return nearest_hint(name, known);
    }

    std::string_view text_;
    std::string_view rest_;
    const MacroValues& macros_;
    int nesting_ = 0;
};

}  // namespace

bool names_gemm_macro(std::string_view text) { return text.find(kPrefix) != std::string_view::npos; }

std::int64_t evaluate_condition(std::string_view text, const MacroValues& macros) {
    return ConditionParser(text, macros).parse();
}

}  // namespace jitgemm
