#pragma once

#include "generator/epilogue/epilogue.hpp"
#include "runtime/verify/epilogue_value.hpp"
#include "tests/support/random_epilogue.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace jitgemm::testing {

/// Random values for all operands of a text, and what the evaluator says of every output: a case of epilogue_judge.py.
class EpilogueCase {
public:
    EpilogueCase(const std::string& text, std::uint64_t seed);

    [[nodiscard]] nlohmann::json as_json() const;

private:
    using Cells = std::map<std::pair<int, int>, Interval>;  ///< by the row and column of an output's index

    [[nodiscard]] EpilogueElement element(int row, int column) const;
    [[nodiscard]] EpilogueElement::Columns columns_of(const EpilogueOperand& operand, int row, int column) const;
    /// The columns of the product that an element of D is made of.
    [[nodiscard]] std::pair<int, int> product_columns(int column) const;
    [[nodiscard]] Cells cells(std::size_t output, const std::vector<Cells>& reduced) const;
    [[nodiscard]] int columns() const;

    Epilogue epilogue_;
    std::string text_;
    nlohmann::json acc_, operands_, scalars_;
};

}  // namespace jitgemm::testing
