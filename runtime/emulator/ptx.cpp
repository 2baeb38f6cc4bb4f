#include "runtime/emulator/ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm::emulator {

PtxError::PtxError(int line, const std::string& message)
    : Error(fmt::format("PTX line {}: {}", line, message)), line_(line) {}

namespace ptx {
namespace {

struct TypeRow {
    std::string_view name;
    int bits;
};

constexpr std::array<TypeRow, 24> kTypes{{
    {"pred", 1},  {"b8", 8},   {"u8", 8},   {"s8", 8},   {"b16", 16}, {"u16", 16},   {"s16", 16},    {"f16", 16},
    {"bf16", 16}, {"b32", 32}, {"u32", 32}, {"s32", 32}, {"f32", 32}, {"f16x2", 32}, {"bf16x2", 32}, {"tf32", 32},
    {"b64", 64},  {"u64", 64}, {"s64", 64}, {"f64", 64}, {"e4m3", 8}, {"e5m2", 8},   {"e4m3x2", 16}, {"e5m2x2", 16},
}};

}  // namespace

int type_bits(std::string_view type) {
    const auto* const row =
        std::find_if(kTypes.begin(), kTypes.end(), [&](const TypeRow& r) { return r.name == type; });
    return row == kTypes.end() ? 0 : row->bits;
}

std::string_view to_string(StateSpace space) {
    constexpr std::array<std::string_view, 7> kNames{"generic", "param", "global",         "shared",
                                                     "local",   "const", "shared::cluster"};
    return kNames.at(static_cast<std::size_t>(space));
}

std::string Instruction::opcode() const {
    std::string joined = name;
    for (const std::string& modifier : modifiers) joined += "." + modifier;
    return joined;
}

bool Instruction::has(std::string_view modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

int compute_capability(const Module& module) {
    constexpr int kNoneSoHigh = 100000;  // and no overflow by a .target of many digits
    int number = 0;
    for (const char c : module.target) {
        if (c >= '0' && c <= '9' && number < kNoneSoHigh) number = 10 * number + (c - '0');
    }
    return number;
}

}  // namespace ptx
}  // namespace jitgemm::emulator
