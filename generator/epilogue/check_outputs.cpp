#include "generator/epilogue/check_outputs.hpp"

#include "generator/epilogue/names.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

bool is_bare_reduction(const Expression& written) {
    return written.kind == ExpressionKind::call && is_reduction_name(written.word) && written.arguments.size() == 1;
}

ReductionKind reduction_of(std::string_view word) {
    return word == "sum" ? ReductionKind::sum : word == "max" ? ReductionKind::max : ReductionKind::min;
}

/// Checks one assignment to an output.
class OutputChecker {
public:
    OutputChecker(const Statement& statement, EpilogueSymbols& symbols, ValueChecker& values)
        : statement_(statement), symbols_(symbols), values_(values) {}

    void check() {
        const Expression& written = *statement_.value;
        output_.name = std::string(statement_.name);
        if (statement_.index) output_.index = *statement_.index;
        if (output_.name == "d") output_.index.of_problem = false;  // each problem of a batch has its D
        if (output_.index.has_k()) {
            refuse(fmt::format("{} has an element for a block of K: no output has one", name()));
        } else if (is_reduction(written)) {
            check_reduction(written);
        } else {
            check_elements(written);
        }
        symbols_.outputs.push_back(output_);
        symbols_.outputs_at.push_back(statement_.at);
    }

private:
    void refuse(std::string message) { symbols_.problems.add(statement_.at, std::move(message)); }
    [[nodiscard]] std::string name() const { return with_index(output_.name, output_.index); }

    void check_elements(const Expression& written) {
        const CheckedValue value = values_.check(written);
        output_.value = value.node;
        if (!statement_.index)
            output_.index = {.row = EpiloguePlace{'m'}, .column = EpiloguePlace{value.columns == 'h' ? 'h' : 'n'}};
        output_.type = symbols_.type_of(statement_.name, symbols_.types.d);
        check_declaration();
        if (!output_.index.is_matrix())
            return refuse(
                fmt::format("{} has one element for many of D: give it a reduction, as sum(x), or the index "
                            "[m,n]",
                            name()));
        if (!value.is_broken()) check_columns(written, value);
    }
    void check_columns(const Expression& written, const CheckedValue& value) {
        if (value.columns == ' ' || !output_.index.column || value.columns == output_.index.column->size) return;
        const bool in_pairs = value.columns == 'h';
        refuse(fmt::format("{} has {}, {} has {}", written.source, in_pairs ? "pairs of columns (h)" : "columns (n)",
                           name(), in_pairs ? "columns (n)" : "pairs of columns (h)"));
    }
    void check_declaration() {
        const auto declared = symbols_.declared.find(statement_.name);
        if (output_.name == "d" && output_.type != symbols_.types.d)
            refuse(
                fmt::format("d is declared as {}, but D is {}", to_string(*output_.type), to_string(symbols_.types.d)));
        if (output_.name == "d") output_.type.reset();
        if (declared == symbols_.declared.end() || declared->second.index == output_.index) return;
        const std::string as =
            declared->second.index ? fmt::format("as [{}]", to_string(*declared->second.index)) : "without an index";
        refuse(fmt::format("{} is declared {} and assigned as [{}]", output_.name, as, to_string(output_.index)));
    }

    void check_reduction(const Expression& written) {
        const Expression& call = is_bare_reduction(written) ? written : written.arguments[0];
        EpilogueReduction& reduction = output_.reduction.emplace();
        reduction.kind = reduction_of(call.word);
        if (&call != &written) {
            reduction.scaled_by = written.word[0];
            reduction.number = written.arguments[1].number;
        }
        const CheckedValue value = values_.check(call.arguments[0]);
        output_.value = value.node;
        output_.type = symbols_.type_of(statement_.name, DataType::f32);
        check_target(call.word);
        if (!value.is_broken()) check_goes_over(call, value);
    }
    void check_target(std::string_view function) {
        check_reduction_type();
        if (output_.name == "d")
            return refuse(
                fmt::format("{0} of one value is a reduction, and d is a matrix: assign it to another name, as "
                            "r[m] = {0}(x){1}",
                            function, hint_at_two_values(function)));
        check_declaration();
    }
    void check_reduction_type() {
        if (output_.type == DataType::f32) return;
        refuse(fmt::format("{} is {}, but a reduction is f32", output_.name, to_string(*output_.type)));
    }
    /// The indices that the left side lacks, or has over blocks, are those that the value must have.
    void check_goes_over(const Expression& call, const CheckedValue& value) {
        const std::string_view source = call.arguments[0].source;
        const auto goes_over = [](const std::optional<EpiloguePlace>& place) { return !place || place->over > 1; };
        const bool over_rows = goes_over(output_.index.row);
        const bool over_columns = goes_over(output_.index.column);
        if (!over_rows && !over_columns)
            return refuse(
                fmt::format("{0} has nothing to go over: {1} lacks neither row nor column", call.word, name()));
        if (over_rows && !value.has_rows)
            refuse(fmt::format("{} has nothing to go over: {} has no m", call.word, source));
        if (over_columns && value.columns == ' ')
            refuse(fmt::format("{} has nothing to go over: {} has no n", call.word, source));
        if (values_.reads_back(value.node))
            refuse(fmt::format("{} needs a reduction that is read back: another reduction can't go over it", source));
        check_columns(call.arguments[0], value);
    }

    const Statement& statement_;
    EpilogueSymbols& symbols_;
    ValueChecker& values_;
    EpilogueOutput output_;
};

bool has_pairs(const EpilogueIndex& index) { return index.column && index.column->size == 'h'; }

std::string_view first_column_of_pair(EpiloguePairs pairs) {
    return pairs == EpiloguePairs::halves ? "left(x) or right(x)" : "even(x) or odd(x)";
}

}  // namespace

bool is_reduction(const Expression& written) {
    if (is_bare_reduction(written)) return true;
    const bool is_scaled = written.kind == ExpressionKind::binary && (written.word == "*" || written.word == "/");
    return is_scaled && is_bare_reduction(written.arguments[0]) && written.arguments[1].kind == ExpressionKind::number;
}

void check_output(const Statement& statement, EpilogueSymbols& symbols, ValueChecker& values) {
    OutputChecker(statement, symbols, values).check();
}

void check_pairs(const EpilogueSymbols& symbols) {
    constexpr std::string_view kNoPairs =
        "h is the column of a pair, but the text has no left, right, even or odd to make pairs";
    for (std::size_t i = 0; i < symbols.outputs.size(); ++i) {
        const EpilogueOutput& output = symbols.outputs[i];
        if (output.value < 0) continue;  // it broke a rule already
        const bool has_columns = output.index.column && output.index.column->size == 'n';
        if (symbols.pairs == EpiloguePairs::none && has_pairs(output.index))
            symbols.problems.add(symbols.outputs_at[i], fmt::format("{}: {}", output.name, kNoPairs));
        if (symbols.pairs != EpiloguePairs::none && has_columns)
            symbols.problems.add(
                symbols.outputs_at[i],
                fmt::format("{}[{}] has columns (n), but {} makes pairs (h): assign {}", output.name,
                            to_string(output.index), symbols.paired_by, first_column_of_pair(symbols.pairs)));
    }
}

}  // namespace jitgemm
