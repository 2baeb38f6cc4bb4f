#include "tests/support/scalar_instructions.hpp"

#include "runtime/emulator/float_arithmetic.hpp"
#include "tests/support/random_bits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm::testing {
namespace {

using namespace emulator;
using enum FloatType;
using enum Rounding;
using Bits = std::uint64_t;

constexpr std::uint32_t low32(Bits bits) { return static_cast<std::uint32_t>(bits); }

constexpr IntegerType kS16{16, true}, kU16{16, false}, kS32{32, true}, kU32{32, false}, kS64{64, true}, kU64{64, false};

/// A floating-point rule of one type and mode as a function without state.
template <FloatType Type, Rounding Round = nearest_even, bool Flush = false, bool Saturate = false, bool Relu = false>
struct Arithmetic {
    static constexpr FloatMode kMode{Round, Flush, Saturate, Relu};
    static Bits add(Bits a, Bits b, Bits) { return emulator::add(Type, a, b, kMode); }
    static Bits sub(Bits a, Bits b, Bits) { return emulator::sub(Type, a, b, kMode); }
    static Bits mul(Bits a, Bits b, Bits) { return emulator::mul(Type, a, b, kMode); }
    static Bits fma(Bits a, Bits b, Bits c) { return emulator::fma(Type, a, b, c, kMode); }
    static Bits div(Bits a, Bits b, Bits) { return emulator::div(Type, a, b, kMode); }
    static Bits sqrt(Bits a, Bits, Bits) { return emulator::sqrt(Type, a, kMode); }
    static Bits rcp(Bits a, Bits, Bits) { return emulator::div(Type, 0x3f800000U, a, kMode); }  // f32
    static Bits add_x2(Bits a, Bits b, Bits) { return emulator::add_x2(Type, low32(a), low32(b), kMode); }
    static Bits sub_x2(Bits a, Bits b, Bits) { return emulator::sub_x2(Type, low32(a), low32(b), kMode); }
    static Bits mul_x2(Bits a, Bits b, Bits) { return emulator::mul_x2(Type, low32(a), low32(b), kMode); }
    static Bits fma_x2(Bits a, Bits b, Bits c) { return emulator::fma_x2(Type, low32(a), low32(b), low32(c), kMode); }
};

template <FloatType Type, bool Flush = false, bool PropagateNan = false, bool XorSign = false>
struct Selection {
    static constexpr MinMaxMode kMode{Flush, PropagateNan, XorSign};
    static Bits min(Bits a, Bits b, Bits) { return emulator::min(Type, a, b, kMode); }
    static Bits max(Bits a, Bits b, Bits) { return emulator::max(Type, a, b, kMode); }
    static Bits min_x2(Bits a, Bits b, Bits) { return emulator::min_x2(Type, low32(a), low32(b), kMode); }
    static Bits max_x2(Bits a, Bits b, Bits) { return emulator::max_x2(Type, low32(a), low32(b), kMode); }
    static Bits neg(Bits a, Bits, Bits) { return emulator::neg(Type, a, Flush); }
    static Bits abs(Bits a, Bits, Bits) { return emulator::abs(Type, a, Flush); }
};

template <FloatType From, FloatType To, Rounding Round = nearest_even, bool Flush = false, bool Saturate = false,
          bool Relu = false, bool Integral = false>
struct Conversion {
    static constexpr ConversionMode kMode{Round, Flush, Saturate, false, Relu, Integral};
    static Bits one(Bits a, Bits, Bits) { return convert_float(From, To, a, kMode); }
    static Bits pack(Bits a, Bits b, Bits) { return pack_x2(To, low32(a), low32(b), kMode); }
    static Bits narrow(Bits a, Bits, Bits) { return narrow_x2(From, To, low32(a), kMode); }
    static Bits widen(Bits a, Bits, Bits) { return widen_x2(From, To, low32(a), Relu); }
};

template <FloatType From, const IntegerType& To, Rounding Round, bool Flush = false>
Bits to_integer(Bits a, Bits, Bits) {
    return convert_to_integer(From, To, a, Round, Flush);
}
template <const IntegerType& From, FloatType To, Rounding Round = nearest_even>
Bits from_integer(Bits a, Bits, Bits) {
    return convert_from_integer(From, To, a, {.rounding = Round});
}

Bits fast_add(Bits a, Bits b, Bits) { return add_f32(low32(a), low32(b)); }
Bits fast_mul(Bits a, Bits b, Bits) { return mul_f32(low32(a), low32(b)); }
Bits fast_fma(Bits a, Bits b, Bits c) { return fma_f32(low32(a), low32(b), low32(c)); }

// clang-format off
constexpr std::array kInstructions = {
    ScalarInstruction{"add.rn.f32 $d, $a, $b;", 'f', "ff", fast_add, 80},
    ScalarInstruction{"add.rz.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, zero>::add, 80},
    ScalarInstruction{"add.rm.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, down>::add, 80},
    ScalarInstruction{"sub.rp.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, up>::sub, 80},
    ScalarInstruction{"add.ftz.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, nearest_even, true>::add, 80},
    ScalarInstruction{"sub.sat.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, nearest_even, false, true>::sub, 80},
    ScalarInstruction{"mul.rn.f32 $d, $a, $b;", 'f', "ff", fast_mul, 80},
    ScalarInstruction{"mul.rz.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, zero>::mul, 80},
    ScalarInstruction{"mul.rp.ftz.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, up, true>::mul, 80},
    ScalarInstruction{"mul.rn.ftz.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, nearest_even, true>::mul, 80},
    ScalarInstruction{"mul.ftz.sat.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, nearest_even, true, true>::mul, 80},
    ScalarInstruction{"fma.rn.f32 $d, $a, $b, $c;", 'f', "fff", fast_fma, 80},
    ScalarInstruction{"fma.rz.f32 $d, $a, $b, $c;", 'f', "fff", Arithmetic<f32, zero>::fma, 80},
    ScalarInstruction{"fma.rm.f32 $d, $a, $b, $c;", 'f', "fff", Arithmetic<f32, down>::fma, 80},
    ScalarInstruction{"fma.rn.ftz.f32 $d, $a, $b, $c;", 'f', "fff", Arithmetic<f32, nearest_even, true>::fma, 80},
    ScalarInstruction{"fma.rn.sat.f32 $d, $a, $b, $c;", 'f', "fff",
                      Arithmetic<f32, nearest_even, false, true>::fma, 80},
    ScalarInstruction{"div.rn.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32>::div, 80},
    ScalarInstruction{"div.rm.ftz.f32 $d, $a, $b;", 'f', "ff", Arithmetic<f32, down, true>::div, 80},
    ScalarInstruction{"sqrt.rn.f32 $d, $a;", 'f', "f", Arithmetic<f32>::sqrt, 80},
    ScalarInstruction{"sqrt.rp.f32 $d, $a;", 'f', "f", Arithmetic<f32, up>::sqrt, 80},
    ScalarInstruction{"rcp.rn.f32 $d, $a;", 'f', "f", Arithmetic<f32>::rcp, 80},
    ScalarInstruction{"min.f32 $d, $a, $b;", 'f', "ff", Selection<f32>::min, 80},
    ScalarInstruction{"max.ftz.f32 $d, $a, $b;", 'f', "ff", Selection<f32, true>::max, 80},
    ScalarInstruction{"max.NaN.f32 $d, $a, $b;", 'f', "ff", Selection<f32, false, true>::max, 80},
    ScalarInstruction{"min.xorsign.abs.f32 $d, $a, $b;", 'f', "ff", Selection<f32, false, false, true>::min, 86},
    ScalarInstruction{"neg.ftz.f32 $d, $a;", 'f', "f", Selection<f32, true>::neg, 80},
    ScalarInstruction{"abs.f32 $d, $a;", 'f', "f", Selection<f32>::abs, 80},
    ScalarInstruction{"add.rn.f64 $d, $a, $b;", 'd', "dd", Arithmetic<f64>::add, 80},
    ScalarInstruction{"mul.rz.f64 $d, $a, $b;", 'd', "dd", Arithmetic<f64, zero>::mul, 80},
    ScalarInstruction{"fma.rn.f64 $d, $a, $b, $c;", 'd', "ddd", Arithmetic<f64>::fma, 80},
    ScalarInstruction{"fma.rp.f64 $d, $a, $b, $c;", 'd', "ddd", Arithmetic<f64, up>::fma, 80},
    ScalarInstruction{"div.rn.f64 $d, $a, $b;", 'd', "dd", Arithmetic<f64>::div, 80},
    ScalarInstruction{"sqrt.rn.f64 $d, $a;", 'd', "d", Arithmetic<f64>::sqrt, 80},
    ScalarInstruction{"add.rn.f16 $d, $a, $b;", 'h', "hh", Arithmetic<f16>::add, 80},
    ScalarInstruction{"sub.ftz.f16 $d, $a, $b;", 'h', "hh", Arithmetic<f16, nearest_even, true>::sub, 80},
    ScalarInstruction{"mul.rn.f16 $d, $a, $b;", 'h', "hh", Arithmetic<f16>::mul, 80},
    ScalarInstruction{"mul.ftz.f16 $d, $a, $b;", 'h', "hh", Arithmetic<f16, nearest_even, true>::mul, 80},
    ScalarInstruction{"mul.sat.f16 $d, $a, $b;", 'h', "hh", Arithmetic<f16, nearest_even, false, true>::mul, 80},
    ScalarInstruction{"fma.rn.f16 $d, $a, $b, $c;", 'h', "hhh", Arithmetic<f16>::fma, 80},
    ScalarInstruction{"fma.rn.ftz.sat.f16 $d, $a, $b, $c;", 'h', "hhh",
                      Arithmetic<f16, nearest_even, true, true>::fma, 80},
    ScalarInstruction{"fma.rn.ftz.relu.f16 $d, $a, $b, $c;", 'h', "hhh",
                      Arithmetic<f16, nearest_even, true, false, true>::fma, 80},
    ScalarInstruction{"add.f16x2 $d, $a, $b;", 'H', "HH", Arithmetic<f16>::add_x2, 80},
    ScalarInstruction{"sub.sat.f16x2 $d, $a, $b;", 'H', "HH", Arithmetic<f16, nearest_even, false, true>::sub_x2, 80},
    ScalarInstruction{"mul.f16x2 $d, $a, $b;", 'H', "HH", Arithmetic<f16>::mul_x2, 80},
    ScalarInstruction{"fma.rn.relu.f16x2 $d, $a, $b, $c;", 'H', "HHH",
                      Arithmetic<f16, nearest_even, false, false, true>::fma_x2, 80},
    ScalarInstruction{"min.f16 $d, $a, $b;", 'h', "hh", Selection<f16>::min, 80},
    ScalarInstruction{"max.ftz.NaN.f16 $d, $a, $b;", 'h', "hh", Selection<f16, true, true>::max, 80},
    ScalarInstruction{"max.f16x2 $d, $a, $b;", 'H', "HH", Selection<f16>::max_x2, 80},
    ScalarInstruction{"neg.f16 $d, $a;", 'h', "h", Selection<f16>::neg, 80},
    ScalarInstruction{"abs.ftz.f16 $d, $a;", 'h', "h", Selection<f16, true>::abs, 80},
    ScalarInstruction{"fma.rn.bf16 $d, $a, $b, $c;", 'b', "bbb", Arithmetic<bf16>::fma, 80},
    ScalarInstruction{"fma.rn.relu.bf16x2 $d, $a, $b, $c;", 'B', "BBB",
                      Arithmetic<bf16, nearest_even, false, false, true>::fma_x2, 80},
    ScalarInstruction{"add.rn.bf16 $d, $a, $b;", 'b', "bb", Arithmetic<bf16>::add, 90},
    ScalarInstruction{"mul.rn.bf16x2 $d, $a, $b;", 'B', "BB", Arithmetic<bf16>::mul_x2, 90},
    ScalarInstruction{"sub.rn.bf16 $d, $a, $b;", 'b', "bb", Arithmetic<bf16>::sub, 90},
    ScalarInstruction{"min.bf16 $d, $a, $b;", 'b', "bb", Selection<bf16>::min, 80},
    ScalarInstruction{"max.NaN.bf16x2 $d, $a, $b;", 'B', "BB", Selection<bf16, false, true>::max_x2, 80},
    ScalarInstruction{"neg.bf16 $d, $a;", 'b', "b", Selection<bf16>::neg, 80},
    ScalarInstruction{"cvt.f32.f16 $d, $a;", 'f', "h", Conversion<f16, f32>::one, 80},
    ScalarInstruction{"cvt.f32.bf16 $d, $a;", 'f', "b", Conversion<bf16, f32>::one, 90},
    ScalarInstruction{"cvt.rn.f16.f32 $d, $a;", 'h', "f", Conversion<f32, f16>::one, 80},
    ScalarInstruction{"cvt.rz.f16.f32 $d, $a;", 'h', "f", Conversion<f32, f16, zero>::one, 80},
    ScalarInstruction{"cvt.rp.ftz.f16.f32 $d, $a;", 'h', "f", Conversion<f32, f16, up, true>::one, 80},
    ScalarInstruction{"cvt.rn.sat.f16.f32 $d, $a;", 'h', "f", Conversion<f32, f16, nearest_even, false, true>::one, 80},
    ScalarInstruction{"cvt.rn.bf16.f32 $d, $a;", 'b', "f", Conversion<f32, bf16>::one, 80},
    ScalarInstruction{"cvt.rz.relu.bf16.f32 $d, $a;", 'b', "f",
                      Conversion<f32, bf16, zero, false, false, true>::one, 80},
    ScalarInstruction{"cvt.rn.f16x2.f32 $d, $a, $b;", 'H', "ff", Conversion<f32, f16>::pack, 80},
    ScalarInstruction{"cvt.rn.relu.f16x2.f32 $d, $a, $b;", 'H', "ff",
                      Conversion<f32, f16, nearest_even, false, false, true>::pack, 80},
    ScalarInstruction{"cvt.rn.bf16x2.f32 $d, $a, $b;", 'B', "ff", Conversion<f32, bf16>::pack, 80},
    ScalarInstruction{"cvt.rna.tf32.f32 $d, $a;", 't', "f", Conversion<f32, tf32, nearest_away>::one, 80},
    ScalarInstruction{"cvt.rn.tf32.f32 $d, $a;", 't', "f", Conversion<f32, tf32>::one, 90},
    ScalarInstruction{"cvt.rn.satfinite.e4m3x2.f32 $d, $a, $b;", 'e', "ff", Conversion<f32, e4m3>::pack, 89},
    ScalarInstruction{"cvt.rn.satfinite.relu.e4m3x2.f32 $d, $a, $b;", 'e', "ff",
                      Conversion<f32, e4m3, nearest_even, false, false, true>::pack, 89},
    ScalarInstruction{"cvt.rn.satfinite.e5m2x2.f32 $d, $a, $b;", 'g', "ff", Conversion<f32, e5m2>::pack, 89},
    ScalarInstruction{"cvt.rn.satfinite.e4m3x2.f16x2 $d, $a;", 'e', "H", Conversion<f16, e4m3>::narrow, 89},
    ScalarInstruction{"cvt.rn.satfinite.e5m2x2.f16x2 $d, $a;", 'g', "H", Conversion<f16, e5m2>::narrow, 89},
    ScalarInstruction{"cvt.rn.f16x2.e4m3x2 $d, $a;", 'H', "e", Conversion<e4m3, f16>::widen, 89},
    ScalarInstruction{"cvt.rn.relu.f16x2.e5m2x2 $d, $a;", 'H', "g",
                      Conversion<e5m2, f16, nearest_even, false, false, true>::widen, 89},
    ScalarInstruction{"cvt.rni.f32.f32 $d, $a;", 'f', "f",
                      Conversion<f32, f32, nearest_even, false, false, false, true>::one, 80},
    ScalarInstruction{"cvt.rmi.ftz.f32.f32 $d, $a;", 'f', "f",
                      Conversion<f32, f32, down, true, false, false, true>::one, 80},
    ScalarInstruction{"cvt.rpi.f16.f16 $d, $a;", 'h', "h",
                      Conversion<f16, f16, up, false, false, false, true>::one, 80},
    ScalarInstruction{"cvt.sat.f32.f32 $d, $a;", 'f', "f", Conversion<f32, f32, nearest_even, false, true>::one, 80},
    ScalarInstruction{"cvt.rz.f32.f64 $d, $a;", 'f', "d", Conversion<f64, f32, zero>::one, 80},
    ScalarInstruction{"cvt.f64.f32 $d, $a;", 'd', "f", Conversion<f32, f64>::one, 80},
    ScalarInstruction{"cvt.rni.s32.f32 $d, $a;", 'r', "f", to_integer<f32, kS32, nearest_even>, 80},
    ScalarInstruction{"cvt.rzi.ftz.u32.f32 $d, $a;", 'r', "f", to_integer<f32, kU32, zero, true>, 80},
    ScalarInstruction{"cvt.rmi.s64.f32 $d, $a;", 'w', "f", to_integer<f32, kS64, down>, 80},
    ScalarInstruction{"cvt.rpi.u64.f32 $d, $a;", 'w', "f", to_integer<f32, kU64, up>, 80},
    ScalarInstruction{"cvt.rni.s16.f32 $d, $a;", 's', "f", to_integer<f32, kS16, nearest_even>, 80},
    ScalarInstruction{"cvt.rzi.s32.f16 $d, $a;", 'r', "h", to_integer<f16, kS32, zero>, 80},
    ScalarInstruction{"cvt.rni.s32.f64 $d, $a;", 'r', "d", to_integer<f64, kS32, nearest_even>, 80},
    ScalarInstruction{"cvt.rn.f32.s32 $d, $a;", 'f', "r", from_integer<kS32, f32>, 80},
    ScalarInstruction{"cvt.rp.f32.u64 $d, $a;", 'f', "w", from_integer<kU64, f32, up>, 80},
    ScalarInstruction{"cvt.rn.f16.s32 $d, $a;", 'h', "r", from_integer<kS32, f16>, 80},
    ScalarInstruction{"cvt.rz.f16.u16 $d, $a;", 'h', "s", from_integer<kU16, f16, zero>, 80},
};
// clang-format on

// ---- operands -------------------------------------------------------------------------------------------------------

struct Fields {
    int exponent_bits;
    int fraction_bits;
};

/// Any bits, zeros, subnormal numbers, infinities, exponents near 1's and near the format's ends.
Bits float_operand(Fields fields, RandomBits& random) {
    const int width = 1 + fields.exponent_bits + fields.fraction_bits;
    const Bits mask = width == 64 ? ~Bits{0} : (Bits{1} << width) - 1;
    const Bits word = random.next() & mask;
    const Bits top = (Bits{1} << fields.exponent_bits) - 1;
    const Bits rest = word & ~(top << fields.fraction_bits);
    const auto with_exponent = [&](Bits exponent) { return rest | std::min(exponent, top) << fields.fraction_bits; };
    switch (random.below(12)) {
        case 0:
        case 1: return word;
        case 2: return word & (Bits{1} << (width - 1));
        case 3: return rest;
        case 4: return (rest & (Bits{1} << (width - 1))) | top << fields.fraction_bits;
        case 5: return with_exponent(random.below(3));
        case 6: return with_exponent(top - 1 - random.below(2));
        case 7: return with_exponent((word & 1) * top / 2 + top / 4 + random.below(4));
        default: return with_exponent(top / 2 - 3 + random.below(7));
    }
}

Bits pair_operand(Fields fields, RandomBits& random) {
    const Bits low = float_operand(fields, random);
    return float_operand(fields, random) << 16 | low;
}

Bits scalar_operand(char letter, RandomBits& random) {
    constexpr Fields kF32{8, 23}, kF64{11, 52}, kF16{5, 10}, kBf16{8, 7};
    switch (letter) {
        case 'f': return float_operand(kF32, random);
        case 'd': return float_operand(kF64, random);
        case 'h': return float_operand(kF16, random);
        case 'b': return float_operand(kBf16, random);
        case 'H': return pair_operand(kF16, random);
        case 'B': return pair_operand(kBf16, random);
        default: {
            const Bits word = random.next();
            return word >> random.below(64);
        }
    }
}

std::string_view register_type(char letter) {
    switch (letter) {
        case 'f': return ".f32";
        case 'd': return ".f64";
        case 'w': return ".b64";
        case 'h':
        case 'b':
        case 'e':
        case 'g':
        case 's': return ".b16";
        default: return ".b32";
    }
}

int width_of(char letter) {
    const std::string_view type = register_type(letter);
    if (type == ".b16") return 16;
    return type == ".f64" || type == ".b64" ? 64 : 32;
}

/// From and to a 64-bit register: text with the register's name.
std::string load(char letter, char name) {
    switch (width_of(letter)) {
        case 16: return fmt::format("    mov.b64 {{%{0}, %rest16, %rest32a, %rest32b}}, %bits;\n", name);
        case 32: return fmt::format("    mov.b64 {{%{0}, %rest}}, %bits;\n", name);
        default: return fmt::format("    mov.b64 %{0}, %bits;\n", name);
    }
}

std::string store(char letter) {
    switch (width_of(letter)) {
        case 16: return "    mov.b64 %bits, {%d, %zero16, %zero16, %zero16};\n";
        case 32: return "    mov.b64 %bits, {%d, %zero};\n";
        default: return "    mov.b64 %bits, %d;\n";
    }
}

std::string substituted(std::string_view text) {
    std::string result;
    for (const char letter : text) result += letter == '$' ? '%' : letter;
    return result;
}

bool is_nan_of(Fields fields, Bits bits) {
    const Bits magnitude = bits & ((Bits{1} << (fields.exponent_bits + fields.fraction_bits)) - 1);
    return magnitude > ((Bits{1} << fields.exponent_bits) - 1) << fields.fraction_bits;
}

}  // namespace

std::span<const ScalarInstruction> scalar_instructions() { return kInstructions; }

std::vector<std::uint64_t> scalar_operands(const ScalarInstruction& instruction, int count) {
    Bits seed = 0;
    for (const char letter : instruction.text) seed = seed * 1099511628211ULL + static_cast<unsigned char>(letter);
    RandomBits random(seed);
    std::vector<std::uint64_t> words;
    for (int i = 0; i < count; ++i)
        for (std::size_t operand = 0; operand < 3; ++operand)
            words.push_back(
                operand < instruction.operands.size() ? scalar_operand(instruction.operands[operand], random) : 0);
    return words;
}

std::string scalar_ptx(const ScalarInstruction& instruction, int compute_capability) {
    std::string text = fmt::format(
        ".version 8.6\n.target sm_{}\n.address_size 64\n\n"
        ".visible .entry scalar(.param .u64 operands, .param .u64 results)\n{{\n"
        "    .reg .b64 %in, %out, %offset, %bits;\n    .reg .b32 %thread, %block, %rest, %zero;\n"
        "    .reg .b16 %rest16, %rest32a, %rest32b, %zero16;\n    .reg {} %d;\n",
        compute_capability, register_type(instruction.result));
    for (std::size_t i = 0; i < instruction.operands.size(); ++i)
        text += fmt::format("    .reg {} %{};\n", register_type(instruction.operands[i]), static_cast<char>('a' + i));
    text +=
        "    mov.b32 %zero, 0;\n    mov.b16 %zero16, 0;\n"
        "    mov.u32 %thread, %tid.x;\n    mov.u32 %block, %ctaid.x;\n    mad.lo.u32 %thread, %block, 128, %thread;\n"
        "    ld.param.u64 %in, [operands];\n    cvta.to.global.u64 %in, %in;\n"
        "    mul.wide.u32 %offset, %thread, 24;\n    add.s64 %in, %in, %offset;\n"
        "    ld.param.u64 %out, [results];\n    cvta.to.global.u64 %out, %out;\n"
        "    mul.wide.u32 %offset, %thread, 8;\n    add.s64 %out, %out, %offset;\n";
    for (std::size_t i = 0; i < instruction.operands.size(); ++i)
        text += fmt::format("    ld.global.b64 %bits, [%in+{}];\n", 8 * i) +
                load(instruction.operands[i], static_cast<char>('a' + i));
    return text + "    " + substituted(instruction.text) + "\n" + store(instruction.result) +
           "    st.global.b64 [%out], %bits;\n    ret;\n}\n";
}

bool same_scalar(const ScalarInstruction& instruction, std::uint64_t left, std::uint64_t right) {
    const Bits unused = ~Bits{0} << (width_of(instruction.result) - 1) << 1;
    left &= ~unused;
    right &= ~unused;
    if (left == right) return true;
    // neg, abs, copies with the sign of a product, f64 and conversions that only widen: the ISA fixes no NaN there.
    const std::string_view text = instruction.text;
    const bool open = text.starts_with("neg") || text.starts_with("abs") || text.find("xorsign") != text.npos ||
                      text.starts_with("cvt.f32.") || text.starts_with("cvt.rpi.f16") ||
                      text.find("f32.f32") != text.npos;
    switch (instruction.result) {
        case 'd': return is_nan_of({11, 52}, left) && is_nan_of({11, 52}, right);
        case 'f': return open && is_nan_of({8, 23}, left) && is_nan_of({8, 23}, right);
        case 'h': return open && is_nan_of({5, 10}, left) && is_nan_of({5, 10}, right);
        case 'b': return open && is_nan_of({8, 7}, left) && is_nan_of({8, 7}, right);
        default: return false;
    }
}

}  // namespace jitgemm::testing
