// Floating-point arithmetic of f16, bf16 (one or two in a register), f32 and f64, and the approximations.

#include "runtime/emulator/arithmetic_decoders.hpp"
#include "runtime/emulator/float_arithmetic.hpp"
#include "runtime/emulator/instruction_decoder.hpp"
#include "runtime/emulator/lanes.hpp"

namespace jitgemm::emulator {
namespace {

/// Modifiers of one instruction.
struct FloatDetail {
    FloatType type{};
    FloatMode mode;
    MinMaxMode min_max;
    Approximation approximation{};
    bool full_range = false;
};

struct FloatTypeRow {
    std::string_view name;
    OperandType operand;
    FloatType type;
    bool pair;
    InstructionKind kind;
};

constexpr std::array<FloatTypeRow, 6> kTypes{{
    {"f16", OperandType::bits16, FloatType::f16, false, InstructionKind::half},
    {"bf16", OperandType::bits16, FloatType::bf16, false, InstructionKind::half},
    {"f16x2", OperandType::bits32, FloatType::f16, true, InstructionKind::half},
    {"bf16x2", OperandType::bits32, FloatType::bf16, true, InstructionKind::half},
    {"f32", OperandType::real32, FloatType::f32, false, InstructionKind::float32},
    {"f64", OperandType::real64, FloatType::f64, false, InstructionKind::float64},
}};

const FloatTypeRow* find_type(std::string_view name) {
    for (const FloatTypeRow& row : kTypes) {
        if (row.name == name) return &row;
    }
    return nullptr;
}

// ---- any mode: the definitions in float_arithmetic.hpp, lane by lane ------------------------------------------------

template <typename T, auto kFunction>
void execute_unary_float(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> a(warp, instruction.values[1]);
    const auto& detail = instruction.detail<FloatDetail>();
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, static_cast<T>(kFunction(detail, a[lane]))); });
}

template <typename T, auto kFunction>
void execute_binary_float(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> a(warp, instruction.values[1]);
    const Source<T> b(warp, instruction.values[2]);
    const auto& detail = instruction.detail<FloatDetail>();
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, static_cast<T>(kFunction(detail, a[lane], b[lane]))); });
}

template <typename T, auto kFunction>
void execute_ternary_float(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> a(warp, instruction.values[1]);
    const Source<T> b(warp, instruction.values[2]);
    const Source<T> c(warp, instruction.values[3]);
    const auto& detail = instruction.detail<FloatDetail>();
    for_lanes(mask,
              [&](std::size_t lane) { d.set(lane, static_cast<T>(kFunction(detail, a[lane], b[lane], c[lane]))); });
}

