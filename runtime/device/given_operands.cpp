#include "runtime/device/given_operands.hpp"

#include "generator/epilogue/names.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

/// Looks names up among those that a launch gives. Most launches give them in the order of the text.
class Lookup {
public:
    explicit Lookup(const OperandArguments& given) : given_(given), next_(given.begin()) {}

    /// Null if it is not given.
    const OperandArgument* find(std::string_view name) {
        const OperandArgument* const found =
            next_ != given_.end() && is_called(*next_, name) ? next_ : given_.find(name);
        if (found == nullptr) return nullptr;
        next_ = found + 1;
        ++count_;
        return found;
    }
    [[nodiscard]] bool found_all() const { return count_ == given_.size(); }

private:
    static bool is_called(const OperandArgument& operand, std::string_view name) {
        return operand.name.data() == name.data() ? operand.name.size() == name.size() : operand.name == name;
    }

    const OperandArguments& given_;
    const OperandArgument* next_;
    std::size_t count_ = 0;
};

}  // namespace

std::size_t argument_place(const EpilogueParts& parts, std::string_view name) {
    const auto operand = std::ranges::find(parts.operands, name, &EpilogueOperand::name);
    auto place = static_cast<std::size_t>(operand - parts.operands.begin());
    if (operand != parts.operands.end()) return place;
    for (const EpilogueOutput& output : parts.outputs) {
        if (output.name == name) break;
        if (is_beside_d(output)) ++place;
    }
    return place;
}

GivenOperands::GivenOperands(const EpilogueParts& parts, const GemmArguments& arguments) {
    Lookup lookup(arguments.operands);
    bool has_alpha = false, has_beta = false;
    for (std::size_t i = 0; i < parts.operands.size(); ++i) {
        const EpilogueOperand& operand = parts.operands[i];
        if (operand.is_scalar && is_launch_scalar(operand.name)) {
            const bool is_alpha = operand.name == "alpha";
            (is_alpha ? has_alpha : has_beta) = true;
            values_.at(i) = is_alpha ? arguments.alpha : arguments.beta;
        } else {
            const OperandArgument* const given = lookup.find(operand.name);
            addresses_.at(i) = given == nullptr ? 0 : given->pointer.address;
            values_.at(i) = given == nullptr ? 0 : given->value;
            if (operand.is_scalar) are_sound_ = are_sound_ && given != nullptr && !given->pointer;
        }
        if (operand.is_scalar && values_.at(i) == 0.0F) zeros_ |= 1U << i;
    }
    std::size_t place = parts.operands.size();
    for (const EpilogueOutput& output : parts.outputs) {
        if (!is_beside_d(output)) continue;
        const OperandArgument* const given = lookup.find(output.name);
        addresses_.at(place++) = given == nullptr ? 0 : given->pointer.address;
    }
    are_sound_ = are_sound_ && lookup.found_all() && (has_alpha || arguments.alpha == 1.0F) &&
                 (has_beta || arguments.beta == 0.0F);
}

}  // namespace jitgemm
