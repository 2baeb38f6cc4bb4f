#pragma once

#include "generator/layout/layout.hpp"

#include <vector>

namespace jitgemm {

/// An element of an operand: (m, k) of A, (n, k) of B, (m, n) of C.
struct Coordinate {
    int row = 0;
    int column = 0;
    friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

/// A thread and one of its values.
struct ThreadValue {
    int thread = 0;
    int value = 0;
    friend bool operator==(const ThreadValue&, const ThreadValue&) = default;
};

/// The element of a matrix that is a thread's value: a layout (thread, value) → row + column · rows, for example
/// ((4,8),(2,2,2)):((32,1),(16,8,128)) for 16 rows. Frequent results are computed in advance. Threads may share
/// elements (stride 0).
class TvLayout {
public:
    TvLayout() : TvLayout(parse_layout("(1,1):(0,0)"), 1, 1) {}
    /// Throws LayoutError if the layout is not of rank 2, reaches beyond rows · columns, or if these exceed 2^26.
    TvLayout(Layout layout, int rows, int columns);

    [[nodiscard]] const Layout& layout() const { return layout_; }
    [[nodiscard]] int rows() const { return rows_; }
    [[nodiscard]] int columns() const { return columns_; }
    [[nodiscard]] int threads() const { return static_cast<int>(threads_.size()); }
    [[nodiscard]] int values() const { return static_cast<int>(values_.size()); }

    [[nodiscard]] int index(int thread, int value) const {
        return threads_[static_cast<std::size_t>(thread)] + values_[static_cast<std::size_t>(value)];
    }
    [[nodiscard]] Coordinate coordinate(int thread, int value) const;

    /// (row, column) → thread + value · threads. If threads share an element, it names the first one. Throws
    /// LayoutError if an element has no owner, so that there is no inverse.
    [[nodiscard]] Layout inverse() const;

private:
    Layout layout_;
    int rows_;
    int columns_;
    std::vector<int> threads_;  ///< a thread's part of the index
    std::vector<int> values_;   ///< a value's part of the index
};

/// The thread and value that hold the element. The coordinate lies inside the operand.
[[nodiscard]] ThreadValue owner_of(const TvLayout& layout, Coordinate coordinate);

}  // namespace jitgemm
