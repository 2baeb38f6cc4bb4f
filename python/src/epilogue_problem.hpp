#pragma once

#include "jitgemm/epilogue.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "python/src/epilogue_arrays.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace jitgemm::python {

/// An epilogue's operands must fit these: the caller's result, and D of the product.
struct ResultPlace {
    std::span<const std::int64_t> shape;  ///< of the result
    bool has_rows, has_columns;           ///< the result's last dimensions are rows and columns
    bool is_folded;                       ///< the result's leading dimensions are rows of D
    std::size_t batch_rank;               ///< the result's leading dimensions that are a batch
    std::int64_t batch;                   ///< their problems
    std::size_t outer_rank;               ///< the first of these dimensions, which are the outer one of the batch
    bool is_one_launch;                   ///< the batch is that of a launch, with two dimensions at most
    std::int64_t groups;                  ///< of rows; 0: none
    std::int64_t m, n, k;                 ///< of the product
    std::int64_t columns;                 ///< of D: n, or the pairs that an epilogue makes of them
    DataType type;
    Order order;
};

/// The order of the first matrix that has only one. A D of one row or column has both, and takes that order.
[[nodiscard]] std::optional<Order> order_of_matrices(const EpilogueArrays& arrays, const ResultPlace& d);

/// The text for the problem: types and leading dimensions are those of the arrays. Adds a reason for each array that
/// does not fit. Throws SpecError for a text that breaks a rule.
[[nodiscard]] EpilogueText epilogue_text(const EpilogueArrays& arrays, const ResultPlace& d,
                                         std::vector<std::string>& reasons);

}  // namespace jitgemm::python
