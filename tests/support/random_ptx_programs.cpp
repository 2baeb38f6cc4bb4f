#include "tests/support/random_ptx_programs.hpp"

#include "tests/support/random_bits.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace jitgemm::testing {
namespace {

constexpr int kLanes = 32;
constexpr int kInstructions = 24;

/// A letter names the kind of a value. Registers: r, H, B: .b32; f: .f32; h, b, s, e: .b16; w: .b64; p: .pred.
///   r  32-bit integer     f  f32     h  f16     b  bf16     H  f16x2     B  bf16x2
///   s  16-bit integer     w  64-bit integer     e  e4m3x2   g  e5m2x2    p  predicate
struct Template {
    std::string_view text;  ///< $d the result, $a $b $c operands, $n 0…40, $x any word, $m any byte
    char result;
    std::string_view operands;
    int capability = 80;
    bool open_nan = false;  ///< the ISA leaves the bits of a NaN result open
};

// These stand for sad.u32 and brev.b32, which the recorded programs used: the results are the same.
constexpr std::string_view kSumOfDifference =
    "{ .reg .b32 least; max.u32 $d, $a, $b; min.u32 least, $a, $b; sub.s32 $d, $d, least; add.s32 $d, $d, $c; }";
constexpr std::string_view kReversedBits =
    "{ .reg .b32 odd; prmt.b32 $d, $a, 0, 0x0123;"
    " shr.u32 odd, $d, 4; and.b32 odd, odd, 0x0f0f0f0f; and.b32 $d, $d, 0x0f0f0f0f; shl.b32 $d, $d, 4;"
    " or.b32 $d, $d, odd;"
    " shr.u32 odd, $d, 2; and.b32 odd, odd, 0x33333333; and.b32 $d, $d, 0x33333333; shl.b32 $d, $d, 2;"
    " or.b32 $d, $d, odd;"
    " shr.u32 odd, $d, 1; and.b32 odd, odd, 0x55555555; and.b32 $d, $d, 0x55555555; shl.b32 $d, $d, 1;"
    " or.b32 $d, $d, odd; }";

// clang-format off
constexpr std::array kTemplates = {
    // integers
    Template{"add.s32 $d, $a, $b;", 'r', "rr"}, Template{"sub.s32 $d, $a, $b;", 'r', "rr"},
    Template{"mul.lo.s32 $d, $a, $b;", 'r', "rr"}, Template{"mul.hi.s32 $d, $a, $b;", 'r', "rr"},
    Template{"mul.hi.u32 $d, $a, $b;", 'r', "rr"}, Template{"mad.lo.s32 $d, $a, $b, $c;", 'r', "rrr"},
    Template{"mad.hi.u32 $d, $a, $b, $c;", 'r', "rrr"}, Template{"add.sat.s32 $d, $a, $b;", 'r', "rr"},
    Template{"min.s32 $d, $a, $b;", 'r', "rr"}, Template{"max.u32 $d, $a, $b;", 'r', "rr"},
    Template{"abs.s32 $d, $a;", 'r', "r"}, Template{"neg.s32 $d, $a;", 'r', "r"},
    Template{kSumOfDifference, 'r', "rrr"}, Template{"or.b32 $d, $a, 1; div.s32 $d, $b, $d;", 'r', "rr"},
    Template{"or.b32 $d, $a, 16; rem.u32 $d, $b, $d;", 'r', "rr"},
    Template{"and.b32 $d, $a, $b;", 'r', "rr"}, Template{"or.b32 $d, $a, $b;", 'r', "rr"},
    Template{"xor.b32 $d, $a, $x;", 'r', "r"}, Template{"not.b32 $d, $a;", 'r', "r"},
    Template{"lop3.b32 $d, $a, $b, $c, $m;", 'r', "rrr"}, Template{"prmt.b32 $d, $a, $b, $c;", 'r', "rrr"},
    Template{"prmt.b32 $d, $a, $b, $x;", 'r', "rr"}, Template{"shl.b32 $d, $a, $n;", 'r', "r"},
    Template{"shr.s32 $d, $a, $n;", 'r', "r"}, Template{"shr.u32 $d, $a, $b;", 'r', "rr"},
    Template{"shf.l.wrap.b32 $d, $a, $b, $c;", 'r', "rrr"}, Template{"shf.r.clamp.b32 $d, $a, $b, $n;", 'r', "rr"},
    Template{"bfe.u32 $d, $a, $n, $n;", 'r', "r"}, Template{"bfe.s32 $d, $a, $n, $n;", 'r', "r"},
    Template{"bfi.b32 $d, $a, $b, $n, $n;", 'r', "rr"}, Template{"popc.b32 $d, $a;", 'r', "r"},
    Template{"clz.b32 $d, $a;", 'r', "r"}, Template{kReversedBits, 'r', "r"},
    Template{"selp.b32 $d, $a, $b, $c;", 'r', "rrp"}, Template{"dp4a.s32.u32 $d, $a, $b, $c;", 'r', "rrr"},
    // 16- and 64-bit integers
    Template{"add.s16 $d, $a, $b;", 's', "ss"}, Template{"mul.lo.u16 $d, $a, $b;", 's', "ss"},
    Template{"max.s16 $d, $a, $b;", 's', "ss"}, Template{"shr.s16 $d, $a, $n;", 's', "s"},
    Template{"mul.wide.s16 $d, $a, $b;", 'r', "ss"}, Template{"cvt.u16.u32 $d, $a;", 's', "r"},
    Template{"cvt.s32.s16 $d, $a;", 'r', "s"}, Template{"mul.wide.u32 $d, $a, $b;", 'w', "rr"},
    Template{"mad.wide.s32 $d, $a, $b, $c;", 'w', "rrw"}, Template{"add.s64 $d, $a, $b;", 'w', "ww"},
    Template{"mul.lo.s64 $d, $a, $b;", 'w', "ww"}, Template{"shl.b64 $d, $a, $n;", 'w', "w"},
    Template{"shr.s64 $d, $a, $n;", 'w', "w"}, Template{"xor.b64 $d, $a, $b;", 'w', "ww"},
    Template{"max.s64 $d, $a, $b;", 'w', "ww"}, Template{"cvt.s64.s32 $d, $a;", 'w', "r"},
    Template{"cvt.u32.u64 $d, $a;", 'r', "w"}, Template{"cvt.sat.s8.s32 $d, $a;", 'r', "r"},
    Template{"cvt.sat.u16.s32 $d, $a;", 'r', "r"}, Template{"cvt.sat.s32.s64 $d, $a;", 'r', "w"},
    Template{"cvt.s32.s8 $d, $a;", 'r', "r"},
    // predicates
    Template{"setp.lt.s32 $d, $a, $b;", 'p', "rr"}, Template{"setp.hs.u32 $d, $a, $b;", 'p', "rr"},
    Template{"setp.lt.f32 $d, $a, $b;", 'p', "ff"}, Template{"setp.geu.f32 $d, $a, $b;", 'p', "ff"},
    Template{"setp.neu.ftz.f32 $d, $a, $b;", 'p', "ff"}, Template{"setp.gt.f16 $d, $a, $b;", 'p', "hh"},
    Template{"setp.nan.f16 $d, $a, $b;", 'p', "hh"}, Template{"setp.ne.and.s32 $d, $a, $b, $c;", 'p', "rrp"},
    Template{"xor.pred $d, $a, $b;", 'p', "pp"}, Template{"not.pred $d, $a;", 'p', "p"},
    Template{"setp.le.bf16 $d, $a, $b;", 'p', "bb", 90},
    // f32
    Template{"add.rn.f32 $d, $a, $b;", 'f', "ff"}, Template{"add.rz.f32 $d, $a, $b;", 'f', "ff"},
    Template{"sub.rm.f32 $d, $a, $b;", 'f', "ff"}, Template{"add.rp.ftz.f32 $d, $a, $b;", 'f', "ff"},
    Template{"sub.sat.f32 $d, $a, $b;", 'f', "ff"}, Template{"mul.rn.f32 $d, $a, $b;", 'f', "ff"},
    Template{"mul.rz.f32 $d, $a, $b;", 'f', "ff"}, Template{"mul.rp.f32 $d, $a, $b;", 'f', "ff"},
    Template{"mul.rm.ftz.sat.f32 $d, $a, $b;", 'f', "ff"}, Template{"fma.rn.f32 $d, $a, $b, $c;", 'f', "fff"},
    Template{"fma.rz.f32 $d, $a, $b, $c;", 'f', "fff"}, Template{"fma.rm.f32 $d, $a, $b, $c;", 'f', "fff"},
    Template{"fma.rp.ftz.f32 $d, $a, $b, $c;", 'f', "fff"}, Template{"fma.rn.sat.f32 $d, $a, $b, $c;", 'f', "fff"},
    Template{"div.rn.f32 $d, $a, $b;", 'f', "ff"}, Template{"div.rz.f32 $d, $a, $b;", 'f', "ff"},
    Template{"sqrt.rn.f32 $d, $a;", 'f', "f"}, Template{"rcp.rn.f32 $d, $a;", 'f', "f"},
    Template{"min.f32 $d, $a, $b;", 'f', "ff"}, Template{"max.NaN.f32 $d, $a, $b;", 'f', "ff"},
    Template{"max.ftz.f32 $d, $a, $b;", 'f', "ff"},
    Template{"min.xorsign.abs.f32 $d, $a, $b;", 'f', "ff", 86, true},
    Template{"neg.f32 $d, $a;", 'f', "f", 80, true}, Template{"abs.ftz.f32 $d, $a;", 'f', "f", 80, true},
    Template{"selp.f32 $d, $a, $b, $c;", 'f', "ffp"},
    // f16 and bf16
    Template{"add.f16 $d, $a, $b;", 'h', "hh"}, Template{"sub.rn.ftz.f16 $d, $a, $b;", 'h', "hh"},
    Template{"mul.f16 $d, $a, $b;", 'h', "hh"}, Template{"mul.sat.f16 $d, $a, $b;", 'h', "hh"},
    Template{"fma.rn.f16 $d, $a, $b, $c;", 'h', "hhh"}, Template{"fma.rn.relu.f16 $d, $a, $b, $c;", 'h', "hhh"},
    Template{"fma.rn.ftz.sat.f16 $d, $a, $b, $c;", 'h', "hhh"}, Template{"min.f16 $d, $a, $b;", 'h', "hh"},
    Template{"max.NaN.f16 $d, $a, $b;", 'h', "hh"}, Template{"neg.f16 $d, $a;", 'h', "h", 80, true},
    Template{"abs.f16 $d, $a;", 'h', "h", 80, true}, Template{"add.f16x2 $d, $a, $b;", 'H', "HH"},
    Template{"mul.f16x2 $d, $a, $b;", 'H', "HH"}, Template{"sub.sat.f16x2 $d, $a, $b;", 'H', "HH"},
    Template{"fma.rn.f16x2 $d, $a, $b, $c;", 'H', "HHH"}, Template{"fma.rn.relu.f16x2 $d, $a, $b, $c;", 'H', "HHH"},
    Template{"max.f16x2 $d, $a, $b;", 'H', "HH"}, Template{"min.NaN.f16x2 $d, $a, $b;", 'H', "HH"},
    Template{"fma.rn.bf16 $d, $a, $b, $c;", 'b', "bbb"}, Template{"fma.rn.relu.bf16 $d, $a, $b, $c;", 'b', "bbb"},
    Template{"fma.rn.bf16x2 $d, $a, $b, $c;", 'B', "BBB"}, Template{"max.bf16 $d, $a, $b;", 'b', "bb"},
    Template{"min.NaN.bf16x2 $d, $a, $b;", 'B', "BB"}, Template{"add.rn.bf16 $d, $a, $b;", 'b', "bb", 90},
    Template{"mul.rn.bf16x2 $d, $a, $b;", 'B', "BB", 90}, Template{"sub.rn.bf16x2 $d, $a, $b;", 'B', "BB", 90},
    // conversions
    Template{"cvt.rni.s32.f32 $d, $a;", 'r', "f"}, Template{"cvt.rzi.u32.f32 $d, $a;", 'r', "f"},
    Template{"cvt.rmi.ftz.s32.f32 $d, $a;", 'r', "f"}, Template{"cvt.rpi.s64.f32 $d, $a;", 'w', "f"},
    Template{"cvt.rzi.u64.f32 $d, $a;", 'w', "f"}, Template{"cvt.rni.s16.f32 $d, $a;", 's', "f"},
    Template{"cvt.rzi.s32.f16 $d, $a;", 'r', "h"}, Template{"cvt.rn.f32.s32 $d, $a;", 'f', "r"},
    Template{"cvt.rz.f32.u32 $d, $a;", 'f', "r"}, Template{"cvt.rp.f32.s64 $d, $a;", 'f', "w"},
    Template{"cvt.rn.f16.s32 $d, $a;", 'h', "r"}, Template{"cvt.rn.f16.u16 $d, $a;", 'h', "s"},
    Template{"cvt.rni.f32.f32 $d, $a;", 'f', "f", 80, true}, Template{"cvt.rmi.f32.f32 $d, $a;", 'f', "f", 80, true},
    Template{"cvt.sat.f32.f32 $d, $a;", 'f', "f"}, Template{"cvt.rn.f16.f32 $d, $a;", 'h', "f"},
    Template{"cvt.rz.f16.f32 $d, $a;", 'h', "f"}, Template{"cvt.rm.sat.f16.f32 $d, $a;", 'h', "f"},
    Template{"cvt.f32.f16 $d, $a;", 'f', "h", 80, true}, Template{"cvt.rn.bf16.f32 $d, $a;", 'b', "f"},
    Template{"cvt.rz.relu.bf16.f32 $d, $a;", 'b', "f"}, Template{"cvt.rn.f16x2.f32 $d, $a, $b;", 'H', "ff"},
    Template{"cvt.rn.relu.f16x2.f32 $d, $a, $b;", 'H', "ff"}, Template{"cvt.rn.bf16x2.f32 $d, $a, $b;", 'B', "ff"},
    Template{"cvt.rz.bf16x2.f32 $d, $a, $b;", 'B', "ff"}, Template{"cvt.rna.tf32.f32 $d, $a;", 't', "f", 80, true},
    Template{"cvt.f32.bf16 $d, $a;", 'f', "b", 90, true},
    Template{"cvt.rn.satfinite.e4m3x2.f32 $d, $a, $b;", 'e', "ff", 89},
    Template{"cvt.rn.satfinite.relu.e5m2x2.f32 $d, $a, $b;", 'g', "ff", 89},
    Template{"cvt.rn.satfinite.e4m3x2.f16x2 $d, $a;", 'e', "H", 89},
    Template{"cvt.rn.satfinite.e5m2x2.f16x2 $d, $a;", 'g', "H", 89},
    Template{"cvt.rn.f16x2.e4m3x2 $d, $a;", 'H', "e", 89}, Template{"cvt.rn.relu.f16x2.e5m2x2 $d, $a;", 'H', "g", 89},
    // bits
    Template{"mov.b32 $d, $a;", 'r', "f"}, Template{"mov.b32 $d, {$a, $b};", 'H', "hh"},
    Template{"mov.b32 $d, {$a, $b};", 'B', "bb"}, Template{"mov.b64 $d, {$a, $b};", 'w', "rr"},
};
// clang-format on

/// Register class of a value's letter.
char class_of(char letter) {
    switch (letter) {
        case 'H':
        case 'B':
        case 't': return 'r';
        case 'h':
        case 'b':
        case 's':
        case 'e':
        case 'g': return 'h';
        default: return letter;
    }
}

// ---- inputs ---------------------------------------------------------------------------------------------------------

std::uint32_t half_word(RandomBits& random, int fraction_bits, std::uint32_t bias, std::uint32_t top) {
    const std::uint32_t sign_and_fraction =
        static_cast<std::uint32_t>(random.next()) & (0x8000U | ((1U << fraction_bits) - 1U));
    switch (random.below(8)) {
        case 0: return static_cast<std::uint32_t>(random.next()) & 0xffffU;
        case 1: return sign_and_fraction & 0x8000U;                           // zero
        case 2: return sign_and_fraction;                                     // subnormal
        case 3: return (sign_and_fraction & 0x8000U) | top << fraction_bits;  // infinity
        default: return sign_and_fraction | (bias - 4 + random.below(8)) << fraction_bits;
    }
}

std::uint32_t f32_word(RandomBits& random) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    switch (random.below(10)) {
        case 0: return bits;
        case 1: return bits & 0x80000000U;
        case 2: return bits & 0x807fffffU;
        case 3: return (bits & 0x80000000U) | 0x7f800000U;
        case 4: return (bits & 0x807fffffU) | (random.below(40) << 23);
        default: return (bits & 0x807fffffU) | ((122U + random.below(12)) << 23);
    }
}

