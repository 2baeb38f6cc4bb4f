#include "runtime/emulator/mma_fragments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace jitgemm::emulator {
namespace {

constexpr int kWarpLanes = 32;
constexpr int kRegisterBits = 32;

struct TypeRow {
    std::string_view name;
    int bits;
};
// In MmaType's order.
constexpr std::array kTypes = {TypeRow{"f16", 16}, TypeRow{"bf16", 16}, TypeRow{"tf32", 32}, TypeRow{"e4m3", 8},
                               TypeRow{"e5m2", 8}, TypeRow{"s8", 8},    TypeRow{"u8", 8},    TypeRow{"s4", 4},
                               TypeRow{"u4", 4},   TypeRow{"f32", 32},  TypeRow{"s32", 32},  TypeRow{"f64", 64}};

const TypeRow& type_row(MmaType type) { return kTypes[static_cast<std::size_t>(type)]; }

std::vector<MmaKind> build_kinds() {
    using enum MmaType;
    std::vector<MmaKind> kinds;
    for (const int k : {8, 16}) {
        kinds.push_back({16, 8, k, f16, f16, f16, f16});
        kinds.push_back({16, 8, k, f16, f16, f32, f32});
        kinds.push_back({16, 8, k, bf16, bf16, f32, f32});
    }
    for (const int k : {4, 8}) kinds.push_back({16, 8, k, tf32, tf32, f32, f32});
    const auto add_pairs = [&kinds](int m, int k, MmaType first, MmaType second, MmaType sum) {
        for (const MmaType a : {first, second})
            for (const MmaType b : {first, second}) kinds.push_back({m, 8, k, a, b, sum, sum});
    };
    for (const int k : {16, 32}) {
        add_pairs(16, k, e4m3, e5m2, f32);
        add_pairs(16, k, e4m3, e5m2, f16);
        add_pairs(16, k, s8, u8, s32);
        add_pairs(16, 2 * k, s4, u4, s32);
    }
    add_pairs(8, 16, s8, u8, s32);
    add_pairs(8, 32, s4, u4, s32);
    kinds.push_back({8, 8, 4, f64, f64, f64, f64});
    return kinds;
}

int rows_of(const MmaKind& kind, Operand operand) { return operand == Operand::b ? kind.n : kind.m; }
int columns_of(const MmaKind& kind, Operand operand) { return operand == Operand::c ? kind.n : kind.k; }
MmaType type_of(const MmaKind& kind, Operand operand) {
    if (operand == Operand::a) return kind.a;
    return operand == Operand::b ? kind.b : kind.c;
}

/// Element `index` of a lane's registers taken as one string of bits; types of at most 32.
std::uint32_t element(const std::uint32_t* registers, int lane, int index, int bits) {
    const int per_register = kRegisterBits / bits;
    const std::uint32_t word = registers[index / per_register * kWarpLanes + lane];
    return (word >> (index % per_register * bits)) & (0xffffffffU >> (kRegisterBits - bits));
}

/// `position(row, column)` is where an element goes in the matrix.
template <typename CoordinateOf, typename Position>
void gather(const MmaKind& kind, Operand operand, int elements, const std::uint32_t* registers, std::uint32_t* matrix,
            CoordinateOf coordinate_of, Position position) {
    const int bits = type_bits(type_of(kind, operand));
    for (int i = 0; i < elements; ++i) {
        for (int lane = 0; lane < kWarpLanes; ++lane) {
            const Coordinate at = coordinate_of(kind, operand, lane, i);
            matrix[position(at.row, at.column)] = element(registers, lane, i, bits);
        }
    }
}

template <typename CoordinateOf>
void scatter(const MmaKind& kind, int elements, const std::uint32_t* matrix, std::uint32_t* registers,
             CoordinateOf coordinate_of) {
    const int per_register = kRegisterBits / type_bits(kind.d);
    for (int i = 0; i < elements; ++i) {
        const int shift = i % per_register * type_bits(kind.d);
        for (int lane = 0; lane < kWarpLanes; ++lane) {
            const Coordinate at = coordinate_of(kind, Operand::c, lane, i);
            std::uint32_t& word = registers[i / per_register * kWarpLanes + lane];
            word = (shift == 0 ? 0 : word) | (matrix[at.row * kind.n + at.column] << shift);
        }
    }
}

/// Lane = 4·g + t. Inlined where the operand is known.
inline Coordinate mma_position(const MmaKind& kind, Operand operand, int lane, int index) {
    const int g = lane / 4;
    const int t = lane % 4;
    if (operand == Operand::c) return {g + 8 * (index / 2), 2 * t + index % 2};
    const int per_register = std::max(kRegisterBits / type_bits(type_of(kind, operand)), 1);
    const int group = index / per_register;  // one register, or an f64
    const bool two_row_blocks = operand == Operand::a && kind.m == 16;
    const int row = two_row_blocks ? g + 8 * (group % 2) : g;
    const int chunk = two_row_blocks ? group / 2 : group;
    return {row, t * per_register + index % per_register + 4 * per_register * chunk};
}

inline Coordinate wmma_position(const MmaKind& kind, Operand operand, int lane, int index) {
    const int columns = columns_of(kind, operand);
    const int flat = (lane * wmma_elements(kind, operand) + index) % (rows_of(kind, operand) * columns);
    return {flat / columns, flat % columns};
}

}  // namespace

