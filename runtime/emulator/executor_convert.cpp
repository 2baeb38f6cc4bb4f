// cvt in all its forms: integers, floats, and pairs packed into one register.

#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"

namespace jitgemm::emulator {
namespace {

/// One side of a cvt: an integer or a float, one or two in a register.
struct ConvertType {
    std::string_view name;
    OperandType operand;
    bool is_float = false;
    bool is_pair = false;
    IntegerType integer{};
    FloatType real{};
};

constexpr ConvertType integer_type(std::string_view name, OperandType operand, int bits, bool is_signed) {
    return {name, operand, false, false, {bits, is_signed}, {}};
}
constexpr ConvertType float_type(std::string_view name, OperandType operand, FloatType type, bool pair = false) {
    return {name, operand, true, pair, {}, type};
}

constexpr std::array<ConvertType, 17> kTypes{{
    integer_type("u8", OperandType::bits8, 8, false),
    integer_type("s8", OperandType::bits8, 8, true),
    integer_type("u16", OperandType::bits16, 16, false),
    integer_type("s16", OperandType::bits16, 16, true),
    integer_type("u32", OperandType::bits32, 32, false),
    integer_type("s32", OperandType::bits32, 32, true),
    integer_type("u64", OperandType::bits64, 64, false),
    integer_type("s64", OperandType::bits64, 64, true),
    float_type("f16", OperandType::bits16, FloatType::f16),
    float_type("bf16", OperandType::bits16, FloatType::bf16),
    float_type("tf32", OperandType::bits32, FloatType::tf32),
    float_type("f32", OperandType::real32, FloatType::f32),
    float_type("f64", OperandType::real64, FloatType::f64),
    float_type("f16x2", OperandType::bits32, FloatType::f16, true),
    float_type("bf16x2", OperandType::bits32, FloatType::bf16, true),
    float_type("e4m3x2", OperandType::bits16, FloatType::e4m3, true),
    float_type("e5m2x2", OperandType::bits16, FloatType::e5m2, true),
}};

struct Conversion {
    const ConvertType* to = nullptr;
    const ConvertType* from = nullptr;
    ConversionMode mode;
    bool integer_rounding = false;
    unsigned source_bits = 32;
    unsigned destination_bits = 32;  ///< of the register: results are extended to it
};

[[nodiscard]] std::uint64_t low_bits(std::uint64_t value, unsigned bits) {
    return bits == 64 ? value : value & ((std::uint64_t{1} << bits) - 1);
}

std::uint64_t convert(const Conversion& conversion, std::uint64_t bits) {
    const ConvertType& from = *conversion.from;
    const ConvertType& to = *conversion.to;
    if (from.is_float && to.is_float) return convert_float(from.real, to.real, bits, conversion.mode);
    if (from.is_float) {
        return convert_to_integer(from.real, to.integer, bits, conversion.mode.rounding,
                                  conversion.mode.flush_subnormals);
    }
    if (to.is_float) return convert_from_integer(from.integer, to.real, bits, conversion.mode);
    return convert_integer(from.integer, to.integer, bits, conversion.mode.saturate);
}

template <typename D, typename A>
void execute_convert(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<D> d(warp, instruction.values[0]);
    const Source<A> a(warp, instruction.values[1]);
    const auto& conversion = instruction.detail<Conversion>();
    for_lanes(mask, [&](std::size_t lane) {
        const std::uint64_t bits = convert(conversion, low_bits(a[lane], conversion.source_bits));
        d.set(lane, static_cast<D>(low_bits(bits, conversion.destination_bits)));
    });
}

/// Conversions between integers of 32 and 64 bits, which addressing is full of.
template <typename D, typename A>
constexpr auto kResize = [](A a) { return static_cast<D>(a); };

Handler resize_handler(std::string_view to, std::string_view from) {
    using U32 = std::uint32_t;
    using S32 = std::int32_t;
    using U64 = std::uint64_t;
    using S64 = std::int64_t;
    const bool to_64 = to == "u64" || to == "s64";
    const bool to_32 = to == "u32" || to == "s32";
    if (to_64 && from == "u32") return execute_unary<kResize<U64, U32>, U64, U32>;
    if (to_64 && from == "s32") return execute_unary<kResize<S64, S32>, S64, S32>;
    if (to_32 && (from == "u64" || from == "s64")) return execute_unary<kResize<U32, U64>, U32, U64>;
    return nullptr;
}

/// d, high, low: two floats into one register.
void execute_pack_pair(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    const Source<std::uint32_t> high(warp, instruction.values[1]);
    const Source<std::uint32_t> low(warp, instruction.values[2]);
    const auto& conversion = instruction.detail<Conversion>();
    for_lanes(mask, [&](std::size_t lane) {
        d.set(lane, pack_x2(conversion.to->real, high[lane], low[lane], conversion.mode));
    });
}

void execute_narrow_pair(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    const Source<std::uint32_t> a(warp, instruction.values[1]);
    const auto& conversion = instruction.detail<Conversion>();
    for_lanes(mask, [&](std::size_t lane) {
        d.set(lane, narrow_x2(conversion.from->real, conversion.to->real, a[lane], conversion.mode));
    });
}

void execute_widen_pair(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<std::uint32_t> d(warp, instruction.values[0]);
    const Source<std::uint32_t> a(warp, instruction.values[1]);
    const auto& conversion = instruction.detail<Conversion>();
    for_lanes(mask, [&](std::size_t lane) {
        d.set(lane, widen_x2(conversion.from->real, conversion.to->real, a[lane], conversion.mode.relu));
    });
}

// ---- decoding -------------------------------------------------------------------------------------------------------

const ConvertType* find_type(std::string_view name) {
    for (const ConvertType& type : kTypes) {
        if (type.name == name) return &type;
    }
    return nullptr;
}

const ConvertType& take_type(InstructionDecoder& decoder) {
    const ConvertType* type = find_type(decoder.take_next());
    if (type == nullptr) decoder.unsupported();
    return *type;
}

/// Whether a rounding was named.
bool take_rounding(InstructionDecoder& decoder, Conversion& conversion) {
    const std::string name = decoder.take_any({"rn", "rz", "rm", "rp", "rna", "rni", "rzi", "rmi", "rpi"});
    if (name.empty()) return false;
    conversion.integer_rounding = name.back() == 'i';
    const std::string_view base = std::string_view(name).substr(0, name == "rna" ? 3 : 2);
    if (base == "rn") conversion.mode.rounding = Rounding::nearest_even;
    if (base == "rz") conversion.mode.rounding = Rounding::zero;
    if (base == "rm") conversion.mode.rounding = Rounding::down;
    if (base == "rp") conversion.mode.rounding = Rounding::up;
    if (base == "rna") conversion.mode.rounding = Rounding::nearest_away;
    return true;
}

/// The ISA asks for a rounding where one is needed and refuses it where none is.
void check_rounding(InstructionDecoder& decoder, const Conversion& conversion, bool rounded) {
    const ConvertType& to = *conversion.to;
    const ConvertType& from = *conversion.from;
    if (!to.is_float && !from.is_float && rounded) decoder.unsupported("integers are not rounded");
    if (from.is_float && !to.is_float && !conversion.integer_rounding) {
        decoder.unsupported("a conversion to an integer needs .rni, .rzi, .rmi or .rpi");
    }
    if (!from.is_float && to.is_float && (!rounded || conversion.integer_rounding)) {
        decoder.unsupported("a conversion from an integer needs .rn, .rz, .rm or .rp");
    }
    const bool narrows = from.is_float && to.is_float && bits_of(to.operand) < bits_of(from.operand);
    if (narrows && !to.is_pair && !rounded) decoder.unsupported("a conversion to a narrower float needs a rounding");
    if (conversion.mode.rounding == Rounding::nearest_away && to.name != "tf32") decoder.unsupported();
}

unsigned register_bits(InstructionDecoder& decoder, std::size_t operand) {
    const ptx::Operand& source = decoder.operand(operand);
    if (source.kind != ptx::OperandKind::reg) return 64;
    return static_cast<unsigned>(decoder.scope().source.registers[static_cast<std::size_t>(source.index)].bits);
}

void decode_scalar(InstructionDecoder& decoder, Conversion conversion) {
    const ConvertType& to = *conversion.to;
    const ConvertType& from = *conversion.from;
    decoder.require_operands(2, 2);
    to.is_float ? decoder.add(0, to.operand) : decoder.add_at_least(0, to.operand);
    from.is_float ? decoder.add(1, from.operand) : decoder.add_at_least(1, from.operand);
    decoder.destinations(1);
    conversion.mode.to_integral = conversion.integer_rounding && to.is_float;
    conversion.source_bits = static_cast<unsigned>(bits_of(from.operand));
    conversion.destination_bits = register_bits(decoder, 0);
    const bool wide_d = conversion.destination_bits == 64;
    const bool wide_a = decoder.result().values[1].bank == Bank::doublewords ||
                        decoder.result().values[1].bank == Bank::constant_doublewords;
    const bool exact = conversion.destination_bits == static_cast<unsigned>(bits_of(to.operand)) &&
                       wide_a == (conversion.source_bits == 64) && !conversion.mode.saturate;
    const Handler resize = exact ? resize_handler(to.name, from.name) : nullptr;
    using U32 = std::uint32_t;
    using U64 = std::uint64_t;
    const Handler from_wide = wide_d ? execute_convert<U64, U64> : execute_convert<U32, U64>;
    const Handler from_narrow = wide_d ? execute_convert<U64, U32> : execute_convert<U32, U32>;
    decoder.detail(conversion);
    decoder.execute(InstructionKind::convert, resize != nullptr ? resize : wide_a ? from_wide : from_narrow);
}

void decode_pair(InstructionDecoder& decoder, const Conversion& conversion) {
    const ConvertType& to = *conversion.to;
    const ConvertType& from = *conversion.from;
    const bool packs = from.name == "f32";
    const bool to_bytes = bits_of(to.operand) == 16;
    const bool from_bytes = from.is_pair && bits_of(from.operand) == 16;
    const bool narrows = from.is_pair && !from_bytes && to_bytes;
    const bool widens = from_bytes && to.name == "f16x2";
    if (!packs && !narrows && !widens) decoder.unsupported();
    if (to_bytes && !conversion.mode.saturate_finite) decoder.unsupported("8-bit floats need .satfinite");
    decoder.require_operands(packs ? 3 : 2, packs ? 3 : 2);
    decoder.add(0, to.operand);
    decoder.add(1, from.operand);
    if (packs) decoder.add(2, from.operand);
    decoder.destinations(1);
    decoder.detail(conversion);
    decoder.execute(InstructionKind::convert, packs     ? execute_pack_pair
                                              : narrows ? execute_narrow_pair
                                                        : execute_widen_pair);
}

void decode_cvt(InstructionDecoder& decoder) {
    Conversion conversion;
    const bool rounded = take_rounding(decoder, conversion);
    conversion.mode.flush_subnormals = decoder.take("ftz");
    conversion.mode.saturate = decoder.take("sat");
    conversion.mode.relu = decoder.take("relu");
    conversion.mode.saturate_finite = decoder.take("satfinite");
    conversion.to = &take_type(decoder);
    conversion.from = &take_type(decoder);
    decoder.finish_modifiers();
    check_rounding(decoder, conversion, rounded);
    if (conversion.to->is_pair) return decode_pair(decoder, conversion);
    if (conversion.from->is_pair) decoder.unsupported();
    decode_scalar(decoder, conversion);
}

}  // namespace

std::vector<DecoderRow> convert_decoders() { return {{"cvt", decode_cvt}}; }

}  // namespace jitgemm::emulator
