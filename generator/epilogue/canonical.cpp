#include "generator/epilogue/canonical.hpp"

#include "generator/epilogue/expression_text.hpp"
#include "generator/epilogue/names.hpp"

#define XXH_INLINE_ALL
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>

namespace jitgemm {
namespace {

class CanonicalWriter {
public:
    explicit CanonicalWriter(const EpilogueParts& parts)
        : parts_(parts),
          text_(parts, ExpressionText::Language::text, [this](const EpilogueNode& node) { return leaf(node); }),
          named_(named_nodes(parts)),
          names_(ExpressionText::local_names(parts, named_.size())) {}

    std::string write() {
        for (const EpilogueOperand& operand : parts_.operands)
            if (!is_launch_scalar(operand.name)) declare(operand.name, operand.type, operand.is_scalar, operand.index);
        for (const EpilogueOutput& output : parts_.outputs)
            if (output.name != "d" && !output.reduction) declare(output.name, *output.type, false, output.index);
        find_readers();
        for (const std::int32_t node : named_)
            if (!reads_back_[static_cast<std::size_t>(node)]) name(node);
        for (const EpilogueOutput& output : parts_.outputs) store(output);
        std::string text = fmt::format("{}", fmt::join(statements_, "; "));
        return parts_.is_transposed && parts_.pairs != EpiloguePairs::none ? text + "  # pairs of rows" : text;
    }

private:
    void declare(std::string_view name, DataType type, bool is_scalar, const EpilogueIndex& index) {
        const std::string_view word = to_string(type);
        statements_.push_back(fmt::format("{}: {}", name, is_scalar ? std::string(word) : with_index(word, index)));
    }

    /// Values that need a reduction that is read back can't stand before it.
    void find_readers() {
        for (const EpilogueNode& node : parts_.nodes) {
            const auto reads = [&](std::int32_t argument) { return reads_back_[static_cast<std::size_t>(argument)]; };
            reads_back_.push_back(node.operation == EpilogueOperation::reduced ||
                                  std::ranges::any_of(arguments_of(node), reads));
        }
    }
    void name(std::int32_t node) {
        const auto place = static_cast<std::size_t>(std::ranges::find(named_, node) - named_.begin());
        statements_.push_back(fmt::format("{} = {}", names_[place], text_.of(node)));
        text_.name(node, names_[place]);
    }
    void store(const EpilogueOutput& output) {
        last_ = std::max(last_, output.value);
        for (; next_ < named_.size() && named_[next_] <= last_; ++next_)
            if (reads_back_[static_cast<std::size_t>(named_[next_])]) name(named_[next_]);
        std::string value = text_.of(output.value);
        if (output.reduction) value = reduction(*output.reduction, value);
        statements_.push_back(fmt::format("{} = {}", with_index(output.name, output.index), value));
    }
    static std::string reduction(const EpilogueReduction& reduction, const std::string& value) {
        const std::string bare = fmt::format("{}({})", to_string(reduction.kind), value);
        return reduction.scaled_by == ' ' ? bare : fmt::format("{} {} {}", bare, reduction.scaled_by, reduction.number);
    }

    [[nodiscard]] std::string leaf(const EpilogueNode& node) const {
        if (node.operation == EpilogueOperation::acc) return half("acc" + block_scales(), node.half);
        const auto place = static_cast<std::size_t>(node.which);
        if (node.operation == EpilogueOperation::reduced)
            return with_index(parts_.outputs[place].name, parts_.outputs[place].index);
        const EpilogueOperand& operand = parts_.operands[place];
        return half(operand.is_scalar ? operand.name : with_index(operand.name, operand.index), node.half);
    }
    [[nodiscard]] std::string block_scales() const {
        std::string factors;
        for (const EpilogueOperand& operand : parts_.operands)
            if (operand.is_block_scale()) factors += " * " + with_index(operand.name, operand.index);
        return factors;
    }
    [[nodiscard]] std::string half(const std::string& name, int which) const {
        if (which == 0) return name;
        const bool halves = parts_.pairs == EpiloguePairs::halves;
        const std::string_view first = halves ? "left" : "even";
        return fmt::format("{}({})", which == 1 ? first : halves ? "right" : "odd", name);
    }

    const EpilogueParts& parts_;
    ExpressionText text_;
    std::vector<std::int32_t> named_;
    std::vector<std::string> names_;
    std::vector<bool> reads_back_;  // of each node
    std::size_t next_ = 0;          // of named_
    std::int32_t last_ = -1;        // node of an output so far
    std::vector<std::string> statements_;
};

}  // namespace

std::string canonical_text(const EpilogueParts& parts) { return CanonicalWriter(parts).write(); }

std::string hash_digits(const std::string& text) {
    return fmt::format("{:08x}", XXH3_64bits(text.data(), text.size()) & 0xffffffffU);
}

}  // namespace jitgemm
