#pragma once

#include "generator/epilogue/epilogue.hpp"
#include "runtime/verify/interval.hpp"

#include <array>
#include <vector>

namespace jitgemm {

/// \file An epilogue's results for one element of D, from its canonical form and from nothing that a kernel is made of.

/// The inputs of an element's results.
struct EpilogueElement {
    /// One value, or those of the two columns of a pair.
    using Columns = std::array<Interval, 2>;

    Columns acc{};
    std::vector<Columns> operands;       ///< as parts().operands; the second is used where both columns differ
    std::vector<Interval> reduced = {};  ///< as parts().outputs: results of reductions that are read back
};

/// The value of each output before it is rounded to its type; of a reduction, what this element adds to it. A guarded
/// operand counts as 0 where its scalar is 0, whatever it holds. Without `reduced`, what needs it may be anything.
[[nodiscard]] std::vector<Interval> epilogue_values(const Epilogue& epilogue, const EpilogueElement& element);

/// Whether a launch reads an operand, for these scalars.
[[nodiscard]] bool is_read(const std::vector<int>& guards, const EpilogueElement& element);

/// A reduction's result, for its values in any order. A kernel adds in blocks: each value passes through at most
/// 64 + 2 sqrt(count) additions on its way to the sum.
class ReducedValue {
public:
    explicit ReducedValue(const EpilogueReduction& reduction) : reduction_(reduction) {}
    void add(const Interval& value);
    /// Adds what other values of the same reduction give.
    void add(const ReducedValue& others);
    [[nodiscard]] Interval result() const;

private:
    void add_to_sum(const Interval& value);
    [[nodiscard]] Interval sum() const;

    EpilogueReduction reduction_;
    Interval total_ = exactly(0);
    double magnitude_ = 0;  ///< sum of the largest absolute values
    double unit_ = 0;       ///< the largest power of two that all values are multiples of; 0: all are 0
    double count_ = 0;
};

}  // namespace jitgemm
