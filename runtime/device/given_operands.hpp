#pragma once

#include "generator/epilogue/graph.hpp"
#include "jitgemm/gemm_arguments.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The place of an operand in a text; outputs beside d stand behind the operands.
[[nodiscard]] std::size_t argument_place(const EpilogueParts& parts, std::string_view name);

/// A launch's arguments for the operands of an epilogue's text and for its outputs beside d, by their places in the
/// text. Each name is looked up once.
class GivenOperands {
public:
    GivenOperands() {}  // NOLINT(modernize-use-equals-default): of no text; the arrays stay as they are
    GivenOperands(const EpilogueParts& parts, const GemmArguments& arguments);

    /// Whether the names are those of the text, and scalars and addresses stand where they belong.
    [[nodiscard]] bool are_sound() const { return are_sound_; }
    /// 0 if the launch gives none.
    [[nodiscard]] std::uint64_t address(std::size_t place) const { return addresses_[place]; }  // NOLINT: as below
    [[nodiscard]] float value(std::size_t place) const { return values_[place]; }  // NOLINT: a text has at most kMost
    /// A bit for each scalar of the launch that is 0.
    [[nodiscard]] std::uint32_t zeros() const { return zeros_; }

private:
    std::array<std::uint64_t, OperandArguments::kMost> addresses_;
    std::array<float, OperandArguments::kMost> values_;
    std::uint32_t zeros_ = 0;
    bool are_sound_ = true;
};

/// A bit for each of the scalars: where a launch has one of them among its zeros, it does not read what they guard.
[[nodiscard]] constexpr std::uint32_t bits_of(const std::vector<int>& scalars) {
    std::uint32_t bits = 0;
    for (const int scalar : scalars) bits |= 1U << static_cast<unsigned>(scalar);
    return bits;
}

}  // namespace jitgemm
