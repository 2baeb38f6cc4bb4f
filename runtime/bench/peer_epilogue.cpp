#include "runtime/bench/peer_epilogue.hpp"

#include "generator/base/operand.hpp"
#include "generator/epilogue/epilogue_text.hpp"
#include "generator/epilogue/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

using Activation = CublasLtEpilogue::Activation;

bool is_one_d(const EpilogueParts& parts) {
    return parts.outputs.size() == 1 && parts.outputs[0].name == "d" && !parts.outputs[0].reduction &&
           parts.pairs == EpiloguePairs::none;
}

/// Takes a text apart into what cuBLASLt has a place for.
class FormFinder {
public:
    FormFinder(const EpilogueParts& parts, Order d_order) : parts_(parts), order_(d_order) {}

    std::optional<CublasLtEpilogue> find() {
        for (const EpilogueOperand& operand : parts_.operands)
            if (operand.is_block_scale()) add_block_scale(operand);
        std::int32_t sum = parts_.outputs[0].value;
        if (const Activation activation = activation_of(node(sum)); activation != Activation::none) {
            form_.activation = activation;
            sum = node(sum).arguments[0];
        }
        if (!add_terms(sum) || !has_acc_) return std::nullopt;
        if (form_.row_scale.empty() != form_.column_scale.empty()) return std::nullopt;
        return form_;
    }

private:
    [[nodiscard]] const EpilogueNode& node(std::int32_t place) const {
        return parts_.nodes[static_cast<std::size_t>(place)];
    }
    [[nodiscard]] static Activation activation_of(const EpilogueNode& node) {
        if (node.operation != EpilogueOperation::function) return Activation::none;
        const std::string_view name = epilogue_functions()[static_cast<std::size_t>(node.which)].name;
        return name == "relu" ? Activation::relu : name == "gelu" ? Activation::gelu : Activation::none;
    }
    /// Null of a node that is no operand.
    [[nodiscard]] const EpilogueOperand* operand(const EpilogueNode& node) const {
        if (node.operation != EpilogueOperation::operand) return nullptr;
        return &parts_.operands[static_cast<std::size_t>(node.which)];
    }
    [[nodiscard]] std::optional<CublasLtEpilogue::Factor> factor(const EpilogueNode& node) const {
        if (node.operation == EpilogueOperation::number) return CublasLtEpilogue::Factor{.number = node.number};
        const EpilogueOperand* const scalar = operand(node);
        if (scalar == nullptr || !scalar->is_scalar) return std::nullopt;
        return CublasLtEpilogue::Factor{.scalar = scalar->name};
    }

    /// It is a factor of acc already.
    void add_block_scale(const EpilogueOperand& scale) {
        const bool is_of_a = scale.index.row->size == 'm' || scale.index.column->size == 'm';
        (is_of_a ? form_.row_scale : form_.column_scale) = scale.name;
        form_.scales_blocks = true;
    }
    bool add_terms(std::int32_t sum) {
        const EpilogueNode& one = node(sum);
        if (one.operation == EpilogueOperation::add) return add_terms(one.arguments[0]) && add_terms(one.arguments[1]);
        if (one.operation != EpilogueOperation::multiply) return add_term(one, {});
        const EpilogueNode &left = node(one.arguments[0]), &right = node(one.arguments[1]);
        if (const auto of_left = factor(left)) return add_term(right, *of_left);
        if (const auto of_right = factor(right)) return add_term(left, *of_right);
        return scale_acc(one);
    }
    /// acc · scale_a[m] · scale_b[n], in any order.
    bool scale_acc(const EpilogueNode& node) {
        if (node.operation == EpilogueOperation::acc) return !std::exchange(has_acc_, true);
        if (node.operation == EpilogueOperation::multiply)
            return scale_acc(this->node(node.arguments[0])) && scale_acc(this->node(node.arguments[1]));
        const EpilogueOperand* const scale = operand(node);
        const bool is_vector = scale != nullptr && !scale->is_scalar && !scale->index.is_over_blocks() &&
                               scale->index.row.has_value() != scale->index.column.has_value();
        if (!is_vector || scale->type != DataType::f32) return false;
        return std::exchange(scale->index.row ? form_.row_scale : form_.column_scale, scale->name).empty();
    }
    bool add_term(const EpilogueNode& term, const CublasLtEpilogue::Factor& factor) {
        if (term.operation == EpilogueOperation::acc) {
            form_.alpha = factor;
            return !std::exchange(has_acc_, true);
        }
        const EpilogueOperand* const added = operand(term);
        if (added == nullptr || added->is_scalar || added->index.is_over_blocks()) return false;
        if (added->index.is_matrix()) {
            form_.beta = factor;
            return std::exchange(form_.c, added->name).empty();
        }
        const bool follows_lines =
            order_ == Order::row ? added->index.column.has_value() : added->index.row.has_value();
        const bool is_bare = factor.scalar.empty() && factor.number == 1;
        return follows_lines && is_bare && std::exchange(form_.bias, added->name).empty();
    }

