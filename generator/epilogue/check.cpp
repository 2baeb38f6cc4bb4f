#include "generator/epilogue/check.hpp"

#include "generator/epilogue/block_scales.hpp"
#include "generator/epilogue/check_outputs.hpp"
#include "generator/epilogue/check_values.hpp"
#include "generator/epilogue/names.hpp"
#include "generator/epilogue/symbols.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr std::size_t kMostOperands = 16;  // a launch keeps that many in place, outputs beside d included

/// Takes the statements of a text one after the other.
class StatementChecker {
public:
    StatementChecker(const EpilogueTypes& types, EpilogueProblems& problems)
        : symbols_(types, problems), values_(symbols_), was_readable_(problems.empty()) {}

    std::optional<EpilogueParts> check(const std::vector<Statement>& statements) {
        for (const Statement& statement : statements) {
            if (statement.is_broken) symbols_.broken.insert(statement.name);
        }
        for (const Statement& statement : statements) {
            if (!statement.is_broken && statement.type) declare(statement);
        }
        for (const Statement& statement : statements) {
            if (!statement.is_broken && statement.value) assign(statement);
        }
        check_uses();
        check_pairs(symbols_);
        return symbols_.problems.empty() ? finished() : std::nullopt;
    }

private:
    void refuse(TextPosition at, std::string message) { symbols_.problems.add(at, std::move(message)); }

    /// Uses of the name are no further problems.
    void refuse_name(const Statement& statement, const std::string& wrong) {
        refuse(statement.at, wrong);
        symbols_.broken.insert(statement.name);
    }

    void declare(const Statement& statement) {
        const bool is_scalar = !statement.index;
        const std::string wrong =
            is_scalar && is_launch_scalar(statement.name) ? std::string() : wrong_name(statement.name);
        if (!wrong.empty()) return refuse_name(statement, wrong);
        if (symbols_.declared.contains(statement.name))
            return refuse(statement.at, fmt::format("{} is declared twice", statement.name));
        if (is_scalar && statement.type != DataType::f32)
            refuse(statement.at,
                   fmt::format("{0} is {1}, but a scalar of the launch is f32: declare '{0}: f32', or with "
                               "an index: '{0}: {1}[0]'",
                               statement.name, to_string(*statement.type)));
        symbols_.declared[statement.name] = {statement.at, *statement.type, statement.index};
    }

    void assign(const Statement& statement) {
        if (const std::string wrong = wrong_name(statement.name); !wrong.empty()) return refuse_name(statement, wrong);
        symbols_.assigned = statement.name;
        if (symbols_.find_output(statement.name) >= 0 || symbols_.locals.contains(statement.name))
            return assign_again(statement);
        if (statement.index || statement.name == "d") {
            check_output(statement, symbols_, values_);
        } else {
            assign_local(statement);
        }
        check_not_read(statement);
    }
    void assign_again(const Statement& statement) {
        refuse(statement.at,
               fmt::format("{0} is assigned twice. Name the first value, and assign {0} from it", statement.name));
    }
    void assign_local(const Statement& statement) {
        const auto declared = symbols_.declared.find(statement.name);
        if (declared != symbols_.declared.end()) {
            declared->second.is_used = true;
            refuse(statement.at,
                   fmt::format("{0} is declared and assigned as a local value. An output has an index, as "
                               "{0}[m,n]; a local value has no declaration",
                               statement.name));
        }
        symbols_.locals[statement.name] = {statement.at, values_.check(*statement.value)};
    }
    void check_not_read(const Statement& statement) {
        if (symbols_.find_operand(statement.name) < 0) return;
        refuse(statement.at,
               fmt::format("{} is read and assigned. Give the two different names, and one pointer at the "
                           "launch",
                           statement.name));
    }

    /// Refuses names that no statement uses. A statement that could not be read may have used them.
    void check_uses() {
        if (!was_readable_) return;
        if (symbols_.outputs.empty() && symbols_.problems.empty())
            return refuse({}, "nothing is stored. Assign d, or a name with an index, as aux[m,n]");
        for (const auto& [name, local] : symbols_.locals)
            if (!local.is_used) refuse(local.at, fmt::format("{} is assigned and never used", name));
        for (const auto& [name, declared] : symbols_.declared)
            if (!declared.is_used) refuse(declared.at, fmt::format("{} is declared and never used", name));
    }

    std::optional<EpilogueParts> finished() {
        EpilogueParts all{.nodes = symbols_.graph.nodes(),
                          .operands = symbols_.operands,
                          .outputs = symbols_.outputs,
                          .acc_guards = {},
                          .pairs = symbols_.pairs};
        EpilogueParts parts =
            with_scaled_products(in_order_of_use(all), symbols_.outputs_at.front(), symbols_.problems);
        check_finished(parts);
        if (!symbols_.problems.empty()) return std::nullopt;
        find_guards(parts);
        return parts;
    }
    void check_finished(const EpilogueParts& parts) {
        const auto is_acc = [](const EpilogueNode& node) { return node.operation == EpilogueOperation::acc; };
        const TextPosition first = symbols_.outputs_at.front();
        if (std::ranges::none_of(parts.nodes, is_acc)) refuse(first, "acc is never used: no output needs the product");
        const auto beside_d = static_cast<std::size_t>(std::ranges::count_if(parts.outputs, is_beside_d));
        if (parts.operands.size() + beside_d > kMostOperands)
            refuse(first, fmt::format("the text has {} operands and {} outputs beside d, but a launch has at most {} "
                                      "of both",
                                      parts.operands.size(), beside_d, kMostOperands));
        if (parts.pairs != EpiloguePairs::none) check_column_names(parts, first);
    }
    /// A kernel calls the two columns of bias bias_0 and bias_1.
    void check_column_names(const EpilogueParts& parts, TextPosition first) {
        const auto is_named = [&](const std::string& name) {
            return std::ranges::any_of(parts.operands, [&](const auto& other) { return other.name == name; });
        };
        std::vector<std::string> names{"acc"};
        for (const EpilogueOperand& operand : parts.operands)
            if (differs_in_pair(parts, operand)) names.push_back(operand.name);
        for (const std::string& name : names)
            for (const char* const column : {"_0", "_1"})
                if (is_named(name + column))
                    refuse(first, fmt::format("{0}{1} is a column of {0}'s pairs: give that operand another name", name,
                                              column));
    }

    EpilogueSymbols symbols_;
    ValueChecker values_;
    bool was_readable_;  ///< all statements
};

}  // namespace

std::optional<EpilogueParts> check_epilogue(const std::vector<Statement>& statements, const EpilogueTypes& types,
                                            EpilogueProblems& problems) {
    return StatementChecker(types, problems).check(statements);
}

}  // namespace jitgemm
