#include "python/src/kernel_report.hpp"

#include "jitgemm/error.hpp"
#include "runtime/c_api/kernel_query.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/device/entry_json.hpp"

#include <nlohmann/json.hpp>

#include <utility>

namespace jitgemm::python {

std::string device_of(const GemmKernel& kernel) {
    const Device& device = *state_of(kernel).device;
    if (device.kind() == DeviceKind::emulator) return "emulator:" + kernel.info().arch;
    return "cuda:" + std::to_string(device.ordinal());
}

std::string kernel_json(const GemmKernel& kernel) {
    std::size_t size = 0;
    c_api::query(kernel, "json", nullptr, size);
    std::string json(size, '\0');
    c_api::query(kernel, "json", json.data(), size);
    json.pop_back();  // C's closing 0
    return json;
}

std::string launches_json(const GemmKernel& kernel) {
    auto launches = nlohmann::ordered_json::array();
    for (const LoadedEntry& loaded : state_of(kernel).entries) {
        launches.push_back(to_json(loaded.entry()));
        launches.back()["blocks"] = loaded.shape.blocks;
    }
    return launches.dump();
}

std::vector<std::string> packed_arguments(const GemmKernel& kernel, const GemmArguments& given) {
    const KernelState& state = KernelAccess::state_for(kernel, given);
    const GemmArguments arguments = with_prepared(state, given);
    std::vector<std::string> problems = launch_problems(state.problem, arguments, state.workspace_bytes);
    if (state.workspace_bytes != 0 && !arguments.workspace)
        problems.push_back("a workspace of " + std::to_string(state.workspace_bytes) + " bytes is needed");
    if (!problems.empty()) throw SpecError("cannot launch " + state.info().name, std::move(problems));

    KernelOperands operands = as_kernel_sees(state, arguments);
    if (state.counter_bytes != 0)
        operands.counters = DevicePointer(arguments.workspace.address + state.workspace_bytes - state.counter_bytes);
    std::vector<std::string> structs;
    PackedArguments packed;
    for (const LoadedEntry& loaded : state.entries) {
        loaded.plan->arguments.pack(state.packed_problem(), operands, *state.device, packed);
        structs.emplace_back(reinterpret_cast<const char*>(packed.bytes.data()), packed.size);
    }
    return structs;
}

}  // namespace jitgemm::python
