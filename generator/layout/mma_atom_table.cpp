// The mma.sync instructions as data: fragments in CuTe's text, then which types go with which shape.

#include "generator/layout/mma_atom.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

namespace jitgemm {
namespace {

constexpr TileShape k8x8x4{8, 8, 4}, k8x8x16{8, 8, 16}, k8x8x32{8, 8, 32};
constexpr TileShape k16x8x4{16, 8, 4}, k16x8x8{16, 8, 8}, k16x8x16{16, 8, 16}, k16x8x32{16, 8, 32}, k16x8x64{16, 8, 64};

constexpr std::string_view kC8x8 = "((4,8),2):((16,1),8)";
constexpr std::string_view kC16x8 = "((4,8),(2,2)):((32,1),(16,8))";

/// Layouts (thread, value) of a shape's operands for elements of `bits` bits. With lane = 4·g + t, rows follow g and
/// 32-bit groups of columns follow t.
struct FragmentRow {
    int bits;
    TileShape shape;
    std::string_view a, b, c;
};

constexpr FragmentRow kFragments[] = {
    {16, k16x8x8, "((4,8),(2,2)):((32,1),(16,8))", "((4,8),2):((16,1),8)", kC16x8},
    {16, k16x8x16, "((4,8),(2,2,2)):((32,1),(16,8,128))", "((4,8),(2,2)):((16,1),(8,64))", kC16x8},
    {32, k16x8x4, "((4,8),2):((16,1),8)", "((4,8),1):((8,1),0)", kC16x8},
    {32, k16x8x8, "((4,8),(2,2)):((16,1),(8,64))", "((4,8),2):((8,1),32)", kC16x8},
    {8, k8x8x16, "((4,8),4):((32,1),8)", "((4,8),4):((32,1),8)", kC8x8},
    {8, k16x8x16, "((4,8),(4,2)):((64,1),(16,8))", "((4,8),4):((32,1),8)", kC16x8},
    {8, k16x8x32, "((4,8),(4,2,2)):((64,1),(16,8,256))", "((4,8),(4,2)):((32,1),(8,128))", kC16x8},
    {4, k8x8x32, "((4,8),(8)):((64,1),(8))", "((4,8),(8)):((64,1),(8))", kC8x8},
    {4, k16x8x32, "((4,8),(8,2)):((128,1),(16,8))", "((4,8),(8)):((64,1),(8))", kC16x8},
    {4, k16x8x64, "((4,8),(8,2,2)):((128,1),(16,8,512))", "((4,8),(8,2)):((64,1),(8,256))", kC16x8},
    {64, k8x8x4, "((4,8),1):((8,1),0)", "((4,8),1):((8,1),0)", kC8x8},
    {64, k16x8x4, "((4,8),2):((16,1),8)", "((4,8),1):((8,1),0)", kC16x8},
    {64, k16x8x8, "((4,8),(2,2)):((16,1),(8,64))", "((4,8),2):((8,1),32)", kC16x8},
    {64, k16x8x16, "((4,8),(2,4)):((16,1),(8,64))", "((4,8),4):((8,1),32)", kC16x8},
};

using enum MmaType;

enum class Sums : std::uint8_t { plain, plain_or_saturating };

/// Every pairing of the types of A with those of B.
struct InstructionRow {
    TileShape shape;
    MmaType accumulator;
    std::initializer_list<MmaType> a, b;
    int first_compute_capability;
    std::string_view cute_prefix;  ///< empty: CuTe has no such atom
    Sums sums = Sums::plain;
};

const InstructionRow kInstructions[] = {
    {k16x8x16, f32, {f16}, {f16}, 80, "SM80"},
    {k16x8x16, f16, {f16}, {f16}, 80, "SM80"},
    {k16x8x16, f32, {bf16}, {bf16}, 80, "SM80"},
    {k16x8x8, f32, {f16}, {f16}, 75, "SM75"},
    {k16x8x8, f16, {f16}, {f16}, 75, "SM80"},
    {k16x8x8, f32, {bf16}, {bf16}, 80, "SM80"},
    {k16x8x4, f32, {tf32}, {tf32}, 80, "SM80"},
    {k16x8x8, f32, {tf32}, {tf32}, 80, "SM80"},
    {k8x8x16, s32, {s8, u8}, {s8, u8}, 75, "SM80", Sums::plain_or_saturating},
    {k16x8x16, s32, {s8, u8}, {s8, u8}, 80, "SM80", Sums::plain_or_saturating},
    {k16x8x32, s32, {s8, u8}, {s8, u8}, 80, "SM80", Sums::plain_or_saturating},
    {k8x8x32, s32, {s4, u4}, {s4, u4}, 75, "SM80", Sums::plain_or_saturating},
    {k16x8x32, s32, {s4, u4}, {s4, u4}, 80, "SM80", Sums::plain_or_saturating},
    {k16x8x64, s32, {s4, u4}, {s4, u4}, 80, "SM80", Sums::plain_or_saturating},
    {k16x8x16, f32, {e4m3, e5m2}, {e4m3, e5m2}, 89, ""},
    {k16x8x16, f16, {e4m3, e5m2}, {e4m3, e5m2}, 89, ""},
    {k16x8x32, f32, {e4m3, e5m2}, {e4m3, e5m2}, 89, "SM89"},
    {k16x8x32, f16, {e4m3, e5m2}, {e4m3, e5m2}, 89, "SM89"},
    {k8x8x4, f64, {f64}, {f64}, 80, "SM80"},
    {k16x8x4, f64, {f64}, {f64}, 90, "SM90"},
    {k16x8x8, f64, {f64}, {f64}, 90, "SM90"},
    {k16x8x16, f64, {f64}, {f64}, 90, "SM90"},
};

/// Instructions to which CuTe gives two names.
constexpr std::string_view kAliases[][2] = {
    {"SM75_16x8x8_F32F16F16F32_TN", "SM80_16x8x8_F32F16F16F32_TN"},
    {"SM80_16x8x8_F16F16F16F16_TN", "SM75_16x8x8_F16F16F16F16_TN"},
    {"SM80_8x8x16_S32S8S8S32_TN", "SM75_8x8x16_S32S8S8S32_TN"},
};

std::string cute_name_of(const InstructionRow& row, MmaType a, MmaType b, bool saturates) {
    if (row.cute_prefix.empty()) return {};
    const std::string_view d = info(row.accumulator).cute_name;
    return fmt::format("{}_{}x{}x{}_{}{}{}{}_TN{}", row.cute_prefix, row.shape.m, row.shape.n, row.shape.k, d,
                       info(a).cute_name, info(b).cute_name, d, saturates ? "_SATURATE" : "");
}

std::string alias_of(std::string_view cute_name) {
    for (const auto& [name, alias] : kAliases) {
        if (name == cute_name) return std::string(alias);
    }
    return {};
}

/// A row's layouts, parsed.
struct Fragments {
    TvLayout a, b, c;
};

/// The types of one instruction row have one width.
Fragments fragments_of(const InstructionRow& row) {
    const auto [m, n, k] = row.shape;
    const auto* texts = std::ranges::find_if(kFragments, [&](const FragmentRow& known) {
        return known.bits == bits(*row.a.begin()) && known.shape == row.shape;
    });
    return {TvLayout(parse_layout(texts->a), m, k), TvLayout(parse_layout(texts->b), n, k),
            TvLayout(parse_layout(texts->c), m, n)};
}

MmaAtom atom_of(const InstructionRow& row, MmaType a, MmaType b, bool saturates, const Fragments& fragments) {
    const auto [m, n, k] = row.shape;
    const std::string shape = fmt::format("m{}n{}k{}", m, n, k);
    const std::string types = fmt::format("{0}.{1}.{2}.{0}", to_string(row.accumulator), to_string(a), to_string(b));
    MmaAtom atom{
        .cute_name = cute_name_of(row, a, b, saturates),
        .ptx_name = fmt::format("mma.sync.aligned.{}.row.col{}.{}", shape, saturates ? ".satfinite" : "", types),
        .short_name = fmt::format("mma.{}.{}{}", shape, types, saturates ? ".satfinite" : ""),
        .shape = row.shape,
        .a = a,
        .b = b,
        .accumulator = row.accumulator,
        .first_compute_capability = row.first_compute_capability,
        .layout_a = fragments.a,
        .layout_b = fragments.b,
        .layout_c = fragments.c,
        .saturates = saturates};
    atom.cute_alias = alias_of(atom.cute_name);
    return atom;
}

std::vector<MmaAtom> make_table() {
    std::vector<MmaAtom> atoms;
    for (const InstructionRow& row : kInstructions) {
        const Fragments fragments = fragments_of(row);
        for (const MmaType a : row.a) {
            for (const MmaType b : row.b) {
                atoms.push_back(atom_of(row, a, b, false, fragments));
                if (row.sums == Sums::plain_or_saturating) atoms.push_back(atom_of(row, a, b, true, fragments));
            }
        }
    }
    return atoms;
}

}  // namespace

std::span<const MmaAtom> mma_atom_table() {
    static const std::vector<MmaAtom> atoms = make_table();
    return atoms;
}

}  // namespace jitgemm
