#pragma once

#include "generator/layout/mma_atom.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// What one wgmma multiplies of a row of A or B along K, whatever the type.
inline constexpr int kWgmmaRowBytes = 32;

/// One warpgroup instruction: C (64×N) += A (64×K) · B (N×K), K being kWgmmaRowBytes. B, and A unless it is in
/// registers, lie in shared memory, which all 128 threads share.
struct WgmmaForm {
    int n = 8;  ///< 8 to 256 in steps of 8; integers beyond 32 in steps of 16
    MmaType a = MmaType::f16;
    MmaType b = MmaType::f16;
    MmaType accumulator = MmaType::f32;
    bool a_in_registers = false;
    bool saturates = false;
};

/// Every form that PTX and CuTe have (1,056 of them).
[[nodiscard]] std::vector<WgmmaForm> wgmma_forms();

[[nodiscard]] std::string wgmma_cute_name(const WgmmaForm& form);  ///< "SM90_64x64x16_F32F16F16_SS"
[[nodiscard]] std::string wgmma_ptx_name(
    const WgmmaForm& form);  ///< "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16"
[[nodiscard]] std::string wgmma_short_name(const WgmmaForm& form);  ///< "wgmma.m64n64k16.f32.f16.f16"

/// The form of one of these names, or nothing. PTX's names leave open where A lies: they mean shared memory.
[[nodiscard]] std::optional<WgmmaForm> find_wgmma(std::string_view name);

/// The form that multiplies two such operands, B and unless told otherwise A from shared memory, with that n, or
/// nothing.
[[nodiscard]] std::optional<WgmmaForm> wgmma_form(DataType operands, DataType accumulator, int n,
                                                  bool a_in_registers = false);

/// The k of a wgmma that multiplies elements of this type: 16 of 16 bits, 32 of 8.
[[nodiscard]] inline int wgmma_k(DataType operands) { return kWgmmaRowBytes / bytes(operands); }

[[nodiscard]] MmaAtom wgmma_atom(const WgmmaForm& form);

}  // namespace jitgemm