std::uint32_t integer_word(RandomBits& random) {
    const auto bits = static_cast<std::uint32_t>(random.next());
    return random.below(3) == 0 ? bits & 0x1fU : bits;
}

/// Four words each of integers and f32, two each of f16 and bf16 pairs.
constexpr int kInputWords = 12;

std::uint32_t input_word(RandomBits& random, int word) {
    if (word < 4) return integer_word(random);
    if (word < 8) return f32_word(random);
    const int fraction_bits = word < 10 ? 10 : 7;
    const std::uint32_t bias = word < 10 ? 15 : 127;
    const std::uint32_t low = half_word(random, fraction_bits, bias, 2 * bias + 1);
    const std::uint32_t high = half_word(random, fraction_bits, bias, 2 * bias + 1);
    return high << 16 | low;
}

// ---- text -----------------------------------------------------------------------------------------------------------

class Writer {
public:
    Writer(std::uint64_t index, int capability) : random_(index * 2 + 1), capability_(capability) {}

    PtxProgram program(std::uint64_t index) {
        PtxProgram result{fmt::format("program_{}", index), "", kInputWords, kInstructions, {}, {}};
        read_inputs();
        for (int i = 0; i < kInstructions; ++i) result.instructions.push_back(instruction(i));
        result.entry = entry(result.name);
        for (int word = 0; word < kInputWords; ++word)
            for (int lane = 0; lane < kLanes; ++lane) result.inputs.push_back(input_word(random_, word));
        return result;
    }

private:
    std::string new_register(char letter) {
        const char group = class_of(letter);
        return fmt::format("%{}{}", group, counts_[group]++);
    }
    std::string new_value(char letter) {
        std::string name = new_register(letter);
        values_[letter].push_back(name);
        return name;
    }
    void line(const std::string& text) { body_ += "    " + text + "\n"; }

