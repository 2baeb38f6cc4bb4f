#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/renderer.hpp"
#include "generator/families/shared/add_statement.hpp"

namespace jitgemm {

/// \file Statements of the templates that differ from kernel to kernel in a few words. Each file of these has a table
/// for each template, in the order of its lines.

/// What the tables ask of a kernel, as it multiplies.
struct KernelTraits {
    DataType a = DataType::bf16, d = DataType::bf16, accumulator = DataType::f32;
    bool in_cluster = false;
    bool batched = false;       ///< a tile belongs to one of many problems
    bool grouped = false;       ///< which are groups of rows
    bool grouped_by_k = false;  ///< or have parts of K
    bool gathered = false;
    bool symmetric = false;
    bool swap_ab = false;
    bool overlapped = false;
    bool stream_k = false;
    bool a_in_registers = false;
    bool promoted = false;
    bool exact_sums = false;  ///< D holds the sums as they are
    bool has_parts = false;
    bool has_tf32_parts = false;
    bool has_pairs = false;
    bool has_scales = false;         ///< of blocks of K
    bool scales_by_threads = false;  ///< which a warp copies
    bool has_panels = false;         ///< of a tile operand, in the ring
    bool prefetches_panels = false;
    bool reads_slices = false;  ///< of operands that lie in global memory
    bool has_reductions = false;
    bool has_block_reductions = false;
    bool stages_outputs = false;  ///< beside D
    bool stores_by_tma = false;
    bool has_rest = false;     ///< the last slice of a row is narrower
    bool shifts_rows = false;  ///< rows of D begin between vectors
    int vector_bytes = 0;      ///< of a row of D that a thread stores at once
    bool stmatrix_x4 = false, stmatrix_x2 = false, stmatrix_x1 = false;

    [[nodiscard]] bool has_8_bits() const { return bytes(d) == 1; }  ///< elements of D
    /// The edge of D may cut a vector. Rows of 8-bit elements are whole vectors.
    [[nodiscard]] bool cuts_vectors() const { return bytes(d) == 2 || (bytes(d) == 4 && vector_bytes > 4); }
};

/// Of the kernel, its shared memory and its operands there.
void add_kernel_statements(RenderInput& input, const KernelTraits& k);
/// Of the warpgroups that multiply.
void add_consumer_statements(RenderInput& input, const KernelTraits& k);
/// Of the warps that copy.
void add_producer_statements(RenderInput& input, const KernelTraits& k);
/// Of the order of tiles.
void add_walk_statements(RenderInput& input, const KernelTraits& k);
/// Of slices on their way from sums to D.
void add_slice_statements(RenderInput& input, const KernelTraits& k);

}  // namespace jitgemm
