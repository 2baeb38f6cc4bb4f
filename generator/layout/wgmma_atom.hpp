#pragma once

#include "generator/layout/mma_atom.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// Bytes along K of a row of A or B that one wgmma multiplies, for every type.
inline constexpr int kWgmmaRowBytes = 32;

/// One warpgroup instruction: C (64×N) += A (64×K) · B (N×K), where a row of K has kWgmmaRowBytes. B lies in shared
/// memory, which all 128 threads share. So does A, unless it is in registers.
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

/// The form of one of these names, or nothing. PTX's names do not say where A lies: they mean shared memory.
[[nodiscard]] std::optional<WgmmaForm> find_wgmma(std::string_view name);

/// The form with these operand types and this n, or nothing. B comes from shared memory, and so does A unless the
/// caller says otherwise.
[[nodiscard]] std::optional<WgmmaForm> wgmma_form(DataType a, DataType b, DataType accumulator, int n,
                                                  bool a_in_registers = false);

/// The k of a wgmma that multiplies elements of this type: 16 for 16 bits, 32 for 8 bits.
[[nodiscard]] inline int wgmma_k(DataType operands) { return kWgmmaRowBytes / bytes(operands); }

[[nodiscard]] MmaAtom wgmma_atom(const WgmmaForm& form);

}  // namespace jitgemm