    void read_inputs() {
        for (int word = 0; word < kInputWords; ++word) {
            const std::string bits = word < 4 ? new_value('r') : new_register('r');
            line(fmt::format("ld.global.u32 {}, [%in+{}];", bits, 4 * kLanes * word));
            if (word >= 4 && word < 8) line(fmt::format("mov.b32 {}, {};", new_value('f'), bits));
            if (word >= 8) read_halves(bits, word < 10 ? 'h' : 'b');
        }
        const std::string low = new_value('s');
        const std::string high = new_value('s');
        line(fmt::format("mov.b32 {{{}, {}}}, %r0;", low, high));
        line(fmt::format("mov.b64 {}, {{%r1, %r2}};", new_value('w')));
        line(fmt::format("setp.lt.s32 {}, %r2, %r3;", new_value('p')));
    }
    void read_halves(const std::string& bits, char letter) {
        // One after the other: the order in which a call's arguments are made is not fixed.
        const std::string low = new_value(letter);
        const std::string high = new_value(letter);
        line(fmt::format("mov.b32 {{{}, {}}}, {};", low, high, bits));
        values_[letter == 'h' ? 'H' : 'B'].push_back(bits);
    }

    /// Half of the time one of the last values, so that results feed results.
    std::string operand(char letter) {
        const std::vector<std::string>& known = values_.at(letter);
        const auto count = static_cast<std::uint32_t>(known.size());
        const std::uint32_t recent = count < 3 ? count : 3;
        return random_.below(2) == 0 ? known[count - 1 - random_.below(recent)] : known[random_.below(count)];
    }

