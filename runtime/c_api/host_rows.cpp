#include "runtime/c_api/host_rows.hpp"

namespace jitgemm::c_api {
namespace {

std::size_t in_bytes(const GemmOperand& operand, std::int64_t elements) {
    return static_cast<std::size_t>(elements * bytes(operand.type));
}

}  // namespace

std::vector<OperandRows> rows_of(const GemmOperand& operand) {
    if (operand.extent() == 0) return {};
    MemoryRows rows{static_cast<std::size_t>(operand.lines()), in_bytes(operand, operand.run()),
                    in_bytes(operand, operand.leading_dimension())};
    if (operand.by_addresses) return {{0, rows}};
    if (operand.inner == 0 && operand.matrices() > 1 &&
        operand.batch_stride == operand.lines() * operand.leading_dimension()) {
        rows.count *= static_cast<std::size_t>(operand.matrices());
        return {{0, rows}};
    }
    std::vector<OperandRows> list;
    for (std::int64_t outer = 0; outer < operand.outer_matrices(); ++outer)
        for (std::int64_t inner = 0; inner < operand.inner_matrices(); ++inner)
            list.push_back({in_bytes(operand, outer * operand.outer_stride + inner * operand.batch_stride), rows});
    return list;
}

void copy_to_device(Device& device, DevicePointer to, const std::byte* from, std::span<const OperandRows> lines) {
    for (const auto& [offset, rows] : lines) device.copy_rows_to_device(to.address + offset, from + offset, rows);
}

void copy_to_host(Device& device, std::byte* to, DevicePointer from, std::span<const OperandRows> lines) {
    for (const auto& [offset, rows] : lines) device.copy_rows_to_host(to + offset, from.address + offset, rows);
}

std::vector<std::uint64_t> read_addresses(const GemmOperand& operand, DevicePointer array) {
    const auto* const first = reinterpret_cast<const std::uint64_t*>(static_cast<std::uintptr_t>(array.address));
    return {first, first + operand.batch};
}

std::vector<std::uint64_t> addresses_of(const GemmOperand& operand, const GemmArguments& arguments) {
    const DevicePointer given = address_of(operand, arguments);
    return operand.by_addresses ? read_addresses(operand, given) : std::vector<std::uint64_t>{given.address};
}

std::size_t bytes_of(const GemmOperand& operand) { return in_bytes(operand, operand.extent()); }

}  // namespace jitgemm::c_api
