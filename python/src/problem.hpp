#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "python/src/epilogue_arrays.hpp"
#include "python/src/operand.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm::python {

/// The arrays of a product and what is asked of it; C and out may be absent. With accumulate C is out.
struct Arrays {
    Operand a, b, c, out;
    Operand offsets;                 ///< of groups of A's rows, or of K: where they end
    Operand rows;                    ///< of A, in the order of the result's
    std::int64_t expected_rows = 0;  ///< of a group; 0: unknown
    bool accumulates = false;
    bool is_symmetric = false;         ///< there is no b: it is a transposed
    std::optional<DataType> out_type;  ///< of a result that is to be made; nothing: the usual
    Determinism deterministic = Determinism::run_to_run;
    Summation sums = Summation::usual;
    Math math = Math::ieee;
    std::unique_ptr<EpilogueArrays> epilogue;  ///< null: alpha * (a @ b) + beta * c

    /// Calls `visit` with each array that there may be.
    template <typename Visit>
    void for_each(Visit visit) const {
        for (const Operand* operand : {&a, &b, &c, &out, &offsets, &rows}) visit(*operand);
        if (!epilogue) return;
        for (const EpilogueArray& operand : epilogue->operands) visit(operand.array);
        for (const EpilogueArray& output : epilogue->outputs) visit(output.array);
    }
    [[nodiscard]] bool has_c() const { return c.given() || accumulates; }
};

/// A copy of C that kernels read, of one that none reads as it lies.
struct CopyOfC {
    std::vector<std::int64_t> shape;  ///< the result's, but 1 where one element stands for all of a dimension
    bool by_column = false;           ///< its columns are contiguous
};

/// A dimension of a batch whose products take a launch each: how many there are, and the elements from one to the next.
struct LaunchDimension {
    std::int64_t size = 1;
    std::array<std::int64_t, 4> strides{};  ///< of a, b, c and the result
    std::size_t behind = 0;                 ///< of the result's dimensions, the first one behind this one
};

/// The problem of the arrays, by numpy's rules for matmul. Two dimensions are a matrix, and more are a batch of
/// matrices. One is a row of A or a column of B.
struct Problem {
    GemmSpec spec;                          ///< of one launch: of a product, or of a batch of them
    std::int64_t batch = 1;                 ///< products in all
    std::vector<LaunchDimension> launches;  ///< further dimensions of the batch, beyond the two of a launch
    std::vector<std::int64_t> shape;        ///< of the result
    DataType type = DataType::bf16;         ///< of the result
    std::optional<CopyOfC> copy_of_c;       ///< the spec is that of a C copied so
    [[nodiscard]] bool is_empty() const { return spec.m == 0 || spec.n == 0 || batch == 0; }
};

/// Strides become layouts and leading dimensions, addresses alignments: nothing is copied. Leading dimensions that A
/// and the result have and B has not are rows of one product where they lie so. All others are a batch. A C that is one
/// row, repeated at a stride of 0 (a bias, broadcast), is asked for as that; one that no kernel reads is to be copied.
/// `like`: where an array could be read either way (one row, one column), it is as there. Throws OperandError with all
/// that stands against it.
[[nodiscard]] Problem problem_of(const Arrays& arrays, const GemmSpec* like = nullptr);

/// All that problem_of looks at, as words to hash.
class ProblemKey {
public:
    explicit ProblemKey(const Arrays& arrays);

    friend bool operator==(const ProblemKey& left, const ProblemKey& right) {
        return left.bytes() == right.bytes() && left.of_epilogue_ == right.of_epilogue_;
    }
    [[nodiscard]] std::size_t hash() const {
        std::size_t sum = std::hash<std::string_view>{}(bytes());
        for (const std::int64_t word : of_epilogue_) sum = sum * 31 + static_cast<std::size_t>(word);
        return sum;
    }

private:
    [[nodiscard]] std::string_view bytes() const {
        return {reinterpret_cast<const char*>(words_.data()), count_ * sizeof(std::int64_t)};
    }

    void add(const EpilogueArrays& epilogue);

    static constexpr std::size_t kWordsAnOperand = 1 + 2 * static_cast<std::size_t>(kMaxRank);
    std::array<std::int64_t, 1 + 4 * kWordsAnOperand> words_;  // NOLINT: what is used is written
    std::size_t count_ = 0;
    std::vector<std::int64_t> of_epilogue_;  ///< its formula, and the same of its arrays; empty without one
};

}  // namespace jitgemm::python

template <>
struct std::hash<jitgemm::python::ProblemKey> {
    std::size_t operator()(const jitgemm::python::ProblemKey& key) const noexcept { return key.hash(); }
};
