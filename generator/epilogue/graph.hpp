#pragma once

#include "generator/epilogue/index.hpp"
#include "jitgemm/data_type.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitgemm {

/// \file What a text means: values that depend on values, without the names of local values.

enum class EpilogueOperation : std::uint8_t {
    number,
    acc,
    operand,
    reduced,  ///< a reduction over a block, read back
    negate,
    add,
    subtract,
    multiply,
    divide,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    function,
    cast
};

/// A value of one element of D. Its arguments stand before it in the list of nodes.
struct EpilogueNode {
    EpilogueOperation operation = EpilogueOperation::number;
    std::int16_t which = 0;  ///< operand; output that is read back; row of the functions; DataType
    std::int8_t half = 0;    ///< of acc and operands, where they differ in the columns of a pair: 1 first, 2 second
    float number = 0;
    std::array<std::int32_t, 3> arguments{-1, -1, -1};  ///< nodes; -1: none
};

/// Comparisons are no values: they stand in select() alone.
[[nodiscard]] constexpr bool is_comparison(EpilogueOperation operation) {
    return operation >= EpilogueOperation::less && operation <= EpilogueOperation::not_equal;
}
/// Without arguments.
[[nodiscard]] constexpr bool is_leaf(EpilogueOperation operation) { return operation <= EpilogueOperation::reduced; }
/// "+" of add, "<=" of less_equal; "" of an operation that is none between two values.
[[nodiscard]] std::string_view symbol_of(EpilogueOperation operation);
/// The reverse; `number` where there is none.
[[nodiscard]] EpilogueOperation operation_of(std::string_view symbol);

/// The arguments that a node has.
[[nodiscard]] std::span<const std::int32_t> arguments_of(const EpilogueNode& node);

/// Nodes; equal ones are one.
class EpilogueGraph {
public:
    /// The place of that node, which is added if it is new.
    std::int32_t add(const EpilogueNode& node);
    [[nodiscard]] const std::vector<EpilogueNode>& nodes() const { return nodes_; }
    [[nodiscard]] const EpilogueNode& operator[](std::int32_t place) const {
        return nodes_[static_cast<std::size_t>(place)];
    }

private:
    std::vector<EpilogueNode> nodes_;
    std::map<std::array<std::int64_t, 5>, std::int32_t> places_;
};

struct EpilogueOperand {
    std::string name;
    DataType type = DataType::f32;
    bool is_scalar = false;  ///< of the launch: a value, and no address
    EpilogueIndex index = {};
    /// Scalars of the launch, as places in the list of operands. Where one of them is 0, this operand is not read.
    std::vector<int> guards = {};

    /// A factor of products, which the mainloop takes: no value of an element of D.
    [[nodiscard]] bool is_block_scale() const { return index.has_k(); }
};

enum class ReductionKind : std::uint8_t { sum, max, min };
/// "max(abs(t)) / 448": what is made of an output's values, and what the result is multiplied with or divided by.
struct EpilogueReduction {
    ReductionKind kind = ReductionKind::sum;
    char scaled_by = ' ';  ///< '*', '/', or ' ' for nothing
    float number = 1;
    bool is_read_back = false;  ///< then it is a scale: where a max is 0, it is 1
};
[[nodiscard]] std::string_view to_string(ReductionKind kind);

struct EpilogueOutput {
    std::string name;
    std::optional<DataType> type = DataType::f32;  ///< unset: d has the type of the problem's D
    EpilogueIndex index = {};
    std::int32_t value = -1;  ///< a node
    std::optional<EpilogueReduction> reduction = std::nullopt;
};
[[nodiscard]] inline bool is_beside_d(const EpilogueOutput& output) { return output.name != "d"; }

/// Which two columns of the product make one of D. halves: h and h + n/2. neighbours: 2h and 2h + 1.
enum class EpiloguePairs : std::uint8_t { none, halves, neighbours };

/// A text's meaning. Operands stand in the order of their first use, nodes in the order of evaluation. No node names a
/// block scale: `acc` is the sum of products that are scaled.
struct EpilogueParts {
    std::vector<EpilogueNode> nodes;
    std::vector<EpilogueOperand> operands;
    std::vector<EpilogueOutput> outputs;
    std::vector<int> acc_guards;  ///< as EpilogueOperand::guards
    EpiloguePairs pairs = EpiloguePairs::none;
    bool is_transposed = false;  ///< pairs are of rows
};

/// The same with what no output needs left out, in the order of the first use from the outputs on.
[[nodiscard]] EpilogueParts in_order_of_use(const EpilogueParts& parts);

[[nodiscard]] bool has_block_scales(const EpilogueParts& parts);
/// Outputs with an element for each block of D, in the text's order.
[[nodiscard]] std::vector<const EpilogueOutput*> outputs_for_blocks(const EpilogueParts& parts);
/// Whether an output is read back, and each value that reads it is divided by it.
[[nodiscard]] bool is_divisor(const EpilogueParts& parts, const EpilogueOutput& output);

/// Sets the guards of all operands and of acc.
void find_guards(EpilogueParts& parts);

/// Whether an operand has two elements for the pair of an element of D.
[[nodiscard]] bool differs_in_pair(const EpilogueParts& parts, const EpilogueOperand& operand);

/// Nodes that have a name in a text or a kernel, since they are used more than once: values, no leaves.
[[nodiscard]] std::vector<std::int32_t> named_nodes(const EpilogueParts& parts);

}  // namespace jitgemm
