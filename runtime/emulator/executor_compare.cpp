// setp, set and selp.

#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"

namespace jitgemm::emulator {
namespace {

/// Outcomes of a comparison as bits; an operator is the set it accepts.
constexpr unsigned kLess = 1U << static_cast<unsigned>(Ordering::less);
constexpr unsigned kEqual = 1U << static_cast<unsigned>(Ordering::equal);
constexpr unsigned kGreater = 1U << static_cast<unsigned>(Ordering::greater);
constexpr unsigned kUnordered = 1U << static_cast<unsigned>(Ordering::unordered);

struct OperatorRow {
    std::string_view name;
    unsigned accepted;
    bool integers;
    bool floats;
};

/// lo, ls, hi, hs are the unsigned names of lt, le, gt, ge. Names that end in u also accept NaN.
constexpr std::array<OperatorRow, 18> kOperators{{
    {"eq", kEqual, true, true},
    {"ne", kLess | kGreater, true, true},
    {"lt", kLess, true, true},
    {"le", kLess | kEqual, true, true},
    {"gt", kGreater, true, true},
    {"ge", kGreater | kEqual, true, true},
    {"lo", kLess, true, false},
    {"ls", kLess | kEqual, true, false},
    {"hi", kGreater, true, false},
    {"hs", kGreater | kEqual, true, false},
    {"equ", kEqual | kUnordered, false, true},
    {"neu", kLess | kGreater | kUnordered, false, true},
    {"ltu", kLess | kUnordered, false, true},
    {"leu", kLess | kEqual | kUnordered, false, true},
    {"gtu", kGreater | kUnordered, false, true},
    {"geu", kGreater | kEqual | kUnordered, false, true},
    {"num", kLess | kEqual | kGreater, false, true},
    {"nan", kUnordered, false, true},
}};

enum class Combination : std::uint8_t { none, with_and, with_or, with_xor };

struct Comparison {
    unsigned accepted = 0;
    Combination combination = Combination::none;
    bool flush_subnormals = false;
    std::uint32_t true_bits = 1;  ///< of set: what true is in the destination
};

template <typename T>
Ordering order(T a, T b, const Comparison& /*unused*/) {
    return a < b ? Ordering::less : a == b ? Ordering::equal : Ordering::greater;
}

template <FloatType kType>
struct FloatOrder {
    template <typename T>
    Ordering operator()(T a, T b, const Comparison& comparison) const {
        return compare(kType, a, b, comparison.flush_subnormals);
    }
};

Ordering order_f32(std::uint32_t a, std::uint32_t b, const Comparison& comparison) {
    if (comparison.flush_subnormals) return compare(FloatType::f32, a, b, true);
    const auto x = std::bit_cast<float>(a);
    const auto y = std::bit_cast<float>(b);
    return x < y ? Ordering::less : x == y ? Ordering::equal : x > y ? Ordering::greater : Ordering::unordered;
}

/// Lanes whose operands (values `first` and the next) compare as asked.
template <typename T, auto kOrder>
Mask compare_lanes(Warp& warp, const Instruction& instruction, Mask mask, std::size_t first) {
    const Source<T> a(warp, instruction.values[first]);
    const Source<T> b(warp, instruction.values[first + 1]);
    const auto& comparison = instruction.detail<Comparison>();
    std::array<std::uint32_t, kLanes> accepted{};
    for_lanes(mask, [&](std::size_t lane) {
        accepted[lane] = comparison.accepted >> static_cast<unsigned>(kOrder(a[lane], b[lane], comparison)) & 1U;
    });
    Mask result = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) result |= accepted[lane] << lane;
    return result;
}

Mask combine(Warp& warp, const Instruction& instruction, Mask result, std::size_t with) {
    switch (instruction.detail<Comparison>().combination) {
        case Combination::with_and: return result & warp.predicate(instruction.values[with]);
        case Combination::with_or: return result | warp.predicate(instruction.values[with]);
        case Combination::with_xor: return result ^ warp.predicate(instruction.values[with]);
        default: return result;
    }
}

/// values: p, q, a, b and c where there is a combination. q is the same of the opposite outcome.
template <typename T, auto kOrder>
void execute_setp(Warp& warp, const Instruction& instruction, Mask mask) {
    const Mask result = compare_lanes<T, kOrder>(warp, instruction, mask, 2);
    const Mask p = combine(warp, instruction, result, 4);
    const Mask q = combine(warp, instruction, ~result, 4);
    warp.set_predicate(instruction.values[0], mask, p);
    warp.set_predicate(instruction.values[1], mask, q);
}

/// values: d, a, b and c where there is a combination.
template <typename T, auto kOrder>
void execute_set(Warp& warp, const Instruction& instruction, Mask mask) {
    const Mask result = combine(warp, instruction, compare_lanes<T, kOrder>(warp, instruction, mask, 1), 3);
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    const std::uint32_t true_bits = instruction.detail<Comparison>().true_bits;
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, (result >> lane & 1U) != 0 ? true_bits : 0); });
}

