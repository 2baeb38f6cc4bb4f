#pragma once

#include "generator/epilogue/symbols.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// Makes nodes of values as they are written. A rule that a value breaks is noted once, at its innermost place.
class ValueChecker {
public:
    explicit ValueChecker(EpilogueSymbols& symbols) : symbols_(symbols) {}

    [[nodiscard]] CheckedValue check(const Expression& written);

    /// Whether the value of a node needs a reduction that is read back.
    [[nodiscard]] bool reads_back(std::int32_t node) const { return reads_back_[static_cast<std::size_t>(node)]; }

private:
    CheckedValue refuse(TextPosition at, std::string message);
    CheckedValue add(TextPosition at, EpilogueNode node, const std::vector<CheckedValue>& arguments);

    CheckedValue name(const Expression& written);
    CheckedValue unknown_name(const Expression& written);
    CheckedValue indexed(const Expression& written);
    CheckedValue read_output(const Expression& written, int place);
    CheckedValue read_operand(const Expression& written);
    CheckedValue operand(TextPosition at, int place);
    CheckedValue scalar(const Expression& written);

    CheckedValue negation(const Expression& written);
    CheckedValue between(const Expression& written);
    CheckedValue call(const Expression& written);
    CheckedValue cast(const Expression& written, DataType type);
    CheckedValue fast(const Expression& written);
    CheckedValue function(const Expression& written, int row);
    CheckedValue half(const Expression& written);
    std::int32_t half_of(std::int32_t node, std::int8_t which);
    CheckedValue first_argument(const Expression& written, bool is_condition);
    /// The arguments of a call or operation; their indices must agree.
    std::vector<CheckedValue> arguments(const Expression& written, bool first_is_condition = false);
    bool agree(const Expression& written, const std::vector<CheckedValue>& values);

    EpilogueSymbols& symbols_;
    std::vector<int> depth_;        // of each node
    std::vector<bool> reads_back_;  // of each node
    std::map<std::pair<std::int32_t, int>, std::int32_t> halves_;
};

}  // namespace jitgemm