int type_bits(MmaType type) { return type_row(type).bits; }

std::string to_string(const MmaKind& kind) {
    return fmt::format("m{}n{}k{}{}.{}.{}.{}.{}", kind.m, kind.n, kind.k, kind.saturate ? ".satfinite" : "",
                       type_row(kind.d).name, type_row(kind.a).name, type_row(kind.b).name, type_row(kind.c).name);
}

std::span<const MmaKind> mma_kinds() {
    static const std::vector<MmaKind> kKinds = build_kinds();
    return kKinds;
}

bool is_supported(const MmaKind& kind) {
    MmaKind plain = kind;
    plain.saturate = false;
    return (!kind.saturate || kind.d == MmaType::s32) && std::ranges::find(mma_kinds(), plain) != mma_kinds().end();
}

int mma_elements(const MmaKind& kind, Operand operand) {
    return rows_of(kind, operand) * columns_of(kind, operand) / kWarpLanes;
}

MmaRegisters mma_registers(const MmaKind& kind) {
    const auto registers = [&kind](Operand operand) {
        return mma_elements(kind, operand) * type_bits(type_of(kind, operand)) / kRegisterBits;
    };
    return {registers(Operand::a), registers(Operand::b), registers(Operand::c)};
}

Coordinate mma_coordinate(const MmaKind& kind, Operand operand, int lane, int element) {
    return mma_position(kind, operand, lane, element);
}

void MmaFragments::gather_a(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix) {
    gather(kind, Operand::a, mma_elements(kind, Operand::a), registers, matrix, mma_position,
           [k = kind.k](int row, int column) { return row * k + column; });
}
void MmaFragments::gather_b(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix) {
    gather(kind, Operand::b, mma_elements(kind, Operand::b), registers, matrix, mma_position,
           [n = kind.n](int row, int column) { return column * n + row; });
}
void MmaFragments::gather_c(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix) {
    gather(kind, Operand::c, mma_elements(kind, Operand::c), registers, matrix, mma_position,
           [n = kind.n](int row, int column) { return row * n + column; });
}
void MmaFragments::scatter_c(const MmaKind& kind, const std::uint32_t* matrix, std::uint32_t* registers) {
    scatter(kind, mma_elements(kind, Operand::c), matrix, registers, mma_position);
}

// ---- wmma ------------------------------------------------------------------------------------------------------------

bool is_supported_wmma(const MmaKind& kind) {
    const bool shape = kind.k == 16 && kind.m * kind.n == 256 && (kind.m == 8 || kind.m == 16 || kind.m == 32);
    const bool types = kind.a == kind.b && kind.c == kind.d && !kind.saturate &&
                       ((kind.a == MmaType::f16 && (kind.c == MmaType::f16 || kind.c == MmaType::f32)) ||
                        (kind.a == MmaType::bf16 && kind.c == MmaType::f32));
    return shape && types;
}

int wmma_elements(const MmaKind& kind, Operand operand) {
    if (operand == Operand::c) return 256 / kWarpLanes;
    constexpr int kF16Elements = 16;  // eight registers whatever the shape
    return type_of(kind, operand) == MmaType::f16 ? kF16Elements : rows_of(kind, operand) * kind.k / kWarpLanes;
}

MmaRegisters wmma_registers(const MmaKind& kind) {
    const auto registers = [&kind](Operand operand) {
        return wmma_elements(kind, operand) * type_bits(type_of(kind, operand)) / kRegisterBits;
    };
    return {registers(Operand::a), registers(Operand::b), registers(Operand::c)};
}

Coordinate wmma_coordinate(const MmaKind& kind, Operand operand, int lane, int element) {
    return wmma_position(kind, operand, lane, element);
}

void WmmaFragments::gather_a(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix) {
    gather(kind, Operand::a, wmma_elements(kind, Operand::a), registers, matrix, wmma_position,
           [k = kind.k](int row, int column) { return row * k + column; });
}
void WmmaFragments::gather_b(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix) {
    gather(kind, Operand::b, wmma_elements(kind, Operand::b), registers, matrix, wmma_position,
           [n = kind.n](int row, int column) { return column * n + row; });
}
void WmmaFragments::gather_c(const MmaKind& kind, const std::uint32_t* registers, std::uint32_t* matrix) {
    gather(kind, Operand::c, wmma_elements(kind, Operand::c), registers, matrix, wmma_position,
           [n = kind.n](int row, int column) { return row * n + column; });
}
void WmmaFragments::scatter_c(const MmaKind& kind, const std::uint32_t* matrix, std::uint32_t* registers) {
    scatter(kind, wmma_elements(kind, Operand::c), matrix, registers, wmma_position);
}

}  // namespace jitgemm::emulator
