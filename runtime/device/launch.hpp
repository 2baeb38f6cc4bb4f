#pragma once

#include "generator/base/operand.hpp"
#include "generator/base/problem.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/device/given_operands.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace jitgemm {

/// Whether C is one row that is added to every row of D: the spec or the launch says so.
[[nodiscard]] inline bool broadcasts_c(const GemmSpec& spec, const GemmArguments& arguments) {
    return spec.broadcast_c || arguments.broadcast_c;
}

/// Every launch rule that the caller's arguments break; empty if there is none. The rules forbid null and misaligned
/// pointers, beta without C, a D that overlaps an input, and a small workspace. D may be exactly C if their types,
/// leading dimensions and batch strides agree. With GemmSpec::pointers, the rules hold for arrays of addresses, and
/// matrices may lie anywhere. If m or n is 0, the launch touches no memory and any pointer is sound.
[[nodiscard]] std::vector<std::string> launch_problems(const Problem& problem, const GemmArguments& arguments,
                                                       std::size_t workspace_bytes);
/// The rules for these operands of Problem::asked alone: null and misaligned pointers, and forbidden overlaps.
[[nodiscard]] std::vector<std::string> operand_problems(const OperandList& operands, const Problem& problem,
                                                        const GemmArguments& arguments);

/// Reads the addresses of an operand's matrices out of the array at this place.
using ReadAddresses = std::function<std::vector<std::uint64_t>(const GemmOperand&, DevicePointer array)>;
/// The null and misaligned addresses in arrays of GemmSpec::pointers, where the host can read them: of each operand the
/// first. The rules of launch_problems() hold already.
[[nodiscard]] std::vector<std::string> address_problems(const GemmSpec& spec, const GemmArguments& arguments,
                                                        const ReadAddresses& read);

/// The places of one problem's operands without their addresses. They are computed once, so that a sound launch need
/// not list the operands.
class LaunchRegions {
public:
    LaunchRegions() = default;  ///< of no problem: no launch is known to be sound
    explicit LaunchRegions(const GemmSpec& asked);

    /// True only if launch_problems() finds nothing. False if that is left to launch_problems(): where a rule is
    /// broken, where matrices interleave, for an empty D, and for a C that the launch alone makes one row.
    [[nodiscard]] bool are_sound(const GemmArguments& arguments, std::size_t workspace_bytes) const;

private:
    struct Place {
        std::uint64_t bytes;   ///< from the first to one past the last
        std::uint32_t guards;  ///< bits of the zeros of a launch; none may be set if this is to be read
        std::uint8_t operand;  ///< of kAddresses; behind them, a place in the text
        std::uint8_t alignment;
        bool is_written;
        std::uint8_t
            outputs;  ///< bits of outputs: of one, its own; of another operand, those whose address it may have
    };
    /// Of a problem with an epilogue's text.
    struct OfText {
        const EpilogueParts& parts;
        std::vector<Place> places;
    };
    [[nodiscard]] static Place place_of(const GemmOperand& operand, const OperandList& operands);
    void add(const Place& place);
    [[nodiscard]] std::span<const Place> places() const {
        return of_text_ == nullptr ? std::span<const Place>(places_.data(), count_) : of_text_->places;
    }
    [[nodiscard]] bool have_sound_scalars(const GemmArguments& arguments, const GivenOperands& given) const;
    [[nodiscard]] std::uint32_t zeros(const GemmArguments& arguments, const GivenOperands& given) const;

    std::array<Place, 6> places_{};  ///< in place: a problem is to cost little memory
    std::unique_ptr<OfText> of_text_;
    std::uint8_t count_ = 0;
    bool has_k_ = false;
    bool has_c_ = false;
    bool broadcasts_c_ = false;
};

/// Of a device address in an array.
inline constexpr int kAddressBytes = 8;

/// Bytes to which a caller's workspace must be aligned.
inline constexpr std::size_t kWorkspaceAlignment = 16;

}  // namespace jitgemm
