// Logic, shifts and bit fields: and, or, xor, not, lop3, shl, shr, shf, prmt, bfe, bfi, clz, popc.

#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/plain_instructions.hpp"

#include <algorithm>
#include <bit>

namespace jitgemm::emulator {
namespace {

constexpr auto kAnd = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto kOr = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto kXor = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
constexpr auto kNot = [](auto a) { return static_cast<decltype(a)>(~a); };

/// Bit i of the truth table is the result where the bits of a, b, c read as i = 4a + 2b + c.
constexpr auto kLop3 = [](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t table) {
    std::uint32_t result = 0;
    for (std::uint32_t row = 0; row < 8; ++row) {
        const std::uint32_t chosen =
            ((row & 4U) != 0 ? a : ~a) & ((row & 2U) != 0 ? b : ~b) & ((row & 1U) != 0 ? c : ~c);
        if ((table >> row & 1U) != 0) result |= chosen;
    }
    return result;
};

void execute_lop3(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    const Source<std::uint32_t> a(warp, instruction.values[1]);
    const Source<std::uint32_t> b(warp, instruction.values[2]);
    const Source<std::uint32_t> c(warp, instruction.values[3]);
    const auto table = static_cast<std::uint32_t>(instruction.immediate);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, kLop3(a[lane], b[lane], c[lane], table)); });
}

// ---- shifts: amounts beyond the width are clamped to it -------------------------------------------------------------

constexpr auto kShiftLeft = [](auto a, std::uint32_t amount) {
    using T = decltype(a);
    return amount >= 8 * sizeof(T) ? T{0} : static_cast<T>(a << amount);
};
constexpr auto kShiftRight = [](auto a, std::uint32_t amount) {
    using T = decltype(a);
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> std::min(amount, kBits - 1));
    return amount >= kBits ? T{0} : static_cast<T>(a >> amount);
};

/// Funnel shifts of b:a; kWrap takes the amount modulo 32, otherwise it is clamped to 32.
template <bool kLeft, bool kWrap>
std::uint32_t funnel(std::uint32_t low, std::uint32_t high, std::uint32_t amount) {
    const std::uint64_t both = std::uint64_t{high} << 32U | low;
    const std::uint32_t n = kWrap ? amount & 31U : std::min(amount, 32U);
    return static_cast<std::uint32_t>(kLeft ? both << n >> 32U : both >> n);
}

// ---- bytes ----------------------------------------------------------------------------------------------------------

/// A byte of b:a, or with the selector's high bit its sign in every bit.
std::uint32_t permuted_byte(std::uint64_t bytes, std::uint32_t selector) {
    const auto byte = static_cast<std::uint32_t>(bytes >> (8 * (selector & 7U))) & 0xFFU;
    const bool sign_only = (selector & 8U) != 0;
    return !sign_only ? byte : (byte & 0x80U) != 0 ? 0xFFU : 0U;
}

std::uint32_t permute(std::uint64_t bytes, const std::array<std::uint32_t, 4>& selectors) {
    std::uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) result |= permuted_byte(bytes, selectors.at(i)) << (8 * i);
    return result;
}

std::uint64_t pair(std::uint32_t a, std::uint32_t b) { return std::uint64_t{b} << 32U | a; }

std::uint32_t prmt(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return permute(pair(a, b), {c & 15U, c >> 4U & 15U, c >> 8U & 15U, c >> 12U & 15U});
}

