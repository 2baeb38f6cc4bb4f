#include "generator/epilogue/block_scales.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace jitgemm {
namespace {

/// Finds the product of acc and all block scales, in one of the two columns of a pair.
class ScaledProduct {
public:
    /// `half`: the column of the pair, 1 or 2; 0 without pairs.
    ScaledProduct(const EpilogueParts& parts, std::int8_t half) : parts_(parts), half_(half) {
        for (const EpilogueNode& node : parts.nodes) add(node);
    }

    /// Whether the text reads acc or a scale there.
    [[nodiscard]] bool is_read() const { return std::ranges::any_of(factors_, &Factors::is_product); }

    /// The node of the whole product; -1: acc and each scale are not the only factors of one product, or they stand
    /// elsewhere, too.
    [[nodiscard]] std::int32_t whole() const {
        std::int32_t top = -1;
        for (std::size_t i = 0; i < factors_.size(); ++i)
            if (factors_[i].accs == 1) top = static_cast<std::int32_t>(i);  // the last one has the most factors
        const auto scales = std::ranges::count_if(parts_.operands, &EpilogueOperand::is_block_scale);
        return top >= 0 && at(top).scales == scales && !is_used_in_part(top) ? top : -1;
    }

private:
    /// Of a value that is a product of acc and block scales alone.
    struct Factors {
        int accs = 0;
        int scales = 0;
        [[nodiscard]] bool is_product() const { return accs + scales > 0; }
    };
    [[nodiscard]] const Factors& at(std::int32_t node) const { return factors_[static_cast<std::size_t>(node)]; }
    [[nodiscard]] bool is_acc(const EpilogueNode& node) const {
        return node.operation == EpilogueOperation::acc && node.half == half_;
    }
    [[nodiscard]] bool is_scale(const EpilogueNode& node) const {
        return node.operation == EpilogueOperation::operand && node.half == half_ &&
               parts_.operands[static_cast<std::size_t>(node.which)].is_block_scale();
    }

    void add(const EpilogueNode& node) {
        Factors factors;
        if (is_acc(node)) factors.accs = 1;
        if (is_scale(node)) factors.scales = 1;
        if (node.operation == EpilogueOperation::multiply) {
            const Factors &left = at(node.arguments[0]), &right = at(node.arguments[1]);
            if (left.is_product() && right.is_product() && left.accs + right.accs <= 1)
                factors = {left.accs + right.accs, left.scales + right.scales};
        }
        factors_.push_back(factors);
    }

    /// Whether another value than the whole product takes a part of it.
    [[nodiscard]] bool is_used_in_part(std::int32_t top) const {
        for (std::size_t i = 0; i < parts_.nodes.size(); ++i) {
            if (factors_[i].is_product()) continue;  // within the product: each factor counts once
            for (const std::int32_t argument : arguments_of(parts_.nodes[i]))
                if (argument != top && at(argument).is_product()) return true;
        }
        return std::ranges::any_of(parts_.outputs, [&](const EpilogueOutput& output) {
            return output.value != top && at(output.value).is_product();
        });
    }

    const EpilogueParts& parts_;
    std::int8_t half_;
    std::vector<Factors> factors_;  // of each node
};

/// The text without scales: the product of acc and all of them becomes acc. False if that leaves something out.
bool take_scaled_products(EpilogueParts& parts) {
    const EpilogueParts written = parts;
    for (const std::int8_t half : std::array<std::int8_t, 3>{0, 1, 2}) {
        const ScaledProduct product(written, half);
        if (!product.is_read()) continue;
        const std::int32_t whole = product.whole();
        if (whole < 0) return false;
        parts.nodes[static_cast<std::size_t>(whole)] = {.operation = EpilogueOperation::acc, .half = half};
    }
    return true;
}

std::string_view scaled_factor(const EpilogueOperand& scale) { return block_scale_lines(scale).is_of_a ? "A" : "B"; }

}  // namespace

BlockScaleLines block_scale_lines(const EpilogueOperand& scale) {
    const bool k_is_first = scale.index.row->size == 'k';
    const EpiloguePlace& lines = k_is_first ? *scale.index.column : *scale.index.row;
    return {.is_of_a = lines.size == 'm', .is_by_block = lines.over == kScaledBlock, .is_k_contiguous = !k_is_first};
}

EpilogueParts with_scaled_products(EpilogueParts parts, TextPosition first, EpilogueProblems& problems) {
    std::vector<const EpilogueOperand*> scales;
    for (const EpilogueOperand& operand : parts.operands)
        if (operand.is_block_scale()) scales.push_back(&operand);
    if (scales.empty()) return parts;
    for (std::size_t i = 0; i < scales.size(); ++i) {
        if (scales[i]->type != DataType::f32)
            problems.add(first, fmt::format("{} is {}, but a scale of blocks of K is f32", scales[i]->name,
                                            to_string(scales[i]->type)));
        for (std::size_t j = 0; j < i; ++j)
            if (scaled_factor(*scales[i]) == scaled_factor(*scales[j]))
                problems.add(first, fmt::format("{} and {} both scale blocks of {}: pass their product",
                                                scales[j]->name, scales[i]->name, scaled_factor(*scales[i])));
    }
    if (!take_scaled_products(parts)) {
        std::string product = "acc";
        for (const EpilogueOperand* const scale : scales) product += " * " + with_index(scale->name, scale->index);
        problems.add(
            first, fmt::format("the products of a block of K are scaled before they are added: '{}' must "
                               "stand together, and be the only use of acc and of each scale{}",
                               product, parts.pairs == EpiloguePairs::none ? "" : ", in both columns of a pair alike"));
        return parts;
    }
    return in_order_of_use(parts);
}

}  // namespace jitgemm
