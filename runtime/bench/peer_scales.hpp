#pragma once

#include "jitgemm/device_pointer.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/bench/cublaslt_abi.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/verify/guarded_matrix.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace jitgemm {

/// \file A text's scales of blocks of K as cuBLASLt reads them.

/// The array of a text and that of cuBLASLt, in elements. A line is a row of A or a column of B, or a block of 128.
struct ScaleLayout {
    std::int64_t lines = 0;
    std::int64_t blocks = 0;                     ///< of K
    std::int64_t from_line = 0, from_block = 0;  ///< distances in the text's array
    std::int64_t to_line = 0, to_block = 0;      ///< distances in cuBLASLt's

    /// cuBLASLt's array with its padding.
    [[nodiscard]] std::int64_t elements() const { return to_line == 1 ? blocks * to_block : lines * to_line; }
};

/// The scales for blocks of A or B in a spec's text; null if the text has none.
[[nodiscard]] const GemmOperand* find_block_scale(const OperandList& operands, bool of_a);
[[nodiscard]] cublaslt::ScaleMode scale_mode(const GemmOperand& scale);
/// 1x128: lines lie side by side. 128x128: blocks of K lie side by side, and lines begin at multiples of 4.
[[nodiscard]] ScaleLayout scale_layout(const GemmOperand& scale);
/// Why cuBLASLt does not serve the scales of blocks of K in a spec's text; empty if it does, or if there are none.
[[nodiscard]] std::string unserved_block_scales(const GemmSpec& resolved_spec);

/// Copies of scales in cuBLASLt's layout: one for each array that launches read.
class PeerScales {
public:
    PeerScales(ContextState& context, const ScaleLayout& layout);

    /// Copies an array of the text's, once more if it has been copied before. Returns when it is done.
    void prepare(DevicePointer of_text);
    /// The copy. Throws Error if there is none.
    [[nodiscard]] DevicePointer copy_of(DevicePointer of_text) const;

private:
    std::shared_ptr<Device> device_;
    ScaleLayout layout_;
    Function function_;
    std::map<std::uint64_t, DeviceMemory> copies_;  ///< by the address of the text's array
};

}  // namespace jitgemm