    [[nodiscard]] bool usable(const Template& candidate) const {
        if (candidate.capability > capability_) return false;
        for (const char letter : candidate.operands)
            if (values_.find(letter) == values_.end()) return false;
        return true;
    }
    const Template& choose() {
        for (;;) {
            const Template& candidate = kTemplates[random_.below(static_cast<std::uint32_t>(kTemplates.size()))];
            if (usable(candidate)) return candidate;
        }
    }

    std::string substituted(const Template& chosen, const std::string& result) {
        std::vector<std::string> operands;
        for (const char letter : chosen.operands) operands.push_back(operand(letter));
        std::string text;
        for (std::size_t i = 0; i < chosen.text.size(); ++i) {
            if (chosen.text[i] != '$') {
                text += chosen.text[i];
                continue;
            }
            switch (const char mark = chosen.text[++i]; mark) {
                case 'd': text += result; break;
                case 'n': text += fmt::format("{}", random_.below(41)); break;
                case 'x': text += fmt::format("0x{:08x}", static_cast<std::uint32_t>(random_.next())); break;
                case 'm': text += fmt::format("0x{:02x}", random_.below(256)); break;
                default: text += operands[static_cast<std::size_t>(mark - 'a')];
            }
        }
        return text;
    }

    std::string instruction(int index) {
        const Template& chosen = choose();
        const std::string result = new_register(chosen.result);
        const std::string text = substituted(chosen, result);
        line(text);
        if (chosen.open_nan) make_nan_canonical(chosen.result, result);
        values_[chosen.result].push_back(result);
        store(chosen.result, result, index);
        return text;
    }