/// Packed operands: p for the low halves, q for the high ones.
template <FloatType kType>
void execute_setp_packed(Warp& warp, const Instruction& instruction, Mask mask) {
    const Source<std::uint32_t> a(warp, instruction.values[2]);
    const Source<std::uint32_t> b(warp, instruction.values[3]);
    const auto& comparison = instruction.detail<Comparison>();
    for (unsigned half = 0; half < 2; ++half) {
        Mask result = 0;
        for_lanes(mask, [&](std::size_t lane) {
            const Ordering ordering = compare(kType, a[lane] >> (16 * half) & 0xFFFFU, b[lane] >> (16 * half) & 0xFFFFU,
                                              comparison.flush_subnormals);
            result |= (comparison.accepted >> static_cast<unsigned>(ordering) & 1U) << lane;
        });
        warp.set_predicate(instruction.values[half], mask, combine(warp, instruction, result, 4));
    }
}

struct TypeRow {
    std::string_view name;
    OperandType operand;
    bool is_float;
    Handler setp;
    Handler set;
};

template <typename T>
constexpr TypeRow integer_row(std::string_view name, OperandType operand) {
    return {name, operand, false, execute_setp<T, order<T>>, execute_set<T, order<T>>};
}

template <typename T, FloatType kType>
constexpr TypeRow float_row(std::string_view name, OperandType operand) {
    return {name, operand, true, execute_setp<T, FloatOrder<kType>{}>, execute_set<T, FloatOrder<kType>{}>};
}

constexpr std::array<TypeRow, 15> kTypes{{
    integer_row<std::uint16_t>("b16", OperandType::bits16),
    integer_row<std::uint16_t>("u16", OperandType::bits16),
    integer_row<std::int16_t>("s16", OperandType::bits16),
    integer_row<std::uint32_t>("b32", OperandType::bits32),
    integer_row<std::uint32_t>("u32", OperandType::bits32),
    integer_row<std::int32_t>("s32", OperandType::bits32),
    integer_row<std::uint64_t>("b64", OperandType::bits64),
    integer_row<std::uint64_t>("u64", OperandType::bits64),
    integer_row<std::int64_t>("s64", OperandType::bits64),
    float_row<std::uint16_t, FloatType::f16>("f16", OperandType::bits16),
    float_row<std::uint16_t, FloatType::bf16>("bf16", OperandType::bits16),
    {"f32", OperandType::real32, true, execute_setp<std::uint32_t, order_f32>, execute_set<std::uint32_t, order_f32>},
    float_row<std::uint64_t, FloatType::f64>("f64", OperandType::real64),
    {"f16x2", OperandType::bits32, true, execute_setp_packed<FloatType::f16>, nullptr},
    {"bf16x2", OperandType::bits32, true, execute_setp_packed<FloatType::bf16>, nullptr},
}};

const TypeRow& take_type(InstructionDecoder& decoder) {
    const std::string name = decoder.take_next();
    for (const TypeRow& row : kTypes) {
        if (row.name == name) return row;
    }
    decoder.unsupported();
}

