#include "generator/epilogue/graph.hpp"

#include <algorithm>
#include <iterator>
#include <set>

namespace jitgemm {
namespace {

using Scalars = std::set<int>;  // places of operands

/// Walks from the results to what they are made of. Each node gets the scalars that multiply it in all of its uses.
class GuardSearch {
public:
    explicit GuardSearch(const EpilogueParts& parts)
        : parts_(parts), beside_(parts.nodes.size()), zeros_(parts.nodes.size()) {
        for (std::size_t i = 0; i < parts.nodes.size(); ++i) zeros_[i] = scalars_within(parts.nodes[i]);
        for (const EpilogueOutput& output : parts.outputs) meet(output.value, {});
        for (std::size_t i = parts.nodes.size(); i-- > 0;) spread(i);
    }

    /// The scalars beside all nodes that `is_one` picks.
    template <typename Predicate>
    [[nodiscard]] std::vector<int> of(Predicate is_one) const {
        std::optional<Scalars> common;
        for (std::size_t i = 0; i < parts_.nodes.size(); ++i)
            if (is_one(parts_.nodes[i])) common = common ? both(*common, *beside_[i]) : *beside_[i];
        return common ? std::vector<int>(common->begin(), common->end()) : std::vector<int>();
    }

private:
    static Scalars both(const Scalars& left, const Scalars& right) {
        Scalars common;
        std::ranges::set_intersection(left, right, std::inserter(common, common.end()));
        return common;
    }
    static Scalars either(Scalars left, const Scalars& right) {
        left.insert(right.begin(), right.end());
        return left;
    }
    [[nodiscard]] const Scalars& zeros(std::int32_t place) const { return zeros_[static_cast<std::size_t>(place)]; }

    /// The scalars that are factors of a value.
    [[nodiscard]] Scalars scalars_within(const EpilogueNode& node) const {
        using enum EpilogueOperation;
        if (node.operation == operand && parts_.operands[static_cast<std::size_t>(node.which)].is_scalar)
            return {node.which};
        if (node.operation == negate) return zeros(node.arguments[0]);
        if (node.operation == multiply) return either(zeros(node.arguments[0]), zeros(node.arguments[1]));
        return {};
    }

    /// Takes note of a use beside those scalars.
    void meet(std::int32_t place, const Scalars& scalars) {
        std::optional<Scalars>& known = beside_[static_cast<std::size_t>(place)];
        known = known ? both(*known, scalars) : scalars;
    }
    /// To the arguments of a node, whose own uses are all known: they stand behind it in the list.
    void spread(std::size_t place) {
        using enum EpilogueOperation;
        const EpilogueNode& node = parts_.nodes[place];
        const Scalars& beside = *beside_[place];
        const bool keeps = node.operation == add || node.operation == subtract || node.operation == negate;
        for (const std::int32_t argument : arguments_of(node)) {
            if (node.operation != multiply) {
                meet(argument, keeps ? beside : Scalars());
                continue;
            }
            const bool is_left = argument == node.arguments[0];
            meet(argument, either(beside, zeros(node.arguments[is_left ? 1 : 0])));
        }
    }

    const EpilogueParts& parts_;
    std::vector<std::optional<Scalars>> beside_;
    std::vector<Scalars> zeros_;
};

}  // namespace

void find_guards(EpilogueParts& parts) {
    const GuardSearch search(parts);
    parts.acc_guards = search.of([](const EpilogueNode& node) { return node.operation == EpilogueOperation::acc; });
    for (std::size_t i = 0; i < parts.operands.size(); ++i) {
        if (parts.operands[i].is_scalar) continue;
        if (parts.operands[i].is_block_scale()) {
            parts.operands[i].guards = parts.acc_guards;
            continue;
        }
        parts.operands[i].guards = search.of([&](const EpilogueNode& node) {
            return node.operation == EpilogueOperation::operand && static_cast<std::size_t>(node.which) == i;
        });
    }
}

}  // namespace jitgemm
