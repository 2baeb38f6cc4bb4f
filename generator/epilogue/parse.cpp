#include "generator/epilogue/parse.hpp"

#include "generator/epilogue/functions.hpp"
#include "generator/epilogue/parse_index.hpp"
#include "generator/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <limits>
#include <system_error>

namespace jitgemm {
namespace {

constexpr std::size_t kLongestText = 1 << 14;
constexpr int kDeepest = 256;  // of parentheses and calls
constexpr std::array<std::string_view, 6> kComparisons{"<", "<=", ">", ">=", "==", "!="};

/// A decimal number, which may be beyond a double: then it is infinite, or 0.
std::optional<double> read_any_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc()) return value;
    if (error != std::errc::result_out_of_range) return std::nullopt;
    const std::size_t exponent = text.find_first_of("eE");
    const bool is_tiny = exponent == text.npos ? text.front() == '0' || text.front() == '.' : text[exponent + 1] == '-';
    return is_tiny ? 0 : std::numeric_limits<double>::infinity();
}

/// Thrown from within a statement, once its problem is noted; the next statement is read then.
struct BrokenStatement {};

class EpilogueParser {
public:
    EpilogueParser(std::string_view text, EpilogueProblems& problems)
        : problems_(problems), tokens_(scan_epilogue(text, problems)) {}

    std::vector<Statement> parse() {
        while (next().kind != TokenKind::end) {
            if (!accept_end()) read_statement();
        }
        return std::move(statements_);
    }

private:
    [[nodiscard]] const Token& next(std::size_t ahead = 0) const {
        return tokens_[std::min(place_ + ahead, tokens_.size() - 1)];
    }
    const Token& take() { return tokens_[place_++]; }
    [[nodiscard]] bool is_next(std::string_view symbol) const {
        return next().kind == TokenKind::symbol && next().text == symbol;
    }
    bool accept(std::string_view symbol) {
        if (!is_next(symbol)) return false;
        ++place_;
        return true;
    }
    [[nodiscard]] bool at_end() const {
        return next().kind == TokenKind::end_of_statement || next().kind == TokenKind::end;
    }
    bool accept_end() {
        if (next().kind != TokenKind::end_of_statement) return false;
        ++place_;
        return true;
    }

    [[noreturn]] void fail(TextPosition at, std::string message) {
        problems_.add(at, std::move(message));
        throw BrokenStatement{};
    }
    [[noreturn]] void fail_expecting(std::string_view wanted) {
        if (at_end()) fail(next().at, fmt::format("{} is missing before the end of the statement", wanted));
        fail(next().at, fmt::format("{} is missing before '{}'", wanted, next().text));
    }
    void expect(std::string_view symbol) {
        if (!accept(symbol)) fail_expecting(fmt::format("'{}'", symbol));
    }

    void read_statement() {
        depth_ = 0;
        Statement& statement = statements_.emplace_back();
        try {
            read_name(statement);
            statement.is_broken = true;
            if (accept(":")) {
                read_declaration(statement);
            } else {
                read_assignment(statement);
            }
            if (!at_end()) fail(next().at, fmt::format("'{}' was not expected here", next().text));
            statement.is_broken = false;
        } catch (const BrokenStatement&) {
            if (statement.name.empty()) statements_.pop_back();
            while (!at_end()) ++place_;
        }
    }
    void read_name(Statement& statement) {
        if (next().kind != TokenKind::name) fail_expecting("the name of a declaration or an assignment");
        statement.at = next().at;
        statement.name = take().text;
    }
    void read_declaration(Statement& statement) {
        const Token word = next();
        const EpilogueCast* const type = find_epilogue_cast(word.text);
        if (type == nullptr)
            fail(word.at,
                 fmt::format("'{}' is not a type: {}", word.text, expected_one_of(word.text, epilogue_type_names())));
        ++place_;
        statement.type = type->type;
        if (is_next("[")) statement.index = read_index(word);
    }
    void read_assignment(Statement& statement) {
        if (is_next("[")) statement.index = read_index(tokens_[place_ - 1]);
        if (!accept("=")) fail_expecting("'=' or ':'");
        statement.value = read_value();
    }

