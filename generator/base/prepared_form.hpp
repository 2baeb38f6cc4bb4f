#pragma once

#include "generator/base/packed_operand.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <cstdint>
#include <string>

namespace jitgemm {

/// The form in which kernels read a prepared operand. It follows from the operand alone, so that kernels for other
/// sizes of the other operand, other tiles and other outputs take the same. A line is a row of A or a column of B.
struct PreparedForm {
    DataType type = DataType::bf16;
    Math parts = Math::ieee;  ///< of a copy of f32 in parts; factors of its lines lie behind it, if they are scaled
    bool is_k_major = true;   ///< elements of a line are neighbours
    std::int64_t lines = 0;
    std::int64_t k = 0;
    std::int64_t pitch = 0;  ///< elements from one line to the next; if not is_k_major, from one k to the next

    friend bool operator==(const PreparedForm&, const PreparedForm&) = default;
};
/// "e4m3, 4096 lines of k=7168, K contiguous, pitch 7168", "f32 in parts of f16x3, 4096 lines of k=512".
[[nodiscard]] std::string to_string(const PreparedForm& form);

/// How Prepared::a or Prepared::b is prepared.
struct Preparation {
    PreparedForm form;
    bool copies = false;  ///< else kernels read the operand as it lies
    PackedOperand copy{};

    [[nodiscard]] std::int64_t bytes() const { return copies ? copy.workspace_bytes() : 0; }
};
[[nodiscard]] Preparation preparation_of(Prepared operand, const GemmSpec& resolved);

/// The spec of launches that take prepared operands. Their copies are matrices as others are, with a layout, a pitch
/// and an alignment. Operands in parts are no matrices, so the spec keeps `prepared` for them.
[[nodiscard]] GemmSpec as_prepared(const GemmSpec& resolved);

}  // namespace jitgemm
