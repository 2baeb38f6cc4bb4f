#pragma once

#include "runtime/bench/benchmark.hpp"
#include "runtime/bench/cublaslt_abi.hpp"
#include "runtime/bench/peer_epilogue.hpp"

#include <array>
#include <cstdint>
#include <memory>

namespace jitgemm {

/// A problem in cuBLAS's words, where every matrix is column-major. A row-major D is the column-major D^T = B^T · A^T:
/// cuBLAS's A is then our B, and its B is our A.
struct ColumnMajorProblem {
    struct Stored {
        cublaslt::CudaType type{};
        std::int64_t rows = 0;  ///< as stored column-major: the contiguous extent
        std::int64_t columns = 0;
        std::int64_t leading_dimension = 0;
        cublaslt::Operation operation = cublaslt::Operation::none;
        std::uint32_t alignment = 256;  ///< bytes to which its pointer is aligned at least
        std::int64_t batch_stride = 0;  ///< elements from a problem's matrix to the next one's
    };
    Stored a, b, c, d;
    /// The type of a bias, a vector that is added to every column of D: a C of one row, or an operand of a text.
    std::optional<cublaslt::CudaType> bias;
    cublaslt::EpilogueCode epilogue = cublaslt::EpilogueCode::none;
    bool reads_c = false;  ///< else `c` is D
    cublaslt::ComputeType compute{};
    cublaslt::CudaType scale{};  ///< type of alpha and beta
    cublaslt::ScaleMode scale_a{}, scale_b{};
    bool adds_fast = false;  ///< of 8-bit floats: FAST_ACCUM, as sums=fast
    bool swapped = false;    ///< cuBLAS's A is our B
    std::int64_t batch = 1;

    [[nodiscard]] bool has_scales() const { return scale_a != cublaslt::ScaleMode::scalar; }
};
/// `form` says how cuBLASLt computes the spec's text, if it has one.
[[nodiscard]] ColumnMajorProblem column_major_problem(const GemmSpec& resolved_spec,
                                                      const std::optional<CublasLtEpilogue>& form = std::nullopt);

/// alpha or beta in cuBLAS's scale type.
[[nodiscard]] std::array<std::uint32_t, 1> scale_value(cublaslt::CudaType scale, float value);

/// The peer "cublaslt".
[[nodiscard]] std::unique_ptr<Peer> open_cublaslt(ContextState& context);

}  // namespace jitgemm
