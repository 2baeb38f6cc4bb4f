#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/kernel_entry.hpp"
#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// \file Reductions of an epilogue's text to results for rows, for columns and for all of D. A kernel writes their
/// parts into the workspace, and a last entry combines these in a fixed order.

/// The rows and columns of D, as a kernel computes it, that make one part of a reduction.
struct PartTile {
    int rows = 1;
    int columns = 1;
    bool is_transposed = false;  ///< rows and columns are of D^T
    /// The kernel leaves values in the workspace, and another entry makes the parts.
    bool is_of_stored_values = false;
};
/// Of a family whose kernels make no parts themselves.
inline constexpr PartTile kStoredValues{.rows = 32, .columns = 32, .is_transposed = false, .is_of_stored_values = true};

/// A reduction as a kernel makes it, which may compute D^T.
struct KernelReduction {
    std::string name;
    std::string values_of;  ///< the first reduction that goes over the same values
    EpilogueReduction made;
    bool over_rows = false;
    bool over_columns = false;

    [[nodiscard]] bool is_of_all() const { return over_rows && over_columns; }
    /// Whether it has a result for each column.
    [[nodiscard]] bool is_by_column() const { return over_rows && !over_columns; }
};

[[nodiscard]] int count_of_reductions(const GemmSignature& signature);
[[nodiscard]] inline bool has_reductions(const GemmSignature& signature) { return count_of_reductions(signature) != 0; }
/// In the text's order.
[[nodiscard]] std::vector<KernelReduction> reductions_of(const GemmSignature& signature, bool is_transposed);

/// "Sum", the type in templates/reduction/ that combines two values.
[[nodiscard]] std::string_view combiner_of(ReductionKind kind);

/// Bytes of the parts of all reductions in the workspace.
[[nodiscard]] std::int64_t part_bytes(const Problem& problem, const PartTile& tile);

/// The time of the entries that reduce, about. It was not fitted.
[[nodiscard]] double reduction_us(const Problem& problem, const PartTile& tile, const GpuModel& gpu);

/// Adds the pointer to the parts to each entry, and the entries that make parts of stored values and combine them.
void add_reducing_entries(std::vector<KernelEntry>& entries, const PartTile& tile);

/// Adds to the generated text of a kernel: where parts lie, behind its arguments, and these entries, behind the
/// function `finish`.
void add_reductions(RenderInput& input, const GemmSignature& signature, const PartTile& tile);

}  // namespace jitgemm
