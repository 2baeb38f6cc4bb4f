#include "runtime/emulator/mma_fragments.hpp"

#include "generator/layout/wmma_atom.hpp"
#include "jitgemm/error.hpp"
#include "runtime/emulator/mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace jitgemm::emulator {
namespace {

constexpr int kRegisterBits = 32;

// ---- the instructions -----------------------------------------------------------------------------------------------

void add_pairs(std::vector<MmaKind>& kinds, int m, int k, std::array<MmaType, 2> types, MmaType sum) {
    for (const MmaType a : types)
        for (const MmaType b : types) kinds.push_back({m, 8, k, a, b, sum, sum});
}

std::vector<MmaKind> build_mma_kinds() {
    using enum MmaType;
    std::vector<MmaKind> kinds;
    for (const int k : {8, 16}) {
        kinds.push_back({16, 8, k, f16, f16, f16, f16});
        kinds.push_back({16, 8, k, f16, f16, f32, f32});
        kinds.push_back({16, 8, k, bf16, bf16, f32, f32});
    }
    for (const int k : {4, 8}) kinds.push_back({16, 8, k, tf32, tf32, f32, f32});
    for (const int k : {16, 32}) {
        add_pairs(kinds, 16, k, {e4m3, e5m2}, f32);
        add_pairs(kinds, 16, k, {e4m3, e5m2}, f16);
        add_pairs(kinds, 16, k, {s8, u8}, s32);
        add_pairs(kinds, 16, 2 * k, {s4, u4}, s32);
    }
    add_pairs(kinds, 8, 16, {s8, u8}, s32);
    add_pairs(kinds, 8, 32, {s4, u4}, s32);
    kinds.push_back({8, 8, 4, f64, f64, f64, f64});
    return kinds;
}

std::vector<MmaKind> build_wmma_kinds() {
    std::vector<MmaKind> kinds;
    for (const WmmaAtom& atom : wmma_atom_table())
        kinds.push_back(
            {atom.shape.m, atom.shape.n, atom.shape.k, atom.type, atom.type, atom.accumulator, atom.accumulator});
    return kinds;
}

// ---- where elements lie ---------------------------------------------------------------------------------------------

int rows_of(const MmaKind& kind, Operand operand) { return operand == Operand::b ? kind.n : kind.m; }
int columns_of(const MmaKind& kind, Operand operand) { return operand == Operand::c ? kind.n : kind.k; }
MmaType type_of(const MmaKind& kind, Operand operand) {
    if (operand == Operand::a) return kind.a;
    return operand == Operand::b ? kind.b : kind.c;
}

int registers_of(const MmaKind& kind, Operand operand, int elements) {
    return elements * type_bits(type_of(kind, operand)) / kRegisterBits;
}

/// `coordinate_of(lane, i)` is where element i of a lane lies.
template <typename CoordinateOf>
Fragment build_fragment(const MmaKind& kind, Operand operand, int elements, CoordinateOf coordinate_of) {
    Fragment fragment{type_bits(type_of(kind, operand)), elements, {}};
    for (int i = 0; i < fragment.elements; ++i) {
        for (int lane = 0; lane < kLanes; ++lane) {
            const Coordinate at = coordinate_of(lane, i);
            const int position =
                operand == Operand::b ? at.column * kind.n + at.row : at.row * columns_of(kind, operand) + at.column;
            fragment.position.push_back(static_cast<std::uint16_t>(position));
        }
    }
    return fragment;
}

/// The row of the instruction table with the kind's shape and types; its .satfinite form lies alike.
const MmaAtom& atom_of(const MmaKind& kind) {
    const std::span<const MmaAtom> table = mma_atom_table();
    const auto found = std::ranges::find_if(table, [&](const MmaAtom& atom) {
        return atom.shape == TileShape{kind.m, kind.n, kind.k} && atom.a == kind.a && atom.b == kind.b &&
               atom.accumulator == kind.c;
    });
    if (found == table.end()) throw Error(fmt::format("no instruction has the kind {}", to_string(kind)));
    return *found;
}

MmaPlan mma_plan(const MmaKind& kind) {
    const MmaAtom& atom = atom_of(kind);
    const auto fragment = [&](Operand operand) {
        const TvLayout& layout = atom.layout(operand);
        return build_fragment(kind, operand, layout.values(),
                              [&](int lane, int i) { return layout.coordinate(lane, i); });
    };
    return {kind, fragment(Operand::a), fragment(Operand::b), fragment(Operand::c)};
}

MmaPlan wmma_plan(const MmaKind& kind) {
    const auto fragment = [&](Operand operand) {
        return build_fragment(kind, operand, wmma_elements(kind, operand),
                              [&](int lane, int i) { return wmma_coordinate(kind, operand, lane, i); });
    };
    return {kind, fragment(Operand::a), fragment(Operand::b), fragment(Operand::c)};
}

std::uint64_t key_of(const MmaKind& kind) {
    std::uint64_t key = 0;
    for (const int part : {kind.m, kind.n, kind.k, static_cast<int>(kind.a), static_cast<int>(kind.b),
                           static_cast<int>(kind.c), static_cast<int>(kind.d)})
        key = key << 8 | static_cast<std::uint8_t>(part);
    return key;
}

/// All instructions of a sort, found by their key.
class Plans {
public:
    Plans(const std::vector<MmaKind>& kinds, MmaPlan (*plan_of)(const MmaKind&)) {
        for (const MmaKind& kind : kinds) {
            keys_.push_back(key_of(kind));
            plans_.push_back(plan_of(kind));
        }
    }

