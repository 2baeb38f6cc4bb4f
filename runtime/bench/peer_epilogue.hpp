#pragma once

#include "generator/epilogue/epilogue.hpp"
#include "jitgemm/data_type.hpp"
#include "jitgemm/epilogue.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/bench/cublaslt_abi.hpp"

#include <optional>
#include <string>

namespace jitgemm {

/// \file The texts that a peer computes in its own kernels, and the texts that judge its results.

/// A text that cuBLASLt computes in its own kernel: activation(alpha · acc + beta · c[m,n] + bias[n]). Its bias has an
/// element for each element of a line of D: [n] where D is row-major, [m] where it is column-major. Of 8-bit floats acc
/// may have two more factors: vectors [m] and [n], or scales of blocks of K for A and for B.
struct CublasLtEpilogue {
    /// A number, or a scalar of the launch.
    struct Factor {
        float number = 1;
        std::string scalar = {};
        [[nodiscard]] float value(const GemmArguments& arguments) const;
    };
    enum class Activation : std::uint8_t { none, relu, gelu };

    Activation activation = Activation::none;
    Factor alpha = {};
    Factor beta = {};
    std::string c = {};                             ///< name of the matrix that is added; "": none
    std::string bias = {};                          ///< name of the vector that is added; "": none
    std::string row_scale = {}, column_scale = {};  ///< names of the scales of A's rows and of B's columns; "": none
    bool scales_blocks = false;                     ///< of K

    [[nodiscard]] cublaslt::EpilogueCode code() const;
    /// "gelu_bias"; with C "gelu_bias + c".
    [[nodiscard]] std::string name() const;
};
[[nodiscard]] std::optional<CublasLtEpilogue> cublaslt_epilogue(const Epilogue& epilogue, Order d_order);

/// The text for sums that were stored in a type before: `bf16(acc)` in place of acc.
[[nodiscard]] Epilogue with_rounded_sums(const Epilogue& epilogue, DataType type);

/// The text with the fast form of gelu: cuBLASLt documents no error of its own.
[[nodiscard]] Epilogue with_fast_gelu(const Epilogue& epilogue);

}  // namespace jitgemm
