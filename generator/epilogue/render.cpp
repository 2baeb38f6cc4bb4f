#include "generator/epilogue/render.hpp"

#include "generator/epilogue/expression_text.hpp"
#include "generator/epilogue/functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

namespace jitgemm {
namespace {

constexpr std::size_t kLineEnd = 120;

/// How the kernel calls a value from elsewhere.
std::string cuda_leaf(const EpilogueParts& parts, const EpilogueNode& node) {
    const std::string_view column = node.half == 0 ? "" : node.half == 1 ? "_0" : "_1";
    const auto place = static_cast<std::size_t>(node.which);
    if (node.operation == EpilogueOperation::acc) return fmt::format("acc{}", column);
    if (node.operation == EpilogueOperation::reduced) return parts.outputs[place].name;
    const EpilogueOperand& operand = parts.operands[place];
    return operand.is_scalar ? "args." + operand.name : fmt::format("{}{}", operand.name, column);
}

/// Texts with ", " between them, broken where a line would be too long.
std::string joined_lines(std::string_view start, std::span<const std::string> texts, std::string_view end) {
    std::string line(start), all;
    const std::string indent(start.size(), ' ');
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::string next = texts[i] + (i + 1 < texts.size() ? ", " : std::string(end));
        if (line.size() + next.size() > kLineEnd + 1 && i > 0) {
            all += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
            line = indent;
        }
        line += next;
    }
    return all + line + '\n';
}

/// Writes one function of some outputs, with its struct.
class FinishWriter {
public:
    FinishWriter(const EpilogueParts& parts, std::vector<const EpilogueOutput*> outputs)
        : parts_(parts),
          outputs_(std::move(outputs)),
          text_(parts, ExpressionText::Language::cuda,
                [&](const EpilogueNode& node) { return cuda_leaf(parts, node); }) {}

    [[nodiscard]] std::string structure(std::string_view name) const {
        std::vector<std::string> members;
        for (const EpilogueOutput* output : outputs_) members.push_back(output->name);
        return fmt::format("struct {} {{\n", name) + joined_lines("    float ", members, ";") + "};\n";
    }
    std::string function(std::string_view type, std::string_view name, std::span<const std::string> values,
                         std::span<const std::string> divisors = {}) {
        std::vector<std::string> parameters{"const GemmArgs& args"};
        for (const std::string& value : values) parameters.push_back("float " + value);
        for (const std::string& divisor : divisors) parameters.push_back("const Divisor& " + divisor);
        const std::string head =
            joined_lines(fmt::format("__device__ __forceinline__ {} {}(", type, name), parameters, ") {");
        const std::string named = locals();  // from here on, the results call them by their names
        const std::string returned = results();
        const std::string in_one =
            head.substr(0, head.size() - 1) + ' ' + returned.substr(4, returned.size() - 5) + " }";
        if (named.empty() && in_one.size() <= kLineEnd && in_one.find('\n') == std::string::npos) return in_one + '\n';
        return head + named + returned + "}\n";
    }

private:
    /// Values that are used twice, as far as these outputs need them.
    std::string locals() {
        const std::set<std::int32_t> needed = needed_nodes();
        const std::vector<std::int32_t> named = named_nodes(parts_);
        const std::vector<std::string> names = ExpressionText::local_names(parts_, named.size());
        std::string lines;
        for (std::size_t i = 0; i < named.size(); ++i) {
            if (!needed.contains(named[i])) continue;
            lines += fmt::format("    const float {} = {};\n", names[i], text_.of(named[i]));
            text_.name(named[i], names[i]);
        }
        return lines;
    }
    [[nodiscard]] std::set<std::int32_t> needed_nodes() const {
        std::set<std::int32_t> needed;
        for (const EpilogueOutput* output : outputs_) needed.insert(output->value);
        for (auto i = static_cast<std::int32_t>(parts_.nodes.size()) - 1; i >= 0; --i) {
            if (!needed.contains(i)) continue;
            const auto arguments = arguments_of(parts_.nodes[static_cast<std::size_t>(i)]);
            needed.insert(arguments.begin(), arguments.end());
        }
        return needed;
    }
    [[nodiscard]] std::string results() const {
        std::vector<std::string> values;
        for (const EpilogueOutput* output : outputs_) values.push_back(text_.of(output->value));
        return joined_lines("    return {", values, "};");
    }

    const EpilogueParts& parts_;
    std::vector<const EpilogueOutput*> outputs_;
    ExpressionText text_;
};

std::vector<const EpilogueOutput*> outputs_of_elements(const EpilogueParts& parts) {
    std::vector<const EpilogueOutput*> outputs;
    for (const EpilogueOutput& output : parts.outputs)
        if (!output.index.is_over_blocks()) outputs.push_back(&output);
    return outputs;
}

/// Collects the texts of device functions, each once.
class FunctionTexts {
public:
    void add(std::string_view cuda_name) {
        if (cuda_name.empty() || !added_.insert(cuda_name).second) return;
        for (const EpilogueFunction& row : epilogue_functions()) {
            if (row.cuda_name != cuda_name) continue;
            add(row.needs);
            text_ += row.cuda;
        }
        for (const EpilogueCast& cast : epilogue_casts())
            if (cast.cuda_name == cuda_name) text_ += cast.cuda;
    }
    [[nodiscard]] const std::string& text() const { return text_; }

private:
    std::set<std::string_view> added_;
    std::string text_;
};

}  // namespace

std::string render_functions(const EpilogueParts& parts) {
    FunctionTexts texts;
    for (const EpilogueNode& node : parts.nodes) {
        if (node.operation == EpilogueOperation::function)
            texts.add(epilogue_functions()[static_cast<std::size_t>(node.which)].cuda_name);
        if (node.operation == EpilogueOperation::cast)
            texts.add(find_epilogue_cast(to_string(static_cast<DataType>(node.which)))->cuda_name);
    }
    return texts.text();
}

std::vector<std::string> finish_parameters(const EpilogueParts& parts) {
    const bool has_pairs = parts.pairs != EpiloguePairs::none;
    std::vector<std::string> names;
    const auto add = [&](const std::string& name, bool is_pair) {
        for (const char* const column : {"_0", "_1"})
            if (is_pair) names.push_back(name + column);
        if (!is_pair) names.push_back(name);
    };
    add("acc", has_pairs);
    for (const EpilogueOperand& operand : parts.operands)
        if (!operand.is_scalar && !operand.is_block_scale()) add(operand.name, differs_in_pair(parts, operand));
    return names;
}

std::string render_epilogue(const Epilogue& epilogue) {
    const EpilogueParts& parts = epilogue.parts();
    std::string text = render_functions(parts);
    std::vector<std::string> parameters = finish_parameters(parts);
    std::vector<std::string> divisors;
    const std::vector<const EpilogueOutput*> for_blocks = outputs_for_blocks(parts);
    if (!for_blocks.empty()) {
        FinishWriter writer(parts, for_blocks);
        text += "// Values of one element that reductions of a block take.\n" + writer.structure("Reduced");
        text += writer.function("Reduced", "reduced", parameters);
        for (const EpilogueOutput* output : for_blocks)
            if (output->reduction->is_read_back)
                (is_divisor(parts, *output) ? divisors : parameters).push_back(output->name);
    }
    if (!divisors.empty()) text = "#include \"reduction/divisor.cuh\"\n\n" + text;
    FinishWriter writer(parts, outputs_of_elements(parts));
    return text + "// The results of one element.\n" + writer.structure("Results") +
           writer.function("Results", "finish", parameters, divisors);
}

}  // namespace jitgemm