using Bits = std::uint64_t;
using Pair = std::uint32_t;
constexpr auto kAdd = [](const FloatDetail& i, Bits a, Bits b) { return add(i.type, a, b, i.mode); };
constexpr auto kSub = [](const FloatDetail& i, Bits a, Bits b) { return sub(i.type, a, b, i.mode); };
constexpr auto kMul = [](const FloatDetail& i, Bits a, Bits b) { return mul(i.type, a, b, i.mode); };
constexpr auto kDiv = [](const FloatDetail& i, Bits a, Bits b) { return div(i.type, a, b, i.mode); };
constexpr auto kMin = [](const FloatDetail& i, Bits a, Bits b) { return min(i.type, a, b, i.min_max); };
constexpr auto kMax = [](const FloatDetail& i, Bits a, Bits b) { return max(i.type, a, b, i.min_max); };
constexpr auto kFma = [](const FloatDetail& i, Bits a, Bits b, Bits c) { return fma(i.type, a, b, c, i.mode); };
constexpr auto kNeg = [](const FloatDetail& i, Bits a) { return neg(i.type, a, i.mode.flush_subnormals); };
constexpr auto kAbs = [](const FloatDetail& i, Bits a) { return abs(i.type, a, i.mode.flush_subnormals); };
constexpr auto kSqrt = [](const FloatDetail& i, Bits a) { return sqrt(i.type, a, i.mode); };
constexpr auto kRcp = [](const FloatDetail& i, Bits a) {
    const Bits one = i.type == FloatType::f64 ? std::bit_cast<Bits>(1.0) : std::bit_cast<std::uint32_t>(1.0F);
    return div(i.type, one, a, i.mode);
};
constexpr auto kApproximate = [](const FloatDetail& i, Bits a) {
    return approximate(i.approximation, i.type, a, i.mode.flush_subnormals);
};
constexpr auto kApproximatePair = [](const FloatDetail& i, Pair a) {
    const Bits low = kApproximate(i, a & 0xFFFFU);
    return static_cast<Pair>(low | kApproximate(i, a >> 16U) << 16U);
};
constexpr auto kApproximateDiv = [](const FloatDetail& i, std::uint32_t a, std::uint32_t b) {
    return approximate_div(a, b, i.mode.flush_subnormals, i.full_range);
};
constexpr auto kAddPair = [](const FloatDetail& i, Pair a, Pair b) { return add_x2(i.type, a, b, i.mode); };
constexpr auto kSubPair = [](const FloatDetail& i, Pair a, Pair b) { return sub_x2(i.type, a, b, i.mode); };
constexpr auto kMulPair = [](const FloatDetail& i, Pair a, Pair b) { return mul_x2(i.type, a, b, i.mode); };
constexpr auto kMinPair = [](const FloatDetail& i, Pair a, Pair b) { return min_x2(i.type, a, b, i.min_max); };
constexpr auto kMaxPair = [](const FloatDetail& i, Pair a, Pair b) { return max_x2(i.type, a, b, i.min_max); };
constexpr auto kFmaPair = [](const FloatDetail& i, Pair a, Pair b, Pair c) { return fma_x2(i.type, a, b, c, i.mode); };
constexpr auto kNegPair = [](const FloatDetail& i, Pair a) { return neg_x2(i.type, a, i.mode.flush_subnormals); };
constexpr auto kAbsPair = [](const FloatDetail& i, Pair a) { return abs_x2(i.type, a, i.mode.flush_subnormals); };

/// The functions that execute an operation, by width.
struct Handlers {
    Handler narrow;  ///< f16, bf16
    Handler pair;
    Handler word;  ///< f32
    Handler doubleword;
};

template <auto kScalar, auto kPair>
constexpr Handlers kUnary{execute_unary_float<std::uint16_t, kScalar>, execute_unary_float<Pair, kPair>,
                          execute_unary_float<std::uint32_t, kScalar>, execute_unary_float<Bits, kScalar>};
template <auto kScalar, auto kPair>
constexpr Handlers kBinary{execute_binary_float<std::uint16_t, kScalar>, execute_binary_float<Pair, kPair>,
                           execute_binary_float<std::uint32_t, kScalar>, execute_binary_float<Bits, kScalar>};
constexpr Handlers kTernary{execute_ternary_float<std::uint16_t, kFma>, execute_ternary_float<Pair, kFmaPair>,
                            execute_ternary_float<std::uint32_t, kFma>, execute_ternary_float<Bits, kFma>};

Handler handler_of(const Handlers& handlers, const FloatTypeRow& type) {
    if (type.pair) return handlers.pair;
    if (type.type == FloatType::f32) return handlers.word;
    return type.type == FloatType::f64 ? handlers.doubleword : handlers.narrow;
}

// ---- decoding -------------------------------------------------------------------------------------------------------

bool take_rounding(InstructionDecoder& decoder, FloatMode& mode) {
    const std::string name = decoder.take_any({"rn", "rz", "rm", "rp"});
    if (name == "rz") mode.rounding = Rounding::zero;
    if (name == "rm") mode.rounding = Rounding::down;
    if (name == "rp") mode.rounding = Rounding::up;
    return !name.empty();
}

const FloatTypeRow& take_type(InstructionDecoder& decoder) {
    const FloatTypeRow* type = find_type(decoder.take_next());
    if (type == nullptr) decoder.unsupported();
    return *type;
}

void finish(InstructionDecoder& decoder, const FloatTypeRow& type, std::size_t operands, FloatDetail detail,
            Handler handler) {
    decoder.finish_modifiers();
    if (handler == nullptr) decoder.unsupported();
    const bool f64 = type.type == FloatType::f64;
    if (f64 && (detail.mode.flush_subnormals || detail.mode.saturate))
        decoder.unsupported("f64 has no .ftz and no .sat");
    decoder.require_operands(operands, operands);
    for (std::size_t i = 0; i < operands; ++i) decoder.add(i, type.operand);
    decoder.destinations(1);
    detail.type = type.type;
    decoder.detail(detail);
    decoder.execute(type.kind, handler);
}