Comparison take_comparison(InstructionDecoder& decoder, bool floats, bool unsigned_integers) {
    Comparison comparison;
    const std::string name = decoder.take_next();
    for (const OperatorRow& row : kOperators) {
        if (row.name == name && (floats ? row.floats : row.integers)) comparison.accepted = row.accepted;
    }
    const bool unsigned_name = name == "lo" || name == "ls" || name == "hi" || name == "hs";
    if (comparison.accepted == 0 || (unsigned_name && !unsigned_integers)) decoder.unsupported();
    comparison.flush_subnormals = decoder.take("ftz");
    const std::string combination = decoder.take_any({"and", "or", "xor"});
    if (combination == "and") comparison.combination = Combination::with_and;
    if (combination == "or") comparison.combination = Combination::with_or;
    if (combination == "xor") comparison.combination = Combination::with_xor;
    return comparison;
}

void add_combination(InstructionDecoder& decoder, const Comparison& comparison) {
    const bool combined = comparison.combination != Combination::none;
    decoder.require_operands(combined ? 4 : 3, combined ? 4 : 3);
    if (combined) decoder.add(3, OperandType::predicate);
}

const TypeRow* type_of_last(const ptx::Instruction& source) {
    for (const TypeRow& row : kTypes) {
        if (!source.modifiers.empty() && source.modifiers.back() == row.name) return &row;
    }
    return nullptr;
}

void decode_setp(InstructionDecoder& decoder) {
    const TypeRow* last = type_of_last(decoder.source());
    if (last == nullptr) decoder.unsupported();
    const Comparison comparison = take_comparison(decoder, last->is_float, last->name.front() == 'u');
    const TypeRow& type = take_type(decoder);
    decoder.finish_modifiers();
    decoder.require_operands(3, 4);
    decoder.add(0, OperandType::predicate);
    const int second = decoder.operand(0).second;
    second < 0 ? decoder.add_sink() : decoder.add_predicate(second);
    decoder.add(1, type.operand);
    decoder.add(2, type.operand);
    add_combination(decoder, comparison);
    decoder.destinations(2);
    decoder.detail(comparison);
    decoder.execute(InstructionKind::compare, type.setp);
}

void decode_set(InstructionDecoder& decoder) {
    constexpr std::uint32_t kOne = 0x3F800000;
    const TypeRow* last = type_of_last(decoder.source());
    if (last == nullptr || last->set == nullptr) decoder.unsupported();
    Comparison comparison = take_comparison(decoder, last->is_float, last->name.front() == 'u');
    const std::string to = decoder.take_next();
    const TypeRow& type = take_type(decoder);
    decoder.finish_modifiers();
    if (to != "u32" && to != "s32" && to != "f32") decoder.unsupported();
    comparison.true_bits = to == "f32" ? kOne : ~std::uint32_t{0};
    decoder.require_operands(3, 4);
    decoder.add(0, OperandType::bits32);
    decoder.add(1, type.operand);
    decoder.add(2, type.operand);
    add_combination(decoder, comparison);
    decoder.destinations(1);
    decoder.detail(comparison);
    decoder.execute(InstructionKind::compare, type.set);
}

// ---- selection ------------------------------------------------------------------------------------------------------

template <typename T>
void execute_selp(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> a(warp, instruction.values[1]);
    const Source<T> b(warp, instruction.values[2]);
    const Mask first = warp.predicate(instruction.values[3]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, (first >> lane & 1U) != 0 ? a[lane] : b[lane]); });
}

void decode_selp(InstructionDecoder& decoder) {
    const std::optional<OperandType> type = operand_type_of(decoder.take_next());
    if (!type || bits_of(*type) < 16) decoder.unsupported();
    decoder.finish_modifiers();
    decoder.require_operands(4, 4);
    for (std::size_t i = 0; i < 3; ++i) decoder.add(i, *type);
    decoder.add(3, OperandType::predicate);
    decoder.destinations(1);
    decoder.result().unwritten = UnwrittenSource::selected;
    const bool wide = bits_of(*type) == 64;
    decoder.execute(InstructionKind::compare, wide ? execute_selp<std::uint64_t> : execute_selp<std::uint32_t>);
}

}  // namespace

std::vector<DecoderRow> compare_decoders() {
    return {{"setp", decode_setp}, {"set", decode_set}, {"selp", decode_selp}};
}

}  // namespace jitgemm::emulator
