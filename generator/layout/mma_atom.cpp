#include "generator/layout/mma_atom.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace jitgemm {
namespace {

constexpr int kRegisterBytes = 4;

// Fragments of 16-bit operands and 32-bit or packed 16-bit accumulators. With lane = 4·g + t: rows follow g, pairs of
// columns follow t.
constexpr TvLayout kA16x16{{4, 8}, {32, 1}, {2, 2, 2}, {16, 8, 128}, 16, 16};
constexpr TvLayout kA16x8{{4, 8}, {32, 1}, {2, 2, 1}, {16, 8, 0}, 16, 8};
constexpr TvLayout kB8x16{{4, 8}, {16, 1}, {2, 2, 1}, {8, 64, 0}, 8, 16};
constexpr TvLayout kB8x8{{4, 8}, {16, 1}, {2, 1, 1}, {8, 0, 0}, 8, 8};
constexpr TvLayout kC16x8{{4, 8}, {32, 1}, {2, 2, 1}, {16, 8, 0}, 16, 8};

constexpr TileShape kK16{16, 8, 16};
constexpr TileShape kK8{16, 8, 8};
using enum DataType;

// clang-format off
constexpr MmaAtom kAtoms[] = {
    {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "SM80_16x8x16_F32F16F16F32_TN", "",
     kK16, f16, f16, f32, 80, kA16x16, kB8x16, kC16x8},
    {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", "SM80_16x8x16_F16F16F16F16_TN", "",
     kK16, f16, f16, f16, 80, kA16x16, kB8x16, kC16x8},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", "SM80_16x8x16_F32BF16BF16F32_TN", "",
     kK16, bf16, bf16, f32, 80, kA16x16, kB8x16, kC16x8},
    {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", "SM75_16x8x8_F32F16F16F32_TN", "SM80_16x8x8_F32F16F16F32_TN",
     kK8, f16, f16, f32, 75, kA16x8, kB8x8, kC16x8},
    {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", "SM80_16x8x8_F16F16F16F16_TN", "",
     kK8, f16, f16, f16, 75, kA16x8, kB8x8, kC16x8},
    {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", "SM80_16x8x8_F32BF16BF16F32_TN", "",
     kK8, bf16, bf16, f32, 80, kA16x8, kB8x8, kC16x8},
};
// clang-format on

/// A flat index taken apart by a shape, first mode fastest, and put together with its strides.
template <std::size_t Rank>
int offset(const std::array<int, Rank>& shape, const std::array<int, Rank>& stride, int flat) {
    int sum = 0;
    for (std::size_t mode = 0; mode < Rank; ++mode) {
        sum += flat % shape[mode] * stride[mode];
        flat /= shape[mode];
    }
    return sum;
}

template <std::size_t Rank>
int product(const std::array<int, Rank>& shape) {
    return std::accumulate(shape.begin(), shape.end(), 1, std::multiplies<>());
}

/// "mma.m16n8k16.f32.bf16.bf16.f32" of a full PTX name: without what all of these instructions have.
bool is_short_form(std::string_view short_name, std::string_view ptx_name) {
    constexpr std::string_view kPrefix = "mma.", kFullPrefix = "mma.sync.aligned.", kMajors = ".row.col";
    if (short_name.substr(0, kPrefix.size()) != kPrefix) return false;
    const std::string_view wanted = short_name.substr(kPrefix.size());
    const std::string_view full = ptx_name.substr(kFullPrefix.size());
    const std::size_t majors = full.find(kMajors);
    const std::string_view shape = full.substr(0, majors);
    const std::string_view types = full.substr(majors + kMajors.size());
    return wanted.size() == shape.size() + types.size() && wanted.substr(0, shape.size()) == shape &&
           wanted.substr(shape.size()) == types;
}

bool is_named(const MmaAtom& atom, std::string_view name) {
    return name == atom.ptx_name || name == atom.cute_name || (!name.empty() && name == atom.cute_alias) ||
           is_short_form(name, atom.ptx_name);
}

}  // namespace

std::string_view to_string(Operand operand) {
    constexpr std::array<std::string_view, 3> kNames{"A", "B", "C"};
    return kNames[static_cast<std::size_t>(operand)];
}

int TvLayout::threads() const { return product(thread_shape); }

int TvLayout::values() const { return product(value_shape); }

int TvLayout::index(int thread, int value) const {
    return offset(thread_shape, thread_stride, thread) + offset(value_shape, value_stride, value);
}

Coordinate TvLayout::coordinate(int thread, int value) const {
    const int flat = index(thread, value);
    return {flat % rows, flat / rows};
}

ThreadValue owner_of(const TvLayout& layout, Coordinate coordinate) {
    const int wanted = coordinate.row + coordinate.column * layout.rows;
    for (int thread = 0; thread < layout.threads(); ++thread) {
        for (int value = 0; value < layout.values(); ++value) {
            if (layout.index(thread, value) == wanted) return {thread, value};
        }
    }
    return {-1, -1};
}

const TvLayout& MmaAtom::layout(Operand operand) const {
    if (operand == Operand::a) return layout_a;
    return operand == Operand::b ? layout_b : layout_c;
}

DataType MmaAtom::type(Operand operand) const {
    if (operand == Operand::a) return a;
    return operand == Operand::b ? b : accumulator;
}

int MmaAtom::registers(Operand operand) const {
    return layout(operand).values() * bytes(type(operand)) / kRegisterBytes;
}

std::span<const MmaAtom> mma_atom_table() { return kAtoms; }

const MmaAtom* find_mma_atom(TileShape shape, DataType a, DataType b, DataType accumulator) {
    const auto* found = std::find_if(std::begin(kAtoms), std::end(kAtoms), [&](const MmaAtom& atom) {
        return atom.shape == shape && atom.a == a && atom.b == b && atom.accumulator == accumulator;
    });
    return found == std::end(kAtoms) ? nullptr : found;
}

const MmaAtom* find_mma_atom(std::string_view name) {
    const auto* found =
        std::find_if(std::begin(kAtoms), std::end(kAtoms), [&](const MmaAtom& atom) { return is_named(atom, name); });
    return found == std::end(kAtoms) ? nullptr : found;
}

}  // namespace jitgemm
