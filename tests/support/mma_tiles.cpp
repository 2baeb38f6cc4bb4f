#include "tests/support/mma_tiles.hpp"

#include "tests/support/random_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace jitgemm::testing {
namespace {

using emulator::MmaKind;
using emulator::MmaRegisters;
using emulator::MmaType;

constexpr int kWarpLanes = 32;

std::size_t product(int x, int y, int z) {
    return static_cast<std::size_t>(x) * static_cast<std::size_t>(y) * static_cast<std::size_t>(z);
}

struct Format {
    MmaType type;
    std::string_view name;
    int bits;
    int fraction_bits;  ///< 0: an integer
    int exponent_bits;
};
constexpr std::array kFormats = {
    Format{MmaType::f16, "f16", 16, 10, 5},   Format{MmaType::bf16, "bf16", 16, 7, 8},
    Format{MmaType::tf32, "tf32", 32, 23, 8}, Format{MmaType::e4m3, "e4m3", 8, 3, 4},
    Format{MmaType::e5m2, "e5m2", 8, 2, 5},   Format{MmaType::f32, "f32", 32, 23, 8},
    Format{MmaType::f64, "f64", 64, 52, 11},  Format{MmaType::s8, "s8", 8, 0, 0},
    Format{MmaType::u8, "u8", 8, 0, 0},       Format{MmaType::s4, "s4", 4, 0, 0},
    Format{MmaType::u4, "u4", 4, 0, 0},       Format{MmaType::s32, "s32", 32, 0, 0},
};
const Format& format_of(MmaType type) { return *std::ranges::find(kFormats, type, &Format::type); }

MmaType type_of(const MmaKind& kind, Operand operand) {
    if (operand == Operand::a) return kind.a;
    return operand == Operand::b ? kind.b : kind.c;
}
int rows_of(const MmaKind& kind, Operand operand) { return operand == Operand::b ? kind.n : kind.m; }
int columns_of(const MmaKind& kind, Operand operand) { return operand == Operand::c ? kind.n : kind.k; }

// ---- elements -------------------------------------------------------------------------------------------------------

/// The distribution of a tile's elements. Exponents are offsets from that of 1, clipped to the format.
struct Style {
    int lowest_exponent;
    int exponents;           ///< how many different ones
    std::uint32_t zeros;     ///< of 64 elements
    std::uint32_t specials;  ///< of 1024: infinity, NaN or any bits
    std::uint32_t few_bits;  ///< of 4: fraction bits but the top two cleared, for ties and exact sums
    bool cancelling;         ///< every second product of a row nearly undoes the one before
    int c_offset;            ///< exponents of C begin this far above those of products
};
constexpr std::array kStyles = {
    Style{-3, 6, 1, 0, 0, false, -2},     // ordinary
    Style{-3, 6, 1, 0, 0, true, -20},     // cancelling
    Style{-12, 24, 2, 0, 1, false, -8},   // spread wide
    Style{-14, 3, 4, 0, 1, false, 0},     // around the subnormal numbers of f16
    Style{-200, 400, 6, 0, 1, false, 0},  // all of the format's range
    Style{-8, 2, 24, 0, 3, false, -6},    // many zeros, sums half way between results
    Style{6, 10, 2, 0, 1, false, 0},      // large: overflow of f16
    Style{-3, 6, 2, 24, 0, false, -2},    // infinities and NaN
    Style{-70, 12, 12, 0, 1, false, 0},   // results near the smallest f32, where the types reach it
    Style{-2, 3, 1, 0, 2, true, -30},     // close exponents, cancelling far
    Style{-79, 8, 8, 0, 1, false, 6},     // products below the smallest f32, beside zeros
};

std::uint64_t special_bits(const Format& format, RandomBits& random) {
    const std::uint64_t word = random.next();
    const std::uint64_t infinity = ((std::uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
    const std::uint64_t sign = (word & 1) << (format.bits - 1);
    switch (random.below(3)) {
        case 0: return sign | infinity;
        case 1: return sign | infinity | (std::uint64_t{1} << (format.fraction_bits - 1)) | ((word >> 20) & 1);
        default: return word;
    }
}

std::uint64_t float_bits(const Format& format, const Style& style, int offset, RandomBits& random) {
    if (random.below(1024) < style.specials) return special_bits(format, random);
    const std::uint64_t word = random.next();
    const std::uint64_t sign = (word >> 63) << (format.bits - 1);
    if (random.below(64) < style.zeros) return sign;
    const int bias = (1 << (format.exponent_bits - 1)) - 1;
    // e4m3 has numbers where others have infinities; all fraction bits set are its NaN.
    const int top = (1 << format.exponent_bits) - (format.type == MmaType::e4m3 ? 1 : 2);
    const int exponent = bias + style.lowest_exponent + offset +
                         static_cast<int>(random.below(static_cast<std::uint32_t>(style.exponents)));
    std::uint64_t fraction = word & ((std::uint64_t{1} << format.fraction_bits) - 1);
    if (random.below(4) < style.few_bits) fraction &= std::uint64_t{3} << (format.fraction_bits - 2);
    const int field = std::clamp(exponent, 0, top);
    if (format.type == MmaType::e4m3 && field == top) fraction &= 6;
    if (exponent < 0) fraction >>= std::min(-exponent, format.fraction_bits);  // as small as a subnormal number can be
    return sign | static_cast<std::uint64_t>(field) << format.fraction_bits | fraction;
}

std::uint64_t integer_bits(const Format& format, bool accumulator, RandomBits& random) {
    const std::uint64_t word = random.next();
    if (!accumulator || random.below(2) == 0) return word;
    // Near the ends of the range: for wrapping and .satfinite.
    const std::uint64_t end = random.below(2) == 0 ? 0x7fffffffU : 0x80000000U;
    return end ^ (word & 0xffffU & ((std::uint64_t{1} << (format.bits - 1)) - 1));
}

/// One operand of a tile, element by element.
std::vector<std::uint64_t> random_matrix(const MmaKind& kind, Operand operand, const Style& style, RandomBits& random) {
    const Format& format = format_of(type_of(kind, operand));
    const bool accumulator = operand == Operand::c;
    const int offset = accumulator ? style.lowest_exponent + style.c_offset : 0;
    std::vector<std::uint64_t> matrix;
    for (int i = 0; i < rows_of(kind, operand) * columns_of(kind, operand); ++i)
        matrix.push_back(format.fraction_bits == 0 ? integer_bits(format, accumulator, random)
                                                   : float_bits(format, style, offset, random));
    return matrix;
}

/// Every second column (k) becomes the one before it: with the sign turned in A, the last bit sometimes changed in B.
void make_cancelling(const MmaKind& kind, Operand operand, std::vector<std::uint64_t>& matrix, RandomBits& random) {
    const Format& format = format_of(type_of(kind, operand));
    if (format.fraction_bits == 0) return;
    const auto columns = static_cast<std::size_t>(kind.k);
    for (std::size_t i = 0; i < matrix.size(); ++i) {
        if (i % columns % 2 == 0) continue;
        matrix[i] = operand == Operand::a ? matrix[i - 1] ^ (std::uint64_t{1} << (format.bits - 1))
                                          : matrix[i - 1] ^ (random.below(4) == 0 ? 1U : 0U);
    }
}

/// Element i of a lane begins at bit i · width of its registers taken as one string.
void put(std::uint32_t* registers, int lane, int index, int width, std::uint64_t bits) {
    const int position = index * width;
    std::uint32_t& low = registers[position / 32 * kWarpLanes + lane];
    if (width == 64) {
        low = static_cast<std::uint32_t>(bits);
        registers[(position / 32 + 1) * kWarpLanes + lane] = static_cast<std::uint32_t>(bits >> 32);
        return;
    }
    const std::uint32_t mask = 0xffffffffU >> (32 - width);
    low |= (static_cast<std::uint32_t>(bits) & mask) << (position % 32);
}

std::uint64_t get(const std::uint32_t* registers, int lane, int index, int width) {
    const int position = index * width;
    const std::uint64_t low = registers[position / 32 * kWarpLanes + lane];
    if (width == 64) return static_cast<std::uint64_t>(registers[(position / 32 + 1) * kWarpLanes + lane]) << 32 | low;
    return (low >> (position % 32)) & (0xffffffffU >> (32 - width));
}

/// Where each lane's elements of an operand lie in its matrix: looked up for many tiles.
std::vector<std::size_t> positions(const MmaKind& kind, Operand operand) {
    std::vector<std::size_t> result;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        for (int i = 0; i < emulator::mma_elements(kind, operand); ++i) {
            const Coordinate at = emulator::mma_coordinate(kind, operand, lane, i);
            result.push_back(static_cast<std::size_t>(at.row * columns_of(kind, operand) + at.column));
        }
    }
    return result;
}

int registers_of(const MmaKind& kind, Operand operand) {
    const MmaRegisters registers = emulator::mma_registers(kind);
    if (operand == Operand::a) return registers.a;
    return operand == Operand::b ? registers.b : registers.c;
}

std::vector<std::uint32_t>& words_of(MmaTiles& tiles, Operand operand) {
    if (operand == Operand::a) return tiles.a;
    return operand == Operand::b ? tiles.b : tiles.c;
}

void add_operand(const MmaKind& kind, Operand operand, const std::vector<std::size_t>& position, const Style& style,
                 RandomBits& random, std::vector<std::uint32_t>& words) {
    std::vector<std::uint64_t> matrix = random_matrix(kind, operand, style, random);
    if (style.cancelling && operand != Operand::c) make_cancelling(kind, operand, matrix, random);
    const std::size_t begin = words.size();
    words.resize(begin + product(registers_of(kind, operand), kWarpLanes, 1), 0);
    const int elements = emulator::mma_elements(kind, operand);
    const int width = format_of(type_of(kind, operand)).bits;
    for (int i = 0; i < kWarpLanes * elements; ++i)
        put(&words[begin], i / elements, i % elements, width, matrix[position[static_cast<std::size_t>(i)]]);
}

std::uint64_t seed_of(const MmaKind& kind, std::uint64_t tile) {
    std::uint64_t seed = 0;
    for (const char letter : to_string(kind)) seed = seed * 1099511628211ULL + static_cast<unsigned char>(letter);
    return seed ^ (tile * 0x9e3779b97f4a7c15ULL);
}

// ---- PTX ------------------------------------------------------------------------------------------------------------

/// PTX ISA, "mma": the version that introduced the types and shape.
std::string_view ptx_version(const MmaKind& kind) {
    const bool fp8 = format_of(kind.a).bits == 8 && format_of(kind.a).fraction_bits != 0;
    if (!fp8) return "8.0";  // sm_90's, more than the types need
    return kind.k == 32 && kind.d == MmaType::f32 ? "8.4" : "8.7";
}

/// "{%a0, %a1}", 64-bit registers for f64.
std::string operand_list(const MmaKind& kind, char letter, int registers) {
    const int step = kind.a == MmaType::f64 ? 2 : 1;
    std::string list;
    for (int i = 0; i < registers / step; ++i) list += fmt::format("{}%{}{}", i == 0 ? "" : ", ", letter, i);
    return "{" + list + "}";
}

std::string move_operand(const MmaKind& kind, char letter, int registers, bool load) {
    std::string text = fmt::format(
        "    ld.param.u64 %address, [{0}];\n"
        "    cvta.to.global.u64 %address, %address;\n"
        "    mul.wide.u32 %offset, %tile, {1};\n"
        "    add.s64 %address, %address, %offset;\n"
        "    add.s64 %address, %address, %lane_offset;\n",
        letter, registers * kWarpLanes * 4);
    const bool wide = kind.a == MmaType::f64;
    for (int i = 0; i < registers; ++i) {
        const std::string name = wide ? fmt::format("%w{}", i % 2) : fmt::format("%{}{}", letter, i);
        const std::string pair =
            fmt::format("mov.b64 {}, {};\n", load ? fmt::format("%{}{}", letter, i / 2) : "{%w0, %w1}",
                        load ? "{%w0, %w1}" : fmt::format("%{}{}", letter, i / 2));
        if (wide && !load && i % 2 == 0) text += "    " + pair;
        text += load ? fmt::format("    ld.global.b32 {}, [%address+{}];\n", name, i * kWarpLanes * 4)
                     : fmt::format("    st.global.b32 [%address+{}], {};\n", i * kWarpLanes * 4, name);
        if (wide && load && i % 2 == 1) text += "    " + pair;
    }
    return text;
}

std::string register_type(const MmaKind& kind, bool accumulator) {
    if (kind.a == MmaType::f64) return ".f64";
    return accumulator && kind.d == MmaType::f32 ? ".f32" : ".b32";
}

}  // namespace

MmaTiles mma_tiles(const MmaKind& kind, std::uint64_t first, int count) {
    MmaTiles tiles{count, {}, {}, {}};
    for (const Operand operand : {Operand::a, Operand::b, Operand::c}) {
        const std::vector<std::size_t> position = positions(kind, operand);
        for (int i = 0; i < count; ++i) {
            const std::uint64_t tile = first + static_cast<std::uint64_t>(i);
            RandomBits random(seed_of(kind, tile) + static_cast<std::uint64_t>(operand) * 0xd1342543de82ef95ULL);
            add_operand(kind, operand, position, kStyles[tile % kStyles.size()], random, words_of(tiles, operand));
        }
    }
    return tiles;
}

std::vector<std::uint32_t> emulated(const MmaKind& kind, emulator::TensorCoreModel model, const MmaTiles& tiles) {
    const MmaRegisters registers = emulator::mma_registers(kind);
    std::vector<std::uint32_t> d(tiles.c.size());
    for (int tile = 0; tile < tiles.count; ++tile) {
        const auto at = [tile](int count) { return product(tile, count, kWarpLanes); };
        emulator::mma(kind, model, &tiles.a[at(registers.a)], &tiles.b[at(registers.b)], &tiles.c[at(registers.c)],
                      &d[at(registers.c)]);
    }
    return d;
}

std::string mma_ptx(const MmaKind& kind, int compute_capability) {
    const MmaRegisters registers = emulator::mma_registers(kind);
    std::string text = fmt::format(
        ".version {}\n.target sm_{}\n.address_size 64\n\n"
        ".visible .entry mma_tiles(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, .param .u32 count)\n"
        "{{\n    .reg .b64 %address, %offset, %lane_offset;\n    .reg .b32 %tile, %thread, %block, %limit, %lane;\n"
        "    .reg .b32 %w<2>;\n    .reg .pred %beyond;\n"
        "    .reg {} %a<4>;\n    .reg {} %b<4>;\n    .reg {} %c<4>;\n    .reg {} %d<4>;\n",
        ptx_version(kind), compute_capability, register_type(kind, false), register_type(kind, false),
        register_type(kind, true), register_type(kind, true));
    text +=
        "    mov.u32 %thread, %tid.x;\n"
        "    mov.u32 %block, %ctaid.x;\n"
        "    shr.u32 %tile, %thread, 5;\n"
        "    mad.lo.u32 %tile, %block, 4, %tile;\n"
        "    ld.param.u32 %limit, [count];\n"
        "    setp.ge.u32 %beyond, %tile, %limit;\n"
        "    @%beyond ret;\n"
        "    and.b32 %lane, %thread, 31;\n"
        "    mul.wide.u32 %lane_offset, %lane, 4;\n";
    text += move_operand(kind, 'a', registers.a, true) + move_operand(kind, 'b', registers.b, true) +
            move_operand(kind, 'c', registers.c, true);
    const auto name = [](MmaType type) { return format_of(type).name; };
    text += fmt::format("    mma.sync.aligned.m{}n{}k{}.row.col{}.{}.{}.{}.{} {}, {}, {}, {};\n", kind.m, kind.n,
                        kind.k, kind.saturate ? ".satfinite" : "", name(kind.d), name(kind.a), name(kind.b),
                        name(kind.c), operand_list(kind, 'd', registers.c), operand_list(kind, 'a', registers.a),
                        operand_list(kind, 'b', registers.b), operand_list(kind, 'c', registers.c));
    return text + move_operand(kind, 'd', registers.c, false) + "    ret;\n}\n";
}

bool same_element(const MmaKind& kind, std::uint64_t left, std::uint64_t right) {
    if (left == right) return true;
    const auto is_nan = [](std::uint64_t bits) { return (bits & ~(std::uint64_t{1} << 63)) > 0x7ff0000000000000ULL; };
    return kind.d == MmaType::f64 && is_nan(left) && is_nan(right);
}

namespace {

std::uint64_t element_at(const MmaKind& kind, Operand operand, const std::vector<std::uint32_t>& words, int tile,
                         Coordinate wanted) {
    const int stride = registers_of(kind, operand) * kWarpLanes;
    for (int lane = 0; lane < kWarpLanes; ++lane)
        for (int i = 0; i < emulator::mma_elements(kind, operand); ++i)
            if (emulator::mma_coordinate(kind, operand, lane, i) == wanted)
                return get(&words[product(tile, stride, 1)], lane, i, format_of(type_of(kind, operand)).bits);
    return 0;
}

}  // namespace

std::string describe_dot(const MmaKind& kind, const MmaTiles& tiles, int tile, int row, int column) {
    std::string text = fmt::format("c={:x}", element_at(kind, Operand::c, tiles.c, tile, {row, column}));
    std::string a, b;
    for (int k = 0; k < kind.k; ++k) {
        a += fmt::format("{}{:x}", k == 0 ? "" : ",", element_at(kind, Operand::a, tiles.a, tile, {row, k}));
        b += fmt::format("{}{:x}", k == 0 ? "" : ",", element_at(kind, Operand::b, tiles.b, tile, {column, k}));
    }
    return text + " a=" + a + " b=" + b;
}

std::uint64_t result_element(const MmaKind& kind, const std::vector<std::uint32_t>& d, int tile, int row, int column) {
    return element_at(kind, Operand::c, d, tile, {row, column});
}

}  // namespace jitgemm::testing
