#include "runtime/verify/epilogue_value.hpp"

#include "generator/epilogue/functions.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <memory_resource>
#include <span>

namespace jitgemm {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kExactIntegers = 0x1p24;  // f32 holds all up to there
constexpr double kErrorOfASum = 0x1p-24;   // f32, relative

bool is_exact_function(const EpilogueFunction& row) {
    return row.error.absolute == 0 && row.error.of_value == 0 && row.error.of_argument == 0;
}

double or_else(double value, double otherwise) { return std::isnan(value) ? otherwise : value; }

/// A function's values over intervals of its arguments.
class FunctionOverIntervals {
public:
    FunctionOverIntervals(const EpilogueFunction& row, std::span<const Interval> arguments)
        : row_(row), arguments_(arguments) {}

    [[nodiscard]] Interval value() const {
        Interval numbers = without_nans();
        for (std::size_t i = 0; i < arguments_.size(); ++i)
            if (arguments_[i].may_be_nan) numbers = hull(numbers, of_nan(i));
        return numbers;
    }

private:
    template <typename Choose>
    [[nodiscard]] double formula(Choose choose) const {
        std::array<double, 3> arguments{};
        std::ranges::transform(arguments_, arguments.begin(), choose);
        return row_.formula(arguments.data());
    }
    [[nodiscard]] double at_lows() const {
        return formula([](const Interval& one) { return one.low; });
    }
    [[nodiscard]] double at_highs() const {
        return formula([](const Interval& one) { return one.high; });
    }
    /// The value where one argument is NaN: of drelu that is a number.
    [[nodiscard]] Interval of_nan(std::size_t place) const {
        Interval value = exactly(formula([&](const Interval& one) {
            return &one == &arguments_[place] ? std::numeric_limits<double>::quiet_NaN() : one.low;
        }));
        value.is_exact = false;
        return value;
    }

    [[nodiscard]] Interval without_nans() const {
        const Interval nothing{.low = kUnbounded, .high = -kUnbounded, .may_be_nan = false, .is_exact = false};
        if (std::ranges::any_of(arguments_, &Interval::is_empty)) return nothing;
        auto [low, high, may_be_nan] = ends();
        if (arguments_[0].contains(0)) include_zeros(low, high);
        if (!is_exact_function(row_)) return rounded_outward(low - error(low), high + error(high), may_be_nan);
        const bool is_exact = std::ranges::all_of(arguments_, &Interval::is_exact);
        return {.low = low, .high = high, .may_be_nan = may_be_nan, .is_exact = is_exact};
    }
    /// 1 / sqrt(x) is another infinity for each sign of 0.
    void include_zeros(double& low, double& high) const {
        for (const double zero : {0.0, -0.0}) {
            const double value = row_.arity == 1 ? row_.formula(&zero) : low;
            low = std::min(low, or_else(value, low));
            high = std::max(high, or_else(value, high));
        }
    }
    struct Ends {
        double low, high;
        bool may_be_nan;
    };
    [[nodiscard]] Ends ends() const {
        if (row_.growth == Growth::sloped) return sloped_ends();
        const bool rises = row_.growth == Growth::rising;
        const double low = rises ? at_lows() : at_highs();
        const double high = rises ? at_highs() : at_lows();
        const bool may_be_nan = std::isnan(low) || std::isnan(high);
        return {or_else(low, -kUnbounded), or_else(high, kUnbounded), may_be_nan};
    }
    [[nodiscard]] Ends sloped_ends() const {
        const Interval& x = arguments_[0];
        const double middle = x.low == x.high ? x.low : x.low / 2 + x.high / 2;
        const double value = row_.formula(&middle);
        const double reach = x.low == x.high ? 0 : row_.slope * std::max(middle - x.low, x.high - middle);
        if (std::isnan(value) || std::isnan(reach) || std::isinf(reach)) return {row_.least, kUnbounded, true};
        return {std::max(value - reach, row_.least), value + reach, false};
    }
    [[nodiscard]] double error(double value) const {
        const Interval& x = arguments_[0];
        const double argument = std::max(std::fabs(x.low), std::fabs(x.high));
        const double of_value = std::isfinite(value) ? row_.error.of_value * std::fabs(value) : 0;
        const double of_argument = row_.error.of_argument == 0 ? 0 : row_.error.of_argument * argument;
        return row_.error.absolute + of_value + of_argument;
    }

