#include "generator/layout/wmma_atom.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr TileShape kShapes[] = {{16, 16, 16}, {32, 8, 16}, {8, 32, 16}};
constexpr std::size_t kTypeCount = 3;

constexpr auto kAtoms = [] {
    std::array<WmmaAtom, kTypeCount * std::size(kShapes)> atoms{};
    std::size_t row = 0;
    for (const TileShape& shape : kShapes) {
        atoms[row++] = {shape, MmaType::f16, MmaType::f16};
        atoms[row++] = {shape, MmaType::f16, MmaType::f32};
        atoms[row++] = {shape, MmaType::bf16, MmaType::f32};
    }
    return atoms;
}();

}  // namespace

int WmmaAtom::elements(Operand operand) const { return wmma_elements(shape, operand, type); }

int WmmaAtom::registers(Operand operand) const {
    return elements(operand) * bits(operand == Operand::c ? accumulator : type) / 32;
}

std::span<const WmmaAtom> wmma_atom_table() { return kAtoms; }

const WmmaAtom* find_wmma_atom(TileShape shape, DataType a, DataType b, DataType accumulator) {
    if (a != b) return nullptr;
    for (const WmmaAtom& atom : kAtoms)
        if (atom.shape == shape && atom.type == mma_type(a) && atom.accumulator == mma_type(accumulator)) return &atom;
    return nullptr;
}

}  // namespace jitgemm
