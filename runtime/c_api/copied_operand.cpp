#include "runtime/c_api/copied_operand.hpp"

#include "runtime/c_api/host_rows.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace jitgemm::c_api {
namespace {

/// Memory of a device, freed with the last pointer to it.
std::shared_ptr<const void> allocated(const std::shared_ptr<Device>& device, std::size_t bytes, DevicePointer& memory) {
    memory = device->allocate_zeroed(bytes);
    const auto free = [device, generation = process_generation(), memory](const void* /*unused*/) {
        if (generation == process_generation()) device->free(memory);
    };
    return {static_cast<const void*>(device.get()), free};
}

}  // namespace

PreparedOperand prepare_copied(const GemmKernel& kernel, Prepared operand, DevicePointer host) {
    const KernelState& state = state_of(kernel);
    const OperandList operands = gemm_operands(state.problem.requested());
    const GemmOperand& copied = *operands.find(to_string(operand));
    if (!host || bytes_of(copied) == 0) return prepare(kernel, operand, host, nullptr);  // says what is wrong
    DevicePointer memory;
    const std::shared_ptr<const void> kept = allocated(state.device, bytes_of(copied), memory);
    state.device->name_memory(memory, std::string(copied.title));
    copy_to_device(*state.device, memory, reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(host.address)),
                   rows_of(copied));
    PreparedOperand prepared = prepare(kernel, operand, memory, nullptr, {}, 0, kept);
    state.device->synchronize(nullptr);
    return prepared;
}

bool is_given_prepared(std::string_view name, const GemmArguments& arguments) {
    return (name == "a" && arguments.prepared_a != nullptr) || (name == "b" && arguments.prepared_b != nullptr);
}

}  // namespace jitgemm::c_api
