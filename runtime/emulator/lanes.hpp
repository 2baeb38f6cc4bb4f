#pragma once

#include "runtime/emulator/warp.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

/// \file Loops over the lanes of a warp. With all lanes active they have a fixed length and no branch, so that the
/// compiler vectorises them.

namespace jitgemm::emulator {

template <typename Function>
inline void for_lanes(Mask mask, Function function) {
    if (mask == kAllLanes) {
        // A row is read and written lane by lane. A destination that is also a source is therefore no dependence.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
        for (std::size_t lane = 0; lane < kLanes; ++lane) function(lane);
        return;
    }
    for_each_bit(mask, function);
}

template <typename T>
inline constexpr bool kIsDoubleword = sizeof(T) == 8;

/// The place of a value of T in its register: its bits in the low part.
template <typename T>
using RegisterOf = std::conditional_t<kIsDoubleword<T>, std::uint64_t, std::uint32_t>;

template <typename T>
[[nodiscard]] inline T from_register(RegisterOf<T> bits) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::bit_cast<T>(bits);
    } else {
        return static_cast<T>(bits);
    }
}

/// Narrow values are zero-extended, so that a register never holds bits it does not have.
template <typename T>
[[nodiscard]] inline RegisterOf<T> to_register(T value) {
    if constexpr (std::is_floating_point_v<T>) {
        return std::bit_cast<RegisterOf<T>>(value);
    } else {
        return static_cast<RegisterOf<T>>(static_cast<std::make_unsigned_t<T>>(value));
    }
}

/// A row that is read as values of T.
template <typename T>
class Source {
public:
    Source(const Warp& warp, const Value& value) {
        if constexpr (kIsDoubleword<T>) {
            row_ = warp.doublewords(value);
        } else {
            row_ = warp.words(value);
        }
    }
    [[nodiscard]] T operator[](std::size_t lane) const { return from_register<T>(row_[lane]); }

private:
    const RegisterOf<T>* row_;
};

/// A row that is written with values of T. A sink "_" is not written.
template <typename T>
class Destination {
public:
    Destination(Warp& warp, const Value& value) {
        if (!value.is_register()) {
            row_ = nothing_.data();
        } else if constexpr (kIsDoubleword<T>) {
            row_ = warp.target_doublewords(value);
        } else {
            row_ = warp.target_words(value);
        }
    }
    Destination(const Destination&) = delete;
    Destination& operator=(const Destination&) = delete;
    void set(std::size_t lane, T value) const { row_[lane] = to_register<T>(value); }

private:
    RegisterOf<T>* row_;
    std::array<RegisterOf<T>, kLanes> nothing_;  // NOLINT: never read
};

// ---- handlers of plain instructions: d = f(a, …) for every lane -----------------------------------------------------

template <auto kFunction, typename D, typename A>
void execute_unary(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<D> d(warp, instruction.values[0]);
    const Source<A> a(warp, instruction.values[1]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, kFunction(a[lane])); });
}

template <auto kFunction, typename D, typename A, typename B>
void execute_binary(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<D> d(warp, instruction.values[0]);
    const Source<A> a(warp, instruction.values[1]);
    const Source<B> b(warp, instruction.values[2]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, kFunction(a[lane], b[lane])); });
}

template <auto kFunction, typename D, typename A, typename B, typename C>
void execute_ternary(Warp& warp, const Instruction& instruction, Mask mask) {
    const Destination<D> d(warp, instruction.values[0]);
    const Source<A> a(warp, instruction.values[1]);
    const Source<B> b(warp, instruction.values[2]);
    const Source<C> c(warp, instruction.values[3]);
    for_lanes(mask, [&](std::size_t lane) { d.set(lane, kFunction(a[lane], b[lane], c[lane])); });
}

}  // namespace jitgemm::emulator