/// The host's own operation, where nothing is asked but rounding to nearest.
bool is_plain(const FloatMode& mode) {
    return mode.rounding == Rounding::nearest_even && !mode.flush_subnormals && !mode.saturate && !mode.relu;
}

void check_half_modes(InstructionDecoder& decoder, const FloatTypeRow& type, const FloatMode& mode) {
    const bool half = type.operand == OperandType::bits16 || type.pair;
    if (half && mode.rounding != Rounding::nearest_even) decoder.unsupported("halves only round to nearest");
    const bool bf16 = type.type == FloatType::bf16;
    if (bf16 && (mode.flush_subnormals || mode.saturate)) decoder.unsupported("bf16 has no .ftz and no .sat");
}

template <const Handlers& kHandlers, auto kFast>
void decode_sum(InstructionDecoder& decoder) {
    FloatDetail detail;
    take_rounding(decoder, detail.mode);
    detail.mode.flush_subnormals = decoder.take("ftz");
    detail.mode.saturate = decoder.take("sat");
    const FloatTypeRow& type = take_type(decoder);
    check_half_modes(decoder, type, detail.mode);
    constexpr auto kF32 = execute_binary<kFast, std::uint32_t, std::uint32_t, std::uint32_t>;
    const bool fast = type.type == FloatType::f32 && is_plain(detail.mode);
    finish(decoder, type, 3, detail, fast ? kF32 : handler_of(kHandlers, type));
}

constexpr Handlers kAdds = kBinary<kAdd, kAddPair>;
constexpr Handlers kSubs = kBinary<kSub, kSubPair>;
constexpr Handlers kMuls = kBinary<kMul, kMulPair>;
constexpr Handlers kMins = kBinary<kMin, kMinPair>;
constexpr Handlers kMaxs = kBinary<kMax, kMaxPair>;
constexpr Handlers kNegs = kUnary<kNeg, kNegPair>;
constexpr Handlers kAbss = kUnary<kAbs, kAbsPair>;

/// fma, and mad of floats, which is the same.
void decode_fma(InstructionDecoder& decoder) {
    FloatDetail detail;
    if (!take_rounding(decoder, detail.mode)) decoder.unsupported("a rounding is needed");
    detail.mode.flush_subnormals = decoder.take("ftz");
    detail.mode.saturate = decoder.take("sat");
    detail.mode.relu = decoder.take("relu");
    const FloatTypeRow& type = take_type(decoder);
    check_half_modes(decoder, type, detail.mode);
    const bool half = type.operand == OperandType::bits16 || type.pair;
    if (detail.mode.relu && !half) decoder.unsupported("only halves have .relu");
    using U = std::uint32_t;
    const bool fast = type.type == FloatType::f32 && is_plain(detail.mode);
    finish(decoder, type, 4, detail, fast ? execute_ternary<fma_f32, U, U, U, U> : handler_of(kTernary, type));
}

template <const Handlers& kHandlers>
void decode_min_max(InstructionDecoder& decoder) {
    FloatDetail detail;
    detail.min_max.flush_subnormals = decoder.take("ftz");
    detail.min_max.propagate_nan = decoder.take("NaN");
    const bool xor_sign = decoder.take("xorsign");
    if (xor_sign && !decoder.take("abs")) decoder.unsupported();
    detail.min_max.xor_sign_of_abs = xor_sign;
    const FloatTypeRow& type = take_type(decoder);
    finish(decoder, type, 3, detail, handler_of(kHandlers, type));
}

template <const Handlers& kHandlers>
void decode_sign(InstructionDecoder& decoder) {
    FloatDetail detail;
    detail.mode.flush_subnormals = decoder.take("ftz");
    const FloatTypeRow& type = take_type(decoder);
    finish(decoder, type, 2, detail, handler_of(kHandlers, type));
}