    /// `name` is the token before the bracket. An index that is wrong breaks the statement.
    EpilogueIndex read_index(const Token& name) {
        expect("[");
        const std::size_t first = place_;
        while (!at_end() && !is_next("]") && !is_next("[")) ++place_;
        const std::span<const Token> inside = std::span(tokens_).subspan(first, place_ - first);
        expect("]");
        const auto index = parse_index(inside, from(name), name.at, problems_);
        if (!index) throw BrokenStatement{};
        return *index;
    }
    /// The text from a token up to the last one that was taken.
    [[nodiscard]] std::string_view from(const Token& first) const {
        const std::string_view last = tokens_[place_ - 1].text;
        return {first.text.begin(), last.end()};
    }

    Expression operation(ExpressionKind kind, const Token& first, const Token& sign,
                         std::vector<Expression> arguments) {
        return {
            .kind = kind, .at = sign.at, .source = from(first), .word = sign.text, .arguments = std::move(arguments)};
    }
    /// Operands of one level of precedence, left to right.
    template <typename Read>
    Expression read_chain(std::string_view plus, std::string_view minus, Read read) {
        const Token first = next();
        Expression value = read();
        while (is_next(plus) || is_next(minus)) {
            const Token sign = take();
            Expression right = read();
            value = operation(ExpressionKind::binary, first, sign, {std::move(value), std::move(right)});
        }
        return value;
    }
    Expression read_value() {
        const Token first = next();
        Expression value = read_sum();
        if (!is_comparison()) return value;
        const Token sign = take();
        Expression right = read_sum();
        if (is_comparison()) fail(next().at, fmt::format("'{}' follows a comparison: compare two values", next().text));
        return operation(ExpressionKind::comparison, first, sign, {std::move(value), std::move(right)});
    }
    [[nodiscard]] bool is_comparison() const {
        return next().kind == TokenKind::symbol && std::ranges::find(kComparisons, next().text) != kComparisons.end();
    }
    Expression read_sum() {
        return read_chain("+", "-", [&] { return read_product(); });
    }
    Expression read_product() {
        return read_chain("*", "/", [&] { return read_unary(); });
    }
    Expression read_unary() {
        if (!is_next("-")) return read_primary();
        const Token sign = take();
        Expression value = read_primary();
        return operation(ExpressionKind::negation, sign, sign, {std::move(value)});
    }
    Expression read_primary() {
        if (++depth_ > kDeepest) fail(next().at, fmt::format("values are nested deeper than {}", kDeepest));
        Expression value = read_innermost();
        --depth_;
        return value;
    }
    Expression read_innermost() {
        const Token first = next();
        if (first.kind == TokenKind::number) return read_number();
        if (first.kind == TokenKind::name) return read_named();
        if (!accept("(")) fail_expecting("a value");
        Expression value = read_value();
        expect(")");
        return value;
    }
    Expression read_number() {
        const Token token = take();
        const std::optional<double> value = read_any_number(token.text);
        const bool pads = token.text.size() > 1 && token.text[0] == '0' &&
                          token.text.find_first_not_of("0123456789") == std::string_view::npos;
        if (!value || pads) fail(token.at, fmt::format("'{}' is not a number: write it as 3, 0.5 or 1e-3", token.text));
        const auto number = static_cast<float>(*value);
        if (!std::isfinite(number)) fail(token.at, fmt::format("{} is larger than any f32", token.text));
        return {.kind = ExpressionKind::number, .at = token.at, .source = token.text, .number = number};
    }
    Expression read_named() {
        const Token name = take();
        Expression value{.kind = ExpressionKind::name, .at = name.at, .word = name.text};
        if (is_next("(")) {
            value.kind = ExpressionKind::call;
            value.arguments = read_arguments();
        } else if (is_next("[")) {
            value.kind = ExpressionKind::indexed;
            value.index = read_index(name);
        }
        value.source = from(name);
        return value;
    }
    std::vector<Expression> read_arguments() {
        expect("(");
        std::vector<Expression> arguments;
        do arguments.push_back(read_value());
        while (accept(","));
        expect(")");
        return arguments;
    }

    EpilogueProblems& problems_;
    std::vector<Token> tokens_;
    std::size_t place_ = 0;
    int depth_ = 0;
    std::vector<Statement> statements_;
};

}  // namespace

std::vector<Statement> parse_epilogue(std::string_view text, EpilogueProblems& problems) {
    if (text.size() <= kLongestText) return EpilogueParser(text, problems).parse();
    problems.add({}, fmt::format("the text has {} bytes, but an epilogue has at most {}", text.size(), kLongestText));
    return {};
}

}  // namespace jitgemm
