#pragma once

#include "generator/base/operand.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jitgemm::c_api {

/// Lines of an operand, from an offset in bytes on.
struct OperandRows {
    std::size_t offset = 0;
    MemoryRows rows;
};
/// All lines of an operand: those of one matrix after the other, or all at once where matrices of a batch lie one
/// behind the other; those of one matrix where each has an address. A launch neither reads nor writes the gaps between
/// lines. Without elements there is none.
[[nodiscard]] std::vector<OperandRows> rows_of(const GemmOperand& operand);

/// Copies those lines. They lie equally far behind both places.
void copy_to_device(Device& device, DevicePointer to, const std::byte* from, std::span<const OperandRows> lines);
void copy_to_host(Device& device, std::byte* to, DevicePointer from, std::span<const OperandRows> lines);

/// From the first byte to one past the last.
[[nodiscard]] std::size_t bytes_of(const GemmOperand& operand);

/// The host addresses in an array of them.
[[nodiscard]] std::vector<std::uint64_t> read_addresses(const GemmOperand& operand, DevicePointer array);
/// Where the operand lies: at one address, or its matrices at those in an array.
[[nodiscard]] std::vector<std::uint64_t> addresses_of(const GemmOperand& operand, const GemmArguments& arguments);

}  // namespace jitgemm::c_api