    const EpilogueFunction& row_;
    std::span<const Interval> arguments_;
};

/// Evaluates the nodes of an epilogue one after the other.
class NodeValues {
public:
    NodeValues(const EpilogueParts& parts, const EpilogueElement& element) : parts_(parts), element_(element) {
        values_.reserve(parts.nodes.size());
        conditions_.reserve(parts.nodes.size());
        for (const EpilogueNode& node : parts.nodes) {
            const bool compares = is_comparison(node.operation);
            conditions_.push_back(compares ? condition(node) : Undecided());
            values_.push_back(compares ? Interval() : value(node));
        }
    }
    [[nodiscard]] const Interval& operator[](std::int32_t node) const {
        return values_[static_cast<std::size_t>(node)];
    }

private:
    [[nodiscard]] const Interval& argument(const EpilogueNode& node, std::size_t place) const {
        return (*this)[node.arguments[place]];
    }
    [[nodiscard]] static Interval column(const EpilogueElement::Columns& columns, const EpilogueNode& node) {
        return rounded_input(columns[node.half == 2 ? 1 : 0]);
    }
    /// A value that is no f32 is rounded to one when it is first used.
    [[nodiscard]] static Interval rounded_input(const Interval& input) {
        const bool is_f32 = static_cast<double>(static_cast<float>(input.low)) == input.low;
        return input.is_exact && !is_f32 ? rounded_outward(input.low, input.high, input.may_be_nan) : input;
    }

    [[nodiscard]] Interval value(const EpilogueNode& node) const {
        using enum EpilogueOperation;
        switch (node.operation) {
            case number: return exactly(node.number);
            case acc: return is_read(parts_.acc_guards, element_) ? column(element_.acc, node) : exactly(0);
            case operand: return operand_value(node);
            case reduced: return reduced_value(node);
            case negate: return -argument(node, 0);
            case add: return argument(node, 0) + argument(node, 1);
            case subtract: return argument(node, 0) - argument(node, 1);
            case multiply: return argument(node, 0) * argument(node, 1);
            case divide: return argument(node, 0) / argument(node, 1);
            case cast: return rounded_to(argument(node, 0), static_cast<DataType>(node.which));
            default: return function_value(node);
        }
    }
    [[nodiscard]] Interval operand_value(const EpilogueNode& node) const {
        const auto place = static_cast<std::size_t>(node.which);
        if (!is_read(parts_.operands[place].guards, element_)) return exactly(0);
        return column(element_.operands[place], node);
    }
    [[nodiscard]] Interval reduced_value(const EpilogueNode& node) const {
        const auto place = static_cast<std::size_t>(node.which);
        return place < element_.reduced.size() ? rounded_input(element_.reduced[place]) : anything();
    }
    [[nodiscard]] Interval function_value(const EpilogueNode& node) const {
        const EpilogueFunction& row = epilogue_functions()[static_cast<std::size_t>(node.which)];
        if (row.kind == FunctionKind::select) return selected(node);
        std::array<Interval, 3> arguments;
        std::size_t count = 0;
        for (const std::int32_t place : arguments_of(node)) arguments.at(count++) = (*this)[place];
        return FunctionOverIntervals(row, std::span(arguments).first(count)).value();
    }
    /// Both values where the condition is undecided.
    [[nodiscard]] Interval selected(const EpilogueNode& node) const {
        const Undecided& condition = conditions_[static_cast<std::size_t>(node.arguments[0])];
        if (!condition.may_fail) return argument(node, 1);
        if (!condition.may_hold) return argument(node, 2);
        return hull(argument(node, 1), argument(node, 2));
    }
    [[nodiscard]] Undecided condition(const EpilogueNode& node) const {
        using enum EpilogueOperation;
        const Interval &left = argument(node, 0), &right = argument(node, 1);
        switch (node.operation) {
            case less: return is_less(left, right);
            case less_equal: return is_less_or_equal(left, right);
            case greater: return is_less(right, left);
            case greater_equal: return is_less_or_equal(right, left);
            case equal: return is_equal(left, right);
            default: break;
        }
        const Undecided equals = is_equal(left, right);
        return {equals.may_fail, equals.may_hold};
    }

