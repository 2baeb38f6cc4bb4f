#pragma once

#include "generator/epilogue/epilogue.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <optional>

namespace jitgemm {

/// The part of the problem that a kernel must know at compile time; m, n, k and leading dimensions stay run-time
/// arguments. It describes Problem::row_major.
struct GemmSignature {
    GemmLayout layout = GemmLayout::tn;
    DataType a = DataType::bf16;
    DataType b = DataType::bf16;
    std::optional<DataType> c;
    DataType d = DataType::bf16;
    DataType accumulator = DataType::f32;
    int align_a = 16;  ///< bytes
    int align_b = 16;
    /// Bytes of D. If C or a matrix of the epilogue is less aligned, the bytes of as many elements of D as its
    /// alignment allows.
    int align_d = 16;
    Math math = Math::ieee;
    Prepared prepared = Prepared::none;               ///< of copies in parts: those that a launch does not make
    bool batched = false;                             ///< takes batch strides, and any number of problems
    bool nested = false;                              ///< batched, along two dimensions
    bool pointers = false;                            ///< batched, and takes arrays of addresses in place of strides
    bool grouped = false;                             ///< batched, and the problems are groups of rows
    bool grouped_by_k = false;                        ///< batched, and each problem has a part of K
    bool symmetric = false;                           ///< B is A transposed, and half of D's elements are computed
    bool gathered = false;                            ///< grouped, and an index names the rows of A
    std::optional<Epilogue> epilogue = std::nullopt;  ///< unset: alpha · acc + beta · C

    friend bool operator==(const GemmSignature&, const GemmSignature&) = default;
};

/// The columns of the product that the epilogue makes one of.
[[nodiscard]] inline EpiloguePairs pairs_of(const GemmSignature& signature) {
    return signature.epilogue ? signature.epilogue->parts().pairs : EpiloguePairs::none;
}
[[nodiscard]] inline bool has_pairs(const GemmSignature& signature) {
    return pairs_of(signature) != EpiloguePairs::none;
}

[[nodiscard]] inline bool has_block_scales(const GemmSignature& signature) {
    return signature.epilogue && has_block_scales(signature.epilogue->parts());
}

[[nodiscard]] inline bool has_blocks_of_d(const GemmSignature& signature) {
    return signature.epilogue && !outputs_for_blocks(signature.epilogue->parts()).empty();
}

/// D holds the sums as they are: integers of 32 bits, which f32 can't hold.
[[nodiscard]] inline bool has_exact_sums(const GemmSignature& signature) {
    return signature.d == DataType::s32 && !signature.epilogue;
}

}  // namespace jitgemm