/// The modes of the ISA's table: the selectors of the four bytes for each value of the two low bits of c.
using Selectors = std::array<std::array<std::uint32_t, 4>, 4>;
constexpr Selectors kForward4{{{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}};
constexpr Selectors kBackward4{{{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}};
constexpr Selectors kReplicate8{{{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}};
constexpr Selectors kEdgeLeft{{{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}};
constexpr Selectors kEdgeRight{{{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}};
constexpr Selectors kReplicate16{{{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}};

template <const Selectors& kSelectors>
std::uint32_t prmt_mode(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    return permute(pair(a, b), kSelectors.at(c & 3U));
}

// ---- fields ---------------------------------------------------------------------------------------------------------

/// Bits from `position` on, `length` of them, both taken modulo 256; above them and beyond the register lies the sign.
constexpr auto kExtract = [](auto a, std::uint32_t position, std::uint32_t length) {
    using T = decltype(a);
    using U = std::make_unsigned_t<T>;
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t first = position & 0xFFU;
    const std::uint32_t count = length & 0xFFU;
    if (count == 0) return T{0};
    const bool negative = std::is_signed_v<T> && (a >> std::min(first + count - 1, kBits - 1) & 1) != 0;
    const U sign = negative ? ~U{0} : U{0};
    const U beyond = first == 0 || first >= kBits ? U{0} : sign << (kBits - first);
    const U bits = first >= kBits ? sign : static_cast<U>(a) >> first | beyond;
    if (count >= kBits) return static_cast<T>(bits);
    const U field = (U{1} << count) - 1;
    return static_cast<T>((bits & field) | (sign & ~field));
};

template <typename T>
T insert_field(T field, T into, std::uint32_t position, std::uint32_t length) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t first = position & 0xFFU;
    const std::uint32_t count = length & 0xFFU;
    if (first >= kBits || count == 0) return into;
    const T ones = count >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
    const T place = static_cast<T>(ones << first);
    return static_cast<T>((into & ~place) | ((field << first) & place));
}

template <typename T>
void execute_bfi(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> field(warp, instruction.values[1]);
    const Source<T> into(warp, instruction.values[2]);
    const Source<std::uint32_t> position(warp, instruction.values[3]);
    const Source<std::uint32_t> length(warp, instruction.values[4]);
    for_lanes(mask, [&](std::size_t lane) {
        d.set(lane, insert_field<T>(field[lane], into[lane], position[lane], length[lane]));
    });
}

constexpr auto kPopulation = [](auto a) { return static_cast<std::uint32_t>(std::popcount(a)); };
constexpr auto kLeadingZeros = [](auto a) { return static_cast<std::uint32_t>(std::countl_zero(a)); };
// ---- table ----------------------------------------------------------------------------------------------------------

using Rows = std::vector<PlainInstruction>;
constexpr InstructionKind kKind = InstructionKind::logic;

template <typename T>
void add_logic(Rows& rows) {
    const std::string type = ".b" + std::to_string(8 * sizeof(T));
    const char letter = integer_letter<T>();
    const std::string two(3, letter);
    rows.push_back({"and" + type, two, kKind, execute_binary<kAnd, T, T, T>});
    rows.push_back({"or" + type, two, kKind, execute_binary<kOr, T, T, T>});
    rows.push_back({"xor" + type, two, kKind, execute_binary<kXor, T, T, T>});
    rows.push_back({"not" + type, two.substr(1), kKind, execute_unary<kNot, T, T>});
    rows.push_back({"shl" + type, two.substr(1) + "w", kKind, execute_binary<kShiftLeft, T, T, std::uint32_t>});
    for (const char* sign : {".b", ".u"}) {
        rows.push_back({"shr" + (sign + type.substr(2)), two.substr(1) + "w", kKind,
                        execute_binary<kShiftRight, T, T, std::uint32_t>});
    }
    using S = std::make_signed_t<T>;
    rows.push_back(
        {"shr.s" + type.substr(2), two.substr(1) + "w", kKind, execute_binary<kShiftRight, S, S, std::uint32_t>});
}

template <typename T>
void add_fields(Rows& rows) {
    using U = std::uint32_t;
    using S = std::make_signed_t<T>;
    const std::string bits = std::to_string(8 * sizeof(T));
    const std::string letter(1, integer_letter<T>());
    rows.push_back({"bfe.u" + bits, letter + letter + "ww", kKind, execute_ternary<kExtract, T, T, U, U>});
    rows.push_back({"bfe.s" + bits, letter + letter + "ww", kKind, execute_ternary<kExtract, S, S, U, U>});
    rows.push_back({"bfi.b" + bits, letter + letter + letter + "ww", kKind, execute_bfi<T>});
    rows.push_back({"popc.b" + bits, "w" + letter, kKind, execute_unary<kPopulation, U, T>});
    rows.push_back({"clz.b" + bits, "w" + letter, kKind, execute_unary<kLeadingZeros, U, T>});
}

void add_word_instructions(Rows& rows) {
    using U = std::uint32_t;
    rows.push_back({"shf.l.wrap.b32", "wwww", kKind, execute_ternary<funnel<true, true>, U, U, U, U>});
    rows.push_back({"shf.l.clamp.b32", "wwww", kKind, execute_ternary<funnel<true, false>, U, U, U, U>});
    rows.push_back({"shf.r.wrap.b32", "wwww", kKind, execute_ternary<funnel<false, true>, U, U, U, U>});
    rows.push_back({"shf.r.clamp.b32", "wwww", kKind, execute_ternary<funnel<false, false>, U, U, U, U>});
    rows.push_back({"prmt.b32", "wwww", kKind, execute_ternary<prmt, U, U, U, U>});
    rows.push_back({"prmt.b32.f4e", "wwww", kKind, execute_ternary<prmt_mode<kForward4>, U, U, U, U>});
    rows.push_back({"prmt.b32.b4e", "wwww", kKind, execute_ternary<prmt_mode<kBackward4>, U, U, U, U>});
    rows.push_back({"prmt.b32.rc8", "wwww", kKind, execute_ternary<prmt_mode<kReplicate8>, U, U, U, U>});
    rows.push_back({"prmt.b32.ecl", "wwww", kKind, execute_ternary<prmt_mode<kEdgeLeft>, U, U, U, U>});
    rows.push_back({"prmt.b32.ecr", "wwww", kKind, execute_ternary<prmt_mode<kEdgeRight>, U, U, U, U>});
    rows.push_back({"prmt.b32.rc16", "wwww", kKind, execute_ternary<prmt_mode<kReplicate16>, U, U, U, U>});
}

const PlainInstructions& table() {
    static const PlainInstructions kTable([] {
        Rows rows;
        add_logic<std::uint16_t>(rows);
        add_logic<std::uint32_t>(rows);
        add_logic<std::uint64_t>(rows);
        add_fields<std::uint32_t>(rows);
        add_fields<std::uint64_t>(rows);
        add_word_instructions(rows);
        return rows;
    }());
    return kTable;
}

// ---- predicates -----------------------------------------------------------------------------------------------------

template <auto kFunction>
void execute_predicate(Warp& warp, const Instruction& instruction, Mask mask) {
    const Mask a = warp.predicate(instruction.values[1]);
    const Mask b = instruction.values.size() > 2 ? warp.predicate(instruction.values[2]) : 0;
    warp.set_predicate(instruction.values[0], mask, kFunction(a, b));
}

template <auto kFunction>
void decode_predicate(InstructionDecoder& decoder, std::size_t operands) {
    decoder.require_operands(operands, operands);
    for (std::size_t i = 0; i < operands; ++i) decoder.add(i, OperandType::predicate);
    decoder.destinations(1);
    decoder.execute(kKind, execute_predicate<kFunction>);
}

constexpr auto kPredicateNot = [](Mask a, Mask /*unused*/) { return ~a; };

void decode_plain(InstructionDecoder& decoder) { table().decode(decoder); }

void decode_prmt(InstructionDecoder& decoder) {
    decode_plain(decoder);
    decoder.result().unwritten = UnwrittenSource::mixed;
}

template <auto kFunction, std::size_t kOperands>
void decode_logic(InstructionDecoder& decoder) {
    const bool predicates = decoder.source().modifiers == std::vector<std::string>{"pred"};
    predicates ? decode_predicate<kFunction>(decoder, kOperands) : table().decode(decoder);
}

void decode_lop3(InstructionDecoder& decoder) {
    if (decoder.source().opcode() != "lop3.b32") decoder.unsupported();
    decoder.require_operands(5, 5);
    for (std::size_t i = 0; i < 4; ++i) decoder.add(i, OperandType::bits32);
    decoder.result().immediate = decoder.constant(4) & 0xFF;
    decoder.destinations(1);
    decoder.execute(kKind, execute_lop3);
}

}  // namespace

std::vector<DecoderRow> bit_decoders() {
    return {{"and", decode_logic<kAnd, 3>}, {"or", decode_logic<kOr, 3>},
            {"xor", decode_logic<kXor, 3>}, {"not", decode_logic<kPredicateNot, 2>},
            {"shl", decode_plain},          {"shr", decode_plain},
            {"shf", decode_plain},          {"prmt", decode_prmt},
            {"bfe", decode_plain},          {"bfi", decode_plain},
            {"popc", decode_plain},         {"clz", decode_plain},
            {"lop3", decode_lop3}};
}

}  // namespace jitgemm::emulator