void decode_div(InstructionDecoder& decoder) {
    FloatDetail detail;
    const bool approximate_result = decoder.take("approx");
    detail.full_range = decoder.take("full");
    const bool exact = take_rounding(decoder, detail.mode);
    detail.mode.flush_subnormals = decoder.take("ftz");
    const FloatTypeRow& type = take_type(decoder);
    if (approximate_result + detail.full_range + exact != 1) decoder.unsupported();
    if (exact && (type.type == FloatType::f32 || type.type == FloatType::f64)) {
        constexpr Handlers kDivs{nullptr, nullptr, execute_binary_float<std::uint32_t, kDiv>,
                                 execute_binary_float<Bits, kDiv>};
        return finish(decoder, type, 3, detail, handler_of(kDivs, type));
    }
    if (exact || type.type != FloatType::f32) decoder.unsupported();
    finish(decoder, type, 3, detail, execute_binary_float<std::uint32_t, kApproximateDiv>);
}

/// rcp and sqrt: correctly rounded with a rounding, else .approx.
template <auto kExact, Approximation kApproximation>
void decode_root(InstructionDecoder& decoder) {
    FloatDetail detail;
    detail.approximation = kApproximation;
    const bool approximate_result = decoder.take("approx");
    const bool exact = take_rounding(decoder, detail.mode);
    detail.mode.flush_subnormals = decoder.take("ftz");
    const FloatTypeRow& type = take_type(decoder);
    if (approximate_result == exact) decoder.unsupported();
    constexpr Handlers kExacts{nullptr, nullptr, execute_unary_float<std::uint32_t, kExact>,
                               execute_unary_float<Bits, kExact>};
    constexpr Handlers kApproximates{nullptr, nullptr, execute_unary_float<std::uint32_t, kApproximate>, nullptr};
    finish(decoder, type, 2, detail, handler_of(exact ? kExacts : kApproximates, type));
}

template <Approximation kApproximation, bool kHalves>
void decode_approximation(InstructionDecoder& decoder) {
    FloatDetail detail;
    detail.approximation = kApproximation;
    if (!decoder.take("approx")) decoder.unsupported();
    detail.mode.flush_subnormals = decoder.take("ftz");
    const FloatTypeRow& type = take_type(decoder);
    constexpr Handler kNarrow = kHalves ? execute_unary_float<std::uint16_t, kApproximate> : Handler{nullptr};
    constexpr Handler kPair = kHalves ? execute_unary_float<Pair, kApproximatePair> : Handler{nullptr};
    constexpr Handlers kHandlers{kNarrow, kPair, execute_unary_float<std::uint32_t, kApproximate>, nullptr};
    finish(decoder, type, 2, detail, handler_of(kHandlers, type));
}

constexpr auto kAddF32 = [](std::uint32_t a, std::uint32_t b) { return add_f32(a, b); };
constexpr auto kSubF32 = [](std::uint32_t a, std::uint32_t b) { return sub_f32(a, b); };
constexpr auto kMulF32 = [](std::uint32_t a, std::uint32_t b) { return mul_f32(a, b); };

}  // namespace

bool is_float_type(std::string_view name) { return find_type(name) != nullptr; }

void decode_float_arithmetic(InstructionDecoder& decoder) {
    const std::string& name = decoder.source().name;
    if (name == "add") return decode_sum<kAdds, kAddF32>(decoder);
    if (name == "sub") return decode_sum<kSubs, kSubF32>(decoder);
    if (name == "mul") return decode_sum<kMuls, kMulF32>(decoder);
    if (name == "mad") return decode_fma(decoder);
    if (name == "div") return decode_div(decoder);
    if (name == "min") return decode_min_max<kMins>(decoder);
    if (name == "max") return decode_min_max<kMaxs>(decoder);
    if (name == "abs") return decode_sign<kAbss>(decoder);
    if (name == "neg") return decode_sign<kNegs>(decoder);
    decoder.unsupported();
}

std::vector<DecoderRow> float_decoders() {
    return {{"fma", decode_fma},
            {"rcp", decode_root<kRcp, Approximation::rcp>},
            {"sqrt", decode_root<kSqrt, Approximation::sqrt>},
            {"rsqrt", decode_approximation<Approximation::rsqrt, false>},
            {"ex2", decode_approximation<Approximation::ex2, true>},
            {"lg2", decode_approximation<Approximation::lg2, false>},
            {"sin", decode_approximation<Approximation::sin, false>},
            {"cos", decode_approximation<Approximation::cos, false>},
            {"tanh", decode_approximation<Approximation::tanh, true>}};
}

}  // namespace jitgemm::emulator
