#pragma once

#include "generator/data_type.hpp"
#include "generator/tile_shape.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace jitgemm {

enum class Operand : std::uint8_t { a, b, c };
[[nodiscard]] std::string_view to_string(Operand operand);  ///< "A", "B", "C"

/// An element of an operand: (m, k) of A, (n, k) of B, (m, n) of C.
struct Coordinate {
    int row = 0;
    int column = 0;
    friend bool operator==(const Coordinate&, const Coordinate&) = default;
};

/// Which element a thread's value is: a CuTe layout (thread, value) → row + column · rows, such as
/// ((4,8),(2,2,2)):((32,1),(16,8,128)). Modes of extent 1 fill up where an operand has fewer.
struct TvLayout {
    std::array<int, 2> thread_shape;
    std::array<int, 2> thread_stride;
    std::array<int, 3> value_shape;
    std::array<int, 3> value_stride;
    int rows;  ///< extents of the operand: M or N, and K or N
    int columns;

    [[nodiscard]] int threads() const;
    [[nodiscard]] int values() const;
    [[nodiscard]] int index(int thread, int value) const;
    [[nodiscard]] Coordinate coordinate(int thread, int value) const;
};

/// A thread and one of its values.
struct ThreadValue {
    int thread = 0;
    int value = 0;
    friend bool operator==(const ThreadValue&, const ThreadValue&) = default;
};

/// The inverse: who holds the element. The coordinate lies inside the operand.
[[nodiscard]] ThreadValue owner_of(const TvLayout& layout, Coordinate coordinate);

/// One tensor-core instruction. A and C are row-major fragments, B is "col", as the PTX name says; all values of a thread
/// lie in its 32-bit registers in the order of the value index.
struct MmaAtom {
    std::string_view ptx_name;    ///< "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"
    std::string_view cute_name;   ///< "SM80_16x8x16_F32BF16BF16F32_TN"
    std::string_view cute_alias;  ///< a second name CuTe has for it, or ""
    TileShape shape;
    DataType a;
    DataType b;
    DataType accumulator;
    int first_compute_capability;
    TvLayout layout_a;  ///< (m, k)
    TvLayout layout_b;  ///< (n, k)
    TvLayout layout_c;  ///< (m, n)

    [[nodiscard]] const TvLayout& layout(Operand operand) const;
    [[nodiscard]] DataType type(Operand operand) const;
    [[nodiscard]] int registers(Operand operand) const;  ///< 32-bit registers a thread holds of it
};

[[nodiscard]] std::span<const MmaAtom> mma_atom_table();

/// The instruction of that shape and types, or null.
[[nodiscard]] const MmaAtom* find_mma_atom(TileShape shape, DataType a, DataType b, DataType accumulator);

/// The instruction of that PTX or CuTe name, or null. The short PTX form, "mma.m16n8k16.f32.bf16.bf16.f32", will do.
[[nodiscard]] const MmaAtom* find_mma_atom(std::string_view name);

}  // namespace jitgemm
