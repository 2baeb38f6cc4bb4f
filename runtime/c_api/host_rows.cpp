#include "runtime/c_api/host_rows.hpp"

namespace jitgemm::c_api {
namespace {

std::size_t in_bytes(const GemmOperand& operand, std::int64_t elements) {
    return static_cast<std::size_t>(elements * bytes(operand.type));
}

}  // namespace

MemoryRows rows_of(const GemmOperand& operand) {
    return {static_cast<std::size_t>(operand.lines()), in_bytes(operand, operand.run()),
            in_bytes(operand, operand.leading_dimension())};
}

std::size_t bytes_of(const GemmOperand& operand) { return in_bytes(operand, operand.extent()); }

}  // namespace jitgemm::c_api