    const EpilogueParts& parts_;
    Order order_;
    CublasLtEpilogue form_;
    bool has_acc_ = false;
};

/// The meaning of changed nodes.
Epilogue meaning_of_parts(const EpilogueParts& changed) {
    EpilogueParts parts = in_order_of_use(changed);
    find_guards(parts);
    return Epilogue(std::move(parts));
}

}  // namespace

float CublasLtEpilogue::Factor::value(const GemmArguments& arguments) const {
    return scalar.empty() ? number : scalar_of(scalar, arguments);
}

cublaslt::EpilogueCode CublasLtEpilogue::code() const {
    using Code = cublaslt::EpilogueCode;
    switch (activation) {
        case Activation::relu: return bias.empty() ? Code::relu : Code::relu_bias;
        case Activation::gelu: return bias.empty() ? Code::gelu : Code::gelu_bias;
        case Activation::none: break;
    }
    return bias.empty() ? Code::none : Code::bias;
}

std::string CublasLtEpilogue::name() const {
    std::string text = activation == Activation::relu ? "relu" : activation == Activation::gelu ? "gelu" : "";
    if (!bias.empty()) text += text.empty() ? "bias" : "_bias";
    if (!c.empty()) text += text.empty() ? "c" : " + c";
    const std::string_view scales = scales_blocks ? "block scales" : "scales";
    if (!row_scale.empty()) text += fmt::format("{}{}", text.empty() ? "" : " + ", scales);
    return text.empty() ? "alpha" : text;
}

std::optional<CublasLtEpilogue> cublaslt_epilogue(const Epilogue& epilogue, Order d_order) {
    if (!is_one_d(epilogue.parts())) return std::nullopt;
    return FormFinder(epilogue.parts(), d_order).find();
}

Epilogue with_rounded_sums(const Epilogue& epilogue, DataType type) {
    EpilogueParts parts = epilogue.parts();
    std::vector<std::int32_t> moved;
    std::vector<EpilogueNode> nodes;
    for (EpilogueNode node : epilogue.parts().nodes) {
        for (std::int32_t& argument : node.arguments)
            if (argument >= 0) argument = moved[static_cast<std::size_t>(argument)];
        nodes.push_back(node);
        const auto place = static_cast<std::int32_t>(nodes.size() - 1);
        if (node.operation == EpilogueOperation::acc)
            nodes.push_back({.operation = EpilogueOperation::cast,
                             .which = static_cast<std::int16_t>(type),
                             .arguments = {place, -1, -1}});
        moved.push_back(static_cast<std::int32_t>(nodes.size() - 1));
    }
    parts.nodes = std::move(nodes);
    for (EpilogueOutput& output : parts.outputs) output.value = moved[static_cast<std::size_t>(output.value)];
    return meaning_of_parts(parts);
}

Epilogue with_fast_gelu(const Epilogue& epilogue) {
    EpilogueParts parts = epilogue.parts();
    for (EpilogueNode& node : parts.nodes)
        if (node.operation == EpilogueOperation::function && node.which == find_epilogue_function("gelu"))
            node.which = static_cast<std::int16_t>(find_epilogue_function("gelu", true));
    return meaning_of_parts(parts);
}

}  // namespace jitgemm