    void make_nan_canonical(char letter, const std::string& result) {
        const std::string is_nan = new_register('p');
        if (letter == 'h') {
            line(fmt::format("setp.nan.f16 {}, {}, {};", is_nan, result, result));
            line(fmt::format("@{} mov.b16 {}, 0x7fff;", is_nan, result));
            return;
        }
        line(fmt::format("setp.nan.f32 {}, {}, {};", is_nan, result, result));
        const std::string_view move = letter == 'f' ? "mov.f32" : "mov.b32";
        line(fmt::format("@{} {} {}, {};", is_nan, move, result, letter == 'f' ? "0f7FFFFFFF" : "0x7fffffff"));
    }

    void store(char letter, const std::string& result, int index) {
        std::string word = result;
        if (class_of(letter) != 'r') word = new_register('r');
        switch (class_of(letter)) {
            case 'f': line(fmt::format("mov.b32 {}, {};", word, result)); break;
            case 'h': line(fmt::format("cvt.u32.u16 {}, {};", word, result)); break;
            case 'p': line(fmt::format("selp.u32 {}, 1, 0, {};", word, result)); break;
            case 'w': {
                const std::string high = new_register('r');
                line(fmt::format("mov.b64 {{{}, {}}}, {};", word, high, result));
                line(fmt::format("xor.b32 {}, {}, {};", word, word, high));
                break;
            }
            default: break;
        }
        line(fmt::format("st.global.u32 [%out+{}], {};", 4 * kLanes * index, word));
    }