    [[nodiscard]] const MmaPlan* find(const MmaKind& kind) const {
        if (kind.saturate && kind.d != MmaType::s32) return nullptr;
        const auto key = std::ranges::find(keys_, key_of(kind));
        return key == keys_.end() ? nullptr : &plans_[static_cast<std::size_t>(key - keys_.begin())];
    }

private:
    std::vector<std::uint64_t> keys_;
    std::vector<MmaPlan> plans_;
};

/// Register `index` of lane 0; those of the other lanes follow.
std::ptrdiff_t register_offset(int index) { return static_cast<std::ptrdiff_t>(index) * kLanes; }

}  // namespace

int type_bits(MmaType type) { return bits(type); }

std::string to_string(const MmaKind& kind) {
    return fmt::format("m{}n{}k{}{}.{}.{}.{}.{}", kind.m, kind.n, kind.k, kind.saturate ? ".satfinite" : "",
                       to_string(kind.d), to_string(kind.a), to_string(kind.b), to_string(kind.c));
}

void gather(const Fragment& fragment, const std::uint32_t* registers, std::uint32_t* matrix) {
    const int per_register = kRegisterBits / fragment.type_bits;
    const std::uint32_t mask = 0xffffffffU >> (kRegisterBits - fragment.type_bits);
    const std::uint16_t* position = fragment.position.data();
    for (int i = 0; i < fragment.elements; ++i, position += kLanes) {
        const std::uint32_t* const words = registers + register_offset(i / per_register);
        const int shift = i % per_register * fragment.type_bits;
        for (int lane = 0; lane < kLanes; ++lane) matrix[position[lane]] = (words[lane] >> shift) & mask;
    }
}

void scatter(const Fragment& fragment, const std::uint32_t* matrix, std::uint32_t* registers) {
    const int per_register = kRegisterBits / fragment.type_bits;
    const std::uint16_t* position = fragment.position.data();
    for (int i = 0; i < fragment.elements; ++i, position += kLanes) {
        std::uint32_t* const words = registers + register_offset(i / per_register);
        const int shift = i % per_register * fragment.type_bits;
        for (int lane = 0; lane < kLanes; ++lane) {
            const std::uint32_t kept = shift == 0 ? 0 : words[lane];
            words[lane] = kept | (matrix[position[lane]] << shift);
        }
    }
}

// ---- mma.sync: PTX ISA, "Matrix Fragments for mma" ------------------------------------------------------------------

std::span<const MmaKind> mma_kinds() {
    static const std::vector<MmaKind> kKinds = build_mma_kinds();
    return kKinds;
}

int mma_elements(const MmaKind& kind, Operand operand) {
    return rows_of(kind, operand) * columns_of(kind, operand) / kLanes;
}

MmaRegisters mma_registers(const MmaKind& kind) {
    const auto count = [&kind](Operand operand) { return registers_of(kind, operand, mma_elements(kind, operand)); };
    return {count(Operand::a), count(Operand::b), count(Operand::c)};
}

Coordinate mma_coordinate(const MmaKind& kind, Operand operand, int lane, int element) {
    return atom_of(kind).layout(operand).coordinate(lane, element);
}

const MmaPlan* find_mma_plan(const MmaKind& kind) {
    static const Plans kPlans(build_mma_kinds(), mma_plan);
    return kPlans.find(kind);
}

bool is_supported(const MmaKind& kind) { return find_mma_plan(kind) != nullptr; }

// ---- wmma -----------------------------------------------------------------------------------------------------------

int wmma_elements(const MmaKind& kind, Operand operand) {
    return jitgemm::wmma_elements({kind.m, kind.n, kind.k}, operand, type_of(kind, operand));
}

MmaRegisters wmma_registers(const MmaKind& kind) {
    const auto count = [&kind](Operand operand) { return registers_of(kind, operand, wmma_elements(kind, operand)); };
    return {count(Operand::a), count(Operand::b), count(Operand::c)};
}

Coordinate wmma_coordinate(const MmaKind& kind, Operand operand, int lane, int element) {
    const int columns = columns_of(kind, operand);
    const int flat = (lane * wmma_elements(kind, operand) + element) % (rows_of(kind, operand) * columns);
    return {flat / columns, flat % columns};
}

const MmaPlan* find_wmma_plan(const MmaKind& kind) {
    static const Plans kPlans(build_wmma_kinds(), wmma_plan);
    return kPlans.find(kind);
}

bool is_supported_wmma(const MmaKind& kind) { return find_wmma_plan(kind) != nullptr; }

}  // namespace jitgemm::emulator