    const EpilogueParts& parts_;
    const EpilogueElement& element_;
    // Millions of elements are judged: their nodes stand on the stack.
    std::array<std::byte, 4096> room_;
    std::pmr::monotonic_buffer_resource memory_{room_.data(), room_.size()};
    std::pmr::vector<Interval> values_{&memory_};
    std::pmr::vector<Undecided> conditions_{&memory_};
};

/// The largest power of two that a number is a multiple of; 0 of 0.
double lowest_bit(double value) {
    if (value == 0 || !std::isfinite(value)) return 0;
    int exponent = 0;
    auto digits = static_cast<std::int64_t>(std::ldexp(std::frexp(value, &exponent), 53));
    return std::ldexp(static_cast<double>(digits & -digits), exponent - 53);
}

}  // namespace

bool is_read(const std::vector<int>& guards, const EpilogueElement& element) {
    return std::ranges::none_of(
        guards, [&](int guard) { return element.operands[static_cast<std::size_t>(guard)][0].is_number(0); });
}

std::vector<Interval> epilogue_values(const Epilogue& epilogue, const EpilogueElement& element) {
    const NodeValues nodes(epilogue.parts(), element);
    std::vector<Interval> values;
    for (const EpilogueOutput& output : epilogue.parts().outputs) values.push_back(nodes[output.value]);
    return values;
}

void ReducedValue::add(const Interval& value) {
    if (reduction_.kind == ReductionKind::sum) return add_to_sum(value);
    const auto choose = [&](double left, double right) {
        return reduction_.kind == ReductionKind::max ? std::max(left, right) : std::min(left, right);
    };
    const bool is_first = count_++ == 0;
    const bool may_be_nan = value.may_be_nan || (!is_first && total_.may_be_nan);
    total_ = is_first ? value
                      : Interval{.low = choose(total_.low, value.low),
                                 .high = choose(total_.high, value.high),
                                 .may_be_nan = may_be_nan,
                                 .is_exact = total_.is_exact && value.is_exact};
}

void ReducedValue::add_to_sum(const Interval& value) {
    total_.low += value.low;
    total_.high += value.high;
    total_.may_be_nan |= value.may_be_nan || value.is_empty();
    total_.is_exact &= value.is_exact;
    magnitude_ += std::max(std::fabs(value.low), std::fabs(value.high));
    const double unit = lowest_bit(value.low);
    if (unit != 0) unit_ = unit_ == 0 ? unit : std::min(unit_, unit);
    ++count_;
}

void ReducedValue::add(const ReducedValue& others) {
    if (others.count_ == 0) return;
    if (count_ == 0) return void(*this = others);
    if (reduction_.kind != ReductionKind::sum) {
        add(others.total_);
        count_ += others.count_ - 1;
    } else {
        total_.low += others.total_.low;
        total_.high += others.total_.high;
        total_.may_be_nan |= others.total_.may_be_nan;
        total_.is_exact &= others.total_.is_exact;
        magnitude_ += others.magnitude_;
        if (others.unit_ != 0) unit_ = unit_ == 0 ? others.unit_ : std::min(unit_, others.unit_);
        count_ += others.count_;
    }
}

Interval ReducedValue::sum() const {
    if (total_.is_exact && magnitude_ <= kExactIntegers * unit_) return total_;
    if (std::isnan(total_.low) || std::isnan(total_.high) || std::isinf(magnitude_)) return anything();
    const double steps = std::min(count_, 64 + 2 * std::sqrt(count_));
    const double error = steps * kErrorOfASum * magnitude_;
    return rounded_outward(total_.low - error, total_.high + error, total_.may_be_nan);
}

Interval ReducedValue::result() const {
    const bool is_sum = reduction_.kind == ReductionKind::sum;
    const Interval bare = is_sum ? sum() : total_;
    if (reduction_.is_read_back && reduction_.kind == ReductionKind::max && bare.is_number(0)) return exactly(1);
    const Interval number = exactly(reduction_.number);
    Interval scaled = reduction_.scaled_by == '*' ? bare * number : reduction_.scaled_by == '/' ? bare / number : bare;
    const bool may_be_zero = reduction_.is_read_back && reduction_.kind == ReductionKind::max && bare.contains(0);
    return may_be_zero ? hull(scaled, exactly(1)) : scaled;
}

}  // namespace jitgemm