    [[nodiscard]] std::string entry(const std::string& name) const {
        std::string text = fmt::format(".visible .entry {}(.param .u64 inputs, .param .u64 outputs)\n{{\n", name);
        const std::map<char, std::string_view> types{
            {'r', ".b32"}, {'f', ".f32"}, {'h', ".b16"}, {'w', ".b64"}, {'p', ".pred"}};
        for (const auto& [group, count] : counts_)
            text += fmt::format("    .reg {} %{}<{}>;\n", types.at(group), group, count);
        text +=
            "    .reg .b64 %in, %out, %offset;\n"
            "    .reg .b32 %lane;\n"
            "    mov.u32 %lane, %tid.x;\n"
            "    mul.wide.u32 %offset, %lane, 4;\n"
            "    ld.param.u64 %in, [inputs];\n"
            "    cvta.to.global.u64 %in, %in;\n"
            "    add.s64 %in, %in, %offset;\n"
            "    ld.param.u64 %out, [outputs];\n"
            "    cvta.to.global.u64 %out, %out;\n"
            "    add.s64 %out, %out, %offset;\n";
        return text + body_ + "    ret;\n}\n";
    }

    RandomBits random_;
    int capability_;
    std::map<char, std::vector<std::string>> values_;
    std::map<char, int> counts_;
    std::string body_;
};

}  // namespace

PtxProgram random_ptx_program(std::uint64_t index, int compute_capability) {
    return Writer(index, compute_capability).program(index);
}

std::string ptx_module(std::span<const PtxProgram> programs, int compute_capability) {
    std::string text = fmt::format(".version 8.1\n.target sm_{}\n.address_size 64\n\n", compute_capability);
    for (const PtxProgram& program : programs) text += program.entry + "\n";
    return text;
}

}  // namespace jitgemm::testing
