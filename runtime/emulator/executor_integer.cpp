// add, sub, mul, mad, div, rem, min, max, abs, neg and dp4a.

#include "runtime/emulator/arithmetic_decoders.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/plain_instructions.hpp"

#include <limits>

namespace jitgemm::emulator {
namespace {

template <typename T>
using Unsigned = std::make_unsigned_t<T>;

/// Twice as wide, for products.
template <typename T>
struct WiderOf;
template <>
struct WiderOf<std::int16_t> {
    using Type = std::int32_t;
};
template <>
struct WiderOf<std::uint16_t> {
    using Type = std::uint32_t;
};
template <>
struct WiderOf<std::int32_t> {
    using Type = std::int64_t;
};
template <>
struct WiderOf<std::uint32_t> {
    using Type = std::uint64_t;
};
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;
template <>
struct WiderOf<std::int64_t> {
    using Type = Int128;
};
template <>
struct WiderOf<std::uint64_t> {
    using Type = Uint128;
};
template <typename T>
using Wider = typename WiderOf<T>::Type;

// Wrap-around arithmetic is done unsigned: signed overflow is undefined in C++ and defined in PTX.
constexpr auto kAdd = [](auto a, auto b) {
    using T = decltype(a);
    return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
};
constexpr auto kSub = [](auto a, auto b) {
    using T = decltype(a);
    return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
};
constexpr auto kWide = [](auto a, auto b) {
    using W = Wider<decltype(a)>;
    return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
};
constexpr auto kLow = [](auto a, auto b) { return static_cast<decltype(a)>(kWide(a, b)); };
constexpr auto kHigh = [](auto a, auto b) { return static_cast<decltype(a)>(kWide(a, b) >> (8 * sizeof(a))); };
constexpr auto kMadLow = [](auto a, auto b, auto c) { return kAdd(kLow(a, b), c); };
constexpr auto kMadHigh = [](auto a, auto b, auto c) { return kAdd(kHigh(a, b), c); };
constexpr auto kMadWide = [](auto a, auto b, auto c) { return kAdd(kWide(a, b), c); };

/// The ISA leaves division by zero open; GPUs give all ones (u32 and s32 alike), and so do we. The least integer
/// divided by -1 wraps.
constexpr auto kDiv = [](auto a, auto b) {
    using T = decltype(a);
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return kSub(T{0}, a);
    return static_cast<T>(a / b);
};
constexpr auto kRem = [](auto a, auto b) {
    using T = decltype(a);
    if (b == 0) return a;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return T{0};
    return static_cast<T>(a % b);
};
constexpr auto kMin = [](auto a, auto b) { return b < a ? b : a; };
constexpr auto kMax = [](auto a, auto b) { return a < b ? b : a; };
constexpr auto kNeg = [](auto a) { return kSub(decltype(a){0}, a); };
constexpr auto kAbs = [](auto a) { return a < 0 ? kNeg(a) : a; };

constexpr auto kSaturate = [](std::int64_t value) {
    using Limits = std::numeric_limits<std::int32_t>;
    return static_cast<std::int32_t>(
        std::min<std::int64_t>(std::max<std::int64_t>(value, Limits::min()), Limits::max()));
};
constexpr auto kAddSaturating = [](std::int32_t a, std::int32_t b) { return kSaturate(std::int64_t{a} + b); };
constexpr auto kSubSaturating = [](std::int32_t a, std::int32_t b) { return kSaturate(std::int64_t{a} - b); };
constexpr auto kMadHighSaturating = [](std::int32_t a, std::int32_t b, std::int32_t c) {
    return kSaturate(std::int64_t{kHigh(a, b)} + c);
};

template <typename A, typename B>
std::uint32_t dot4(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        const int product = int{static_cast<A>(a >> shift)} * int{static_cast<B>(b >> shift)};
        c += static_cast<std::uint32_t>(product);
    }
    return c;
}

constexpr InstructionKind kKind = InstructionKind::integer;
using Rows = std::vector<PlainInstruction>;

template <typename T>
void add_arithmetic(Rows& rows) {
    const std::string type = "." + integer_name<T>();
    const std::string two(3, integer_letter<T>());
    const std::string three(4, integer_letter<T>());
    rows.push_back({"add" + type, two, kKind, execute_binary<kAdd, T, T, T>});
    rows.push_back({"sub" + type, two, kKind, execute_binary<kSub, T, T, T>});
    rows.push_back({"mul.lo" + type, two, kKind, execute_binary<kLow, T, T, T>});
    rows.push_back({"mul.hi" + type, two, kKind, execute_binary<kHigh, T, T, T>});
    rows.push_back({"div" + type, two, kKind, execute_binary<kDiv, T, T, T>});
    rows.push_back({"rem" + type, two, kKind, execute_binary<kRem, T, T, T>});
    rows.push_back({"min" + type, two, kKind, execute_binary<kMin, T, T, T>});
    rows.push_back({"max" + type, two, kKind, execute_binary<kMax, T, T, T>});
    rows.push_back({"mad.lo" + type, three, kKind, execute_ternary<kMadLow, T, T, T, T>});
    rows.push_back({"mad.hi" + type, three, kKind, execute_ternary<kMadHigh, T, T, T, T>});
}

template <typename T>
void add_signed(Rows& rows) {
    const std::string operands(2, integer_letter<T>());
    rows.push_back({"abs." + integer_name<T>(), operands, kKind, execute_unary<kAbs, T, T>});
    rows.push_back({"neg." + integer_name<T>(), operands, kKind, execute_unary<kNeg, T, T>});
}

template <typename T>
void add_wide(Rows& rows) {
    using W = Wider<T>;
    const std::string wide(1, integer_letter<W>());
    const std::string narrow(2, integer_letter<T>());
    rows.push_back({"mul.wide." + integer_name<T>(), wide + narrow, kKind, execute_binary<kWide, W, T, T>});
    rows.push_back(
        {"mad.wide." + integer_name<T>(), wide + narrow + wide, kKind, execute_ternary<kMadWide, W, T, T, W>});
}

void add_saturating(Rows& rows) {
    using I = std::int32_t;
    rows.push_back({"add.sat.s32", "www", kKind, execute_binary<kAddSaturating, I, I, I>});
    rows.push_back({"sub.sat.s32", "www", kKind, execute_binary<kSubSaturating, I, I, I>});
    rows.push_back({"mad.hi.sat.s32", "wwww", kKind, execute_ternary<kMadHighSaturating, I, I, I, I>});
}

template <typename A, typename B>
void add_dot_product(Rows& rows, const std::string& types) {
    using U = std::uint32_t;
    rows.push_back({"dp4a" + types, "wwww", kKind, execute_ternary<dot4<A, B>, U, U, U, U>});
}

const PlainInstructions& table() {
    static const PlainInstructions kTable([] {
        Rows rows;
        add_arithmetic<std::uint16_t>(rows);
        add_arithmetic<std::int16_t>(rows);
        add_arithmetic<std::uint32_t>(rows);
        add_arithmetic<std::int32_t>(rows);
        add_arithmetic<std::uint64_t>(rows);
        add_arithmetic<std::int64_t>(rows);
        add_signed<std::int16_t>(rows);
        add_signed<std::int32_t>(rows);
        add_signed<std::int64_t>(rows);
        add_wide<std::uint16_t>(rows);
        add_wide<std::int16_t>(rows);
        add_wide<std::uint32_t>(rows);
        add_wide<std::int32_t>(rows);
        add_saturating(rows);
        add_dot_product<std::uint8_t, std::uint8_t>(rows, ".u32.u32");
        add_dot_product<std::uint8_t, std::int8_t>(rows, ".u32.s32");
        add_dot_product<std::int8_t, std::uint8_t>(rows, ".s32.u32");
        add_dot_product<std::int8_t, std::int8_t>(rows, ".s32.s32");
        return rows;
    }());
    return kTable;
}

}  // namespace

void decode_integer(InstructionDecoder& decoder) { table().decode(decoder); }

}  // namespace jitgemm::emulator
