#pragma once

#include "generator/epilogue/graph.hpp"

#include <functional>
#include <map>
#include <string>

namespace jitgemm {

/// "0.5f", "2.0f".
[[nodiscard]] std::string cuda_number(float value);

/// Writes values of an epilogue as an expression, in the language of texts or in CUDA. Both have the same operators.
class ExpressionText {
public:
    enum class Language : std::uint8_t { text, cuda };
    using Leaf = std::function<std::string(const EpilogueNode&)>;  ///< how acc, an operand or a reduction is called

    ExpressionText(const EpilogueParts& parts, Language language, Leaf leaf)
        : parts_(parts), language_(language), leaf_(std::move(leaf)) {}

    /// From here on the node is called by that name.
    void name(std::int32_t node, const std::string& name) { names_[node] = name; }
    [[nodiscard]] std::string of(std::int32_t node) const { return at_level(node, 0); }
    /// The names of local values: t0, t1, … but for names that operands and outputs have.
    [[nodiscard]] static std::vector<std::string> local_names(const EpilogueParts& parts, std::size_t count);

private:
    [[nodiscard]] std::string at_level(std::int32_t node, int least) const;
    [[nodiscard]] std::string whole(const EpilogueNode& node) const;
    [[nodiscard]] std::string number(float value) const;
    [[nodiscard]] std::string negated(std::int32_t node) const;
    [[nodiscard]] std::string call(const EpilogueNode& node) const;
    [[nodiscard]] std::string arguments(const EpilogueNode& node) const;
    [[nodiscard]] std::string fused(const EpilogueNode& node) const;
    [[nodiscard]] bool fuses(const EpilogueNode& node) const;
    [[nodiscard]] bool is_fusible(std::int32_t node) const;
    [[nodiscard]] bool has_divisor(const EpilogueNode& node) const;
    [[nodiscard]] int level_of(const EpilogueNode& node) const;
    [[nodiscard]] const EpilogueNode& node(std::int32_t place) const {
        return parts_.nodes[static_cast<std::size_t>(place)];
    }

    const EpilogueParts& parts_;
    Language language_;
    Leaf leaf_;
    std::map<std::int32_t, std::string> names_;
};

}  // namespace jitgemm
