#include "generator/epilogue/graph.hpp"

#include <algorithm>
#include <bit>

namespace jitgemm {
namespace {

struct OperationSymbol {
    EpilogueOperation operation;
    std::string_view symbol;
};
constexpr std::array kOperationSymbols{
    OperationSymbol{EpilogueOperation::add, "+"},      OperationSymbol{EpilogueOperation::subtract, "-"},
    OperationSymbol{EpilogueOperation::multiply, "*"}, OperationSymbol{EpilogueOperation::divide, "/"},
    OperationSymbol{EpilogueOperation::less, "<"},     OperationSymbol{EpilogueOperation::less_equal, "<="},
    OperationSymbol{EpilogueOperation::greater, ">"},  OperationSymbol{EpilogueOperation::greater_equal, ">="},
    OperationSymbol{EpilogueOperation::equal, "=="},   OperationSymbol{EpilogueOperation::not_equal, "!="},
};

/// Numbers by their bits: 0 and -0 are two.
std::array<std::int64_t, 5> key_of(const EpilogueNode& node) {
    const std::int64_t kind = static_cast<std::int64_t>(node.operation) << 32 | (node.which << 8 | node.half);
    return {kind, std::bit_cast<std::int32_t>(node.number), node.arguments[0], node.arguments[1], node.arguments[2]};
}

/// Copies what outputs need, each node behind its arguments.
class OrderOfUse {
public:
    explicit OrderOfUse(const EpilogueParts& from)
        : from_(from), node_(from.nodes.size(), -1), operand_(from.operands.size(), -1) {
        to_.pairs = from.pairs;
        to_.is_transposed = from.is_transposed;
    }
    EpilogueParts run() {
        for (const EpilogueOutput& output : from_.outputs) {
            to_.outputs.push_back(output);
            to_.outputs.back().value = copy(output.value);
        }
        return std::move(to_);
    }

private:
    std::int32_t copy(std::int32_t place) {
        std::int32_t& known = node_[static_cast<std::size_t>(place)];
        if (known >= 0) return known;
        EpilogueNode node = from_.nodes[static_cast<std::size_t>(place)];
        for (std::int32_t& argument : node.arguments)
            if (argument >= 0) argument = copy(argument);
        if (node.operation == EpilogueOperation::operand) node.which = copy_operand(node.which);
        if (node.operation == EpilogueOperation::acc) copy_block_scales();
        to_.nodes.push_back(node);
        return known = static_cast<std::int32_t>(to_.nodes.size() - 1);
    }
    void copy_block_scales() {
        for (std::size_t i = 0; i < from_.operands.size(); ++i)
            if (from_.operands[i].is_block_scale()) copy_operand(static_cast<std::int16_t>(i));
    }
    std::int16_t copy_operand(std::int16_t place) {
        std::int16_t& known = operand_[static_cast<std::size_t>(place)];
        if (known >= 0) return known;
        to_.operands.push_back(from_.operands[static_cast<std::size_t>(place)]);
        return known = static_cast<std::int16_t>(to_.operands.size() - 1);
    }

    const EpilogueParts& from_;
    EpilogueParts to_;
    std::vector<std::int32_t> node_;  // of each of the old ones, its place in the new list
    std::vector<std::int16_t> operand_;
};

/// How often each node is used. A comparison has no name: its arguments are used wherever it is.
class UseCounts {
public:
    explicit UseCounts(const EpilogueParts& parts) : parts_(parts), counts_(parts.nodes.size()) {
        for (const EpilogueOutput& output : parts.outputs) count(output.value);
    }
    [[nodiscard]] int operator[](std::size_t place) const { return counts_[place]; }

private:
    void count(std::int32_t place) {
        const EpilogueNode& node = parts_.nodes[static_cast<std::size_t>(place)];
        if (++counts_[static_cast<std::size_t>(place)] > 1 && !is_comparison(node.operation)) return;
        for (const std::int32_t argument : arguments_of(node)) count(argument);
    }

    const EpilogueParts& parts_;
    std::vector<int> counts_;
};

}  // namespace

std::string_view symbol_of(EpilogueOperation operation) {
    const auto* const found = std::ranges::find(kOperationSymbols, operation, &OperationSymbol::operation);
    return found == kOperationSymbols.end() ? std::string_view() : found->symbol;
}

EpilogueOperation operation_of(std::string_view symbol) {
    const auto* const found = std::ranges::find(kOperationSymbols, symbol, &OperationSymbol::symbol);
    return found == kOperationSymbols.end() ? EpilogueOperation::number : found->operation;
}

std::span<const std::int32_t> arguments_of(const EpilogueNode& node) {
    const auto count = std::ranges::find(node.arguments, -1) - node.arguments.begin();
    return std::span(node.arguments).first(static_cast<std::size_t>(count));
}

std::int32_t EpilogueGraph::add(const EpilogueNode& node) {
    const auto [found, is_new] = places_.try_emplace(key_of(node), static_cast<std::int32_t>(nodes_.size()));
    if (is_new) nodes_.push_back(node);
    return found->second;
}

std::string_view to_string(ReductionKind kind) {
    return kind == ReductionKind::sum ? "sum" : kind == ReductionKind::max ? "max" : "min";
}

EpilogueParts in_order_of_use(const EpilogueParts& parts) { return OrderOfUse(parts).run(); }

std::vector<const EpilogueOutput*> outputs_for_blocks(const EpilogueParts& parts) {
    std::vector<const EpilogueOutput*> outputs;
    for (const EpilogueOutput& output : parts.outputs)
        if (output.index.is_over_blocks()) outputs.push_back(&output);
    return outputs;
}

bool is_divisor(const EpilogueParts& parts, const EpilogueOutput& output) {
    const auto place = static_cast<std::int16_t>(&output - parts.outputs.data());
    const auto reads = [&](std::int32_t node) {
        const EpilogueNode& read = parts.nodes[static_cast<std::size_t>(node)];
        return read.operation == EpilogueOperation::reduced && read.which == place;
    };
    const auto is_right = [&](const EpilogueNode& node) {
        const auto arguments = arguments_of(node);
        if (node.operation == EpilogueOperation::divide) return !reads(arguments[0]);
        return std::ranges::none_of(arguments, reads);
    };
    return output.reduction && output.reduction->is_read_back && std::ranges::all_of(parts.nodes, is_right) &&
           std::ranges::none_of(parts.outputs, [&](const EpilogueOutput& other) { return reads(other.value); });
}

bool has_block_scales(const EpilogueParts& parts) {
    return std::ranges::any_of(parts.operands, &EpilogueOperand::is_block_scale);
}

bool differs_in_pair(const EpilogueParts& parts, const EpilogueOperand& operand) {
    if (operand.is_block_scale()) return false;  // no value of an element
    const std::optional<EpiloguePlace>& paired = parts.is_transposed ? operand.index.row : operand.index.column;
    return parts.pairs != EpiloguePairs::none && paired && paired->size != 'h';
}

std::vector<std::int32_t> named_nodes(const EpilogueParts& parts) {
    const UseCounts counts(parts);
    std::vector<std::int32_t> named;
    for (std::size_t i = 0; i < parts.nodes.size(); ++i) {
        const EpilogueOperation operation = parts.nodes[i].operation;
        if (counts[i] > 1 && !is_leaf(operation) && !is_comparison(operation))
            named.push_back(static_cast<std::int32_t>(i));
    }
    return named;
}

}  // namespace jitgemm
