#include "tests/support/mma_warp.hpp"

#include "runtime/support/element_codec.hpp"
#include "tests/catch.hpp"

#include <cmath>

namespace jitgemm::testing {

using emulator::MmaKind;

int bits_of(MmaType type) {
    switch (type) {
        case MmaType::f16:
        case MmaType::bf16: return 16;
        case MmaType::e4m3:
        case MmaType::e5m2:
        case MmaType::s8:
        case MmaType::u8: return 8;
        case MmaType::s4:
        case MmaType::u4: return 4;
        case MmaType::f64: return 64;
        default: return 32;
    }
}

DataType data_type(MmaType type) {
    switch (type) {
        case MmaType::f16: return DataType::f16;
        case MmaType::bf16: return DataType::bf16;
        case MmaType::tf32: return DataType::tf32;
        case MmaType::e4m3: return DataType::e4m3;
        case MmaType::e5m2: return DataType::e5m2;
        default: return DataType::f32;
    }
}

double number(MmaType type, std::uint32_t bits) {
    if (type == MmaType::tf32) bits &= 0xffffe000U;
    return element_value(&bits, data_type(type), 0);
}

std::uint32_t random_element(RandomBits& random, MmaType type, bool wide) {
    const int width = bits_of(type);
    for (;;) {
        const auto bits = static_cast<std::uint32_t>(random.next()) & (0xffffffffU >> (32 - width));
        const double value = number(type, bits);
        if (!std::isfinite(value)) continue;
        if (wide || (std::fabs(value) < 64.0 && std::fabs(value) > 1.0 / 64.0)) return bits;
    }
}

MmaWarp::MmaWarp(const MmaKind& mma_kind, bool is_wmma) : kind(mma_kind), wmma_form(is_wmma) {
    const emulator::MmaRegisters count = is_wmma ? wmma_registers(kind) : mma_registers(kind);
    a.resize(position(count.a, 0));
    b.resize(position(count.b, 0));
    c.resize(position(count.c, 0));
}

std::vector<std::uint32_t>& MmaWarp::of(Operand operand) {
    if (operand == Operand::a) return a;
    return operand == Operand::b ? b : c;
}

const std::vector<std::uint32_t>& MmaWarp::of(Operand operand) const {
    if (operand == Operand::a) return a;
    return operand == Operand::b ? b : c;
}

MmaType MmaWarp::type(Operand operand) const {
    if (operand == Operand::a) return kind.a;
    return operand == Operand::b ? kind.b : kind.c;
}

int MmaWarp::elements(Operand operand) const {
    return wmma_form ? wmma_elements(kind, operand) : mma_elements(kind, operand);
}

Coordinate MmaWarp::coordinate(Operand operand, int lane, int i) const {
    return wmma_form ? wmma_coordinate(kind, operand, lane, i) : mma_coordinate(kind, operand, lane, i);
}

void MmaWarp::set(Operand operand, Coordinate at, std::uint32_t bits) {
    const int width = bits_of(type(operand));
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        for (int i = 0; i < elements(operand); ++i) {
            if (coordinate(operand, lane, i) != at) continue;
            const int shift = i * width % 32;
            std::uint32_t& word = of(operand)[position(i * width / 32, lane)];
            const std::uint32_t mask = (0xffffffffU >> (32 - width)) << shift;
            word = (word & ~mask) | (bits << shift);
        }
    }
}

std::uint32_t MmaWarp::get(Operand operand, Coordinate at) const {
    const int width = bits_of(type(operand));
    for (int lane = 0; lane < kWarpLanes; ++lane) {
        for (int i = 0; i < elements(operand); ++i) {
            if (coordinate(operand, lane, i) != at) continue;
            const std::uint32_t word = of(operand)[position(i * width / 32, lane)];
            return (word >> (i * width % 32)) & (0xffffffffU >> (32 - width));
        }
    }
    FAIL("no lane holds the element");
    return 0;
}

void MmaWarp::draw_operands(RandomBits& random, bool wide) {
    for (int k = 0; k < kind.k; ++k) {
        for (int row = 0; row < kind.m; ++row) set(Operand::a, {row, k}, random_element(random, kind.a, wide));
        for (int column = 0; column < kind.n; ++column)
            set(Operand::b, {column, k}, random_element(random, kind.b, wide));
    }
}

void MmaWarp::run(emulator::TensorCoreModel model) {
    (wmma_form ? emulator::wmma : emulator::mma)(kind, model, a.data(), b.data(), c.data(), c.data());
}

}  // namespace jitgemm::testing
