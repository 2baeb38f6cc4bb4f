// Extended-precision arithmetic: add, sub and mad with the condition code in or out.

#include "runtime/emulator/arithmetic_decoders.hpp"
#include "runtime/emulator/lanes.hpp"
#include "runtime/emulator/plain_instructions.hpp"

namespace jitgemm::emulator {
namespace {

__extension__ using Uint128 = unsigned __int128;

template <typename T>
struct Sum {
    T value;
    bool carry;
};

template <typename T>
Sum<T> add_with_carry(T a, T b, bool carry) {
    const auto sum = static_cast<Uint128>(a) + b + static_cast<Uint128>(carry);
    return {static_cast<T>(sum), (sum >> (8 * sizeof(T))) != 0};
}

/// The condition code of a subtraction is its borrow.
template <typename T>
Sum<T> subtract_with_borrow(T a, T b, bool borrow) {
    const auto difference = static_cast<Uint128>(a) - b - static_cast<Uint128>(borrow);
    return {static_cast<T>(difference), (difference >> (8 * sizeof(T)) & 1U) != 0};
}

template <typename T, auto kFunction, bool kIn, bool kOut>
void execute_chain(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<T> d(warp, instruction.values[0]);
    const Source<T> a(warp, instruction.values[1]);
    const Source<T> b(warp, instruction.values[2]);
    Mask carries = warp.carry();
    for_lanes(mask, [&](std::size_t lane) {
        const Sum<T> sum = kFunction(a[lane], b[lane], kIn && (warp.carry() >> lane & 1U) != 0);
        d.set(lane, sum.value);
        carries = (carries & ~(Mask{1} << lane)) | static_cast<Mask>(sum.carry) << lane;
    });
    if (kOut) warp.carry() = carries;
}

template <typename T, typename Signed, bool kHigh, bool kIn, bool kOut>
void execute_mad_chain(Warp& warp, const Instruction& instruction, Mask mask) {
    __extension__ using Wide = __int128;
    const Destination<T> d(warp, instruction.values[0]);
    const Source<Signed> a(warp, instruction.values[1]);
    const Source<Signed> b(warp, instruction.values[2]);
    const Source<T> c(warp, instruction.values[3]);
    Mask carries = warp.carry();
    for_lanes(mask, [&](std::size_t lane) {
        // Unsigned 64-bit products do not fit a signed 128-bit number, but their bits do.
        const auto product =
            static_cast<Uint128>(static_cast<Wide>(a[lane])) * static_cast<Uint128>(static_cast<Wide>(b[lane]));
        const auto part = static_cast<T>(kHigh ? product >> (8 * sizeof(T)) : product);
        const Sum<T> sum = add_with_carry<T>(part, c[lane], kIn && (warp.carry() >> lane & 1U) != 0);
        d.set(lane, sum.value);
        carries = (carries & ~(Mask{1} << lane)) | static_cast<Mask>(sum.carry) << lane;
    });
    if (kOut) warp.carry() = carries;
}

using Rows = std::vector<PlainInstruction>;
constexpr InstructionKind kKind = InstructionKind::integer;

template <typename T>
void add_chains(Rows& rows, const std::string& type) {
    const std::string three(3, integer_letter<T>());
    rows.push_back({"add.cc." + type, three, kKind, execute_chain<T, add_with_carry<T>, false, true>});
    rows.push_back({"addc." + type, three, kKind, execute_chain<T, add_with_carry<T>, true, false>});
    rows.push_back({"addc.cc." + type, three, kKind, execute_chain<T, add_with_carry<T>, true, true>});
    rows.push_back({"sub.cc." + type, three, kKind, execute_chain<T, subtract_with_borrow<T>, false, true>});
    rows.push_back({"subc." + type, three, kKind, execute_chain<T, subtract_with_borrow<T>, true, false>});
    rows.push_back({"subc.cc." + type, three, kKind, execute_chain<T, subtract_with_borrow<T>, true, true>});
}

template <typename T, typename Signed>
void add_mad_chains(Rows& rows) {
    const std::string type = "." + integer_name<Signed>();
    const std::string four(4, integer_letter<T>());
    rows.push_back({"mad.lo.cc" + type, four, kKind, execute_mad_chain<T, Signed, false, false, true>});
    rows.push_back({"mad.hi.cc" + type, four, kKind, execute_mad_chain<T, Signed, true, false, true>});
    rows.push_back({"madc.lo" + type, four, kKind, execute_mad_chain<T, Signed, false, true, false>});
    rows.push_back({"madc.hi" + type, four, kKind, execute_mad_chain<T, Signed, true, true, false>});
    rows.push_back({"madc.lo.cc" + type, four, kKind, execute_mad_chain<T, Signed, false, true, true>});
    rows.push_back({"madc.hi.cc" + type, four, kKind, execute_mad_chain<T, Signed, true, true, true>});
}

const PlainInstructions& table() {
    static const PlainInstructions kTable([] {
        Rows rows;
        for (const char* type : {"u32", "s32"}) add_chains<std::uint32_t>(rows, type);
        for (const char* type : {"u64", "s64"}) add_chains<std::uint64_t>(rows, type);
        add_mad_chains<std::uint32_t, std::uint32_t>(rows);
        add_mad_chains<std::uint32_t, std::int32_t>(rows);
        add_mad_chains<std::uint64_t, std::uint64_t>(rows);
        add_mad_chains<std::uint64_t, std::int64_t>(rows);
        return rows;
    }());
    return kTable;
}

}  // namespace

void decode_carry(InstructionDecoder& decoder) { table().decode(decoder); }

}  // namespace jitgemm::emulator
