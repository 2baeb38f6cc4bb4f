#pragma once

#include "generator/base/tile_shape.hpp"
#include "generator/layout/mma_type.hpp"
#include "generator/layout/tv_layout.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

inline constexpr int kRegisterBits = 32;

enum class Operand : std::uint8_t { a, b, c };
[[nodiscard]] std::string_view to_string(Operand operand);  ///< "A", "B", "C"

/// One tensor-core instruction, and the thread that holds each element. A and C are row-major fragments, and B is
/// "col", as the PTX name says. All values of a thread lie in its registers in the order of the value index. Layouts
/// map (thread, value) to the column-major index in A (m, k), B (n, k) or C (m, n).
struct MmaAtom {
    std::string cute_name;        ///< "SM80_16x8x16_F32BF16BF16F32_TN"; empty if CuTe has none
    std::string cute_alias = {};  ///< a second name CuTe has for it, or ""
    std::string ptx_name;         ///< "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
    std::string short_name;       ///< the PTX name without its common parts: "mma.m16n8k16.f32.bf16.bf16.f32"
    TileShape shape;
    MmaType a;
    MmaType b;
    MmaType accumulator;
    int first_compute_capability;
    TvLayout layout_a;
    TvLayout layout_b;
    TvLayout layout_c;
    bool saturates = false;    ///< integer sums stop at the ends of their range
    bool a_in_shared = false;  ///< wgmma reads A from shared memory: A then takes no registers
    bool b_in_shared = false;

    [[nodiscard]] const std::string& name() const { return cute_name.empty() ? short_name : cute_name; }
    [[nodiscard]] int threads() const { return layout_c.threads(); }  ///< 32, wgmma 128
    [[nodiscard]] const TvLayout& layout(Operand operand) const;
    [[nodiscard]] MmaType type(Operand operand) const;
    [[nodiscard]] bool in_shared(Operand operand) const;
    [[nodiscard]] int registers(Operand operand) const;  ///< 32-bit registers a thread holds of it
    [[nodiscard]] std::string first_arch() const;        ///< "sm_80", "sm_90a"
};

/// Every mma.sync this project knows, parsed once.
[[nodiscard]] std::span<const MmaAtom> mma_atom_table();

/// The mma.sync of this shape and types that does not saturate, or null.
[[nodiscard]] const MmaAtom* find_mma_atom(TileShape shape, DataType a, DataType b, DataType accumulator);

/// The mma.sync of this name, or null. Names are CuTe's, PTX's (with `.satfinite` as in the PTX ISA or in CuTe), or
/// PTX's short form.
[[nodiscard]] const MmaAtom* find_mma_atom(std::string_view name);

/// The mma.sync or wgmma of this name. PTX's name of a wgmma does not say where A lies: it means shared memory. Throws
/// LayoutError, with the nearest name, for any other name.
[[nodiscard]] MmaAtom mma_atom(std::string_view name);

/// Every name that mma_atom knows: CuTe's, or PTX's short one if CuTe has none.
[[nodiscard]] std::vector<std::string> mma_atom_names();

}  // namespace jitgemm
