#pragma once

#include "generator/epilogue/graph.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "python/src/arguments.hpp"
#include "python/src/operand.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::python {

/// An epilogue's text, the operands that it names, in the order of their first use, and its outputs.
struct Formula {
    std::string text;
    std::vector<EpilogueOperand> operands;  ///< types are those of the text, or their defaults
    std::vector<std::string> titles;        ///< theirs in messages: "bias", or "operands['out']"
    bool has_pairs = false;                 ///< a column of the result is made of two of the product
    std::vector<EpilogueOutput> outputs;    ///< in the text's order, with d
};

/// The process has one for each text. Throws SpecError for a text that breaks a rule.
[[nodiscard]] const Formula& formula_of(std::string_view text);

/// An operand or an output of a formula as a call gives it.
struct EpilogueArray {
    Ref held;                    ///< what the call gives: a dict may change meanwhile
    bool is_made = false;        ///< an output that the call doesn't give
    Operand array;               ///< not given of a scalar of the launch
    std::optional<float> value;  ///< of a scalar of the launch; alpha and beta need none
};

/// The arrays that a call passes for a formula.
struct EpilogueArrays {
    const Formula* formula = nullptr;
    std::vector<EpilogueArray> operands;  ///< one for each of the formula's
    /// One for each output of the formula. The one of d stays empty. Those that the call doesn't give are made with the
    /// result.
    std::vector<EpilogueArray> outputs;

    /// The operand of a name that the formula has; else null.
    [[nodiscard]] const EpilogueArray* find(std::string_view name) const;
};

/// Reads keywords and the dict `named` (null and None: nothing). Throws OperandError with all names that are missing,
/// superfluous or given twice.
[[nodiscard]] std::unique_ptr<EpilogueArrays> read_epilogue_arrays(const Formula& formula, const Keywords& keywords,
                                                                   PyObject* named, PyObject* stream,
                                                                   const Operand& first);

/// Adds addresses and values for a launch, but alpha and beta, which it takes elsewhere.
void add_operands(const EpilogueArrays& arrays, OperandArguments& arguments);

}  // namespace jitgemm::python
