#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm {

/// Elements along K, and along m or n, that one scale of blocks is for.
inline constexpr int kScaledBlock = 128;

/// Columns of a row of D that an output for blocks may have one element for.
inline constexpr std::array kBlockColumns{32, 64, 128};

/// A place of an index: the name of a size (m, n, k, or h for pairs of columns), over the edge of a block.
struct EpiloguePlace {
    char size = 'm';
    int over = 1;

    friend bool operator==(const EpiloguePlace&, const EpiloguePlace&) = default;
};

/// The index of an operand or output: "[m,n/128]". It alone says of what kind the operand is, its shape never does.
/// Neither row nor column: "[0]" or "[b]", one element. With k it is a scale for blocks of A or of B, and its last
/// place is the contiguous one: "[m,k/128]" has k-blocks side by side, "[k/128,m]" has rows of A side by side.
struct EpilogueIndex {
    std::optional<EpiloguePlace> row;
    std::optional<EpiloguePlace> column;
    bool of_problem = false;  ///< b: each problem of a batch has its own

    [[nodiscard]] bool is_element() const { return !row && !column; }
    /// The place that names a size; of two, the first.
    [[nodiscard]] std::optional<EpiloguePlace> place_of(char size) const {
        return row && row->size == size ? row : column && column->size == size ? column : std::nullopt;
    }
    /// A factor of the products of a block of K.
    [[nodiscard]] bool has_k() const { return place_of('k').has_value(); }
    [[nodiscard]] bool is_over_blocks() const { return (row && row->over > 1) || (column && column->over > 1); }
    /// One element for each of D.
    [[nodiscard]] bool is_matrix() const { return row && column && !is_over_blocks(); }
    friend bool operator==(const EpilogueIndex&, const EpilogueIndex&) = default;
};

/// "m,n/128", "b,m,n"; "0" for one element.
[[nodiscard]] std::string to_string(const EpilogueIndex& index);
/// "bias[n]".
[[nodiscard]] std::string with_index(std::string_view name, const EpilogueIndex& index);

/// m and n exchanged, and with them rows and columns, but for the order of places beside k. h stays h, and becomes the
/// row of a pair.
[[nodiscard]] EpilogueIndex transposed(const EpilogueIndex& index);

}  // namespace jitgemm
