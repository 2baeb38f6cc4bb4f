#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/kernel_info.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/emulator_device/emulator_device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <forward_list>
#include <mutex>
#include <utility>
#include <vector>

namespace jitgemm {

/// A mutex that takes a byte, because each problem has one. It is held for a few instructions.
class ByteMutex {
public:
    void lock() noexcept {
        while (is_held_.test_and_set(std::memory_order_acquire)) is_held_.wait(true, std::memory_order_relaxed);
    }
    void unlock() noexcept {
        is_held_.clear(std::memory_order_release);
        is_held_.notify_one();
    }

private:
    std::atomic_flag is_held_;
};

/// A launch reads one atomic pointer. Replaced states stay: someone may be launching them, or hold a reference to what
/// info() returned; a kernel is replaced once or twice in its life.
struct KernelSlot {
    explicit KernelSlot(std::shared_ptr<const KernelState> first) : current(first.get()) {
        states.push_front(std::move(first));
    }

    unsigned generation = process_generation();  // of the process that made it
    ByteMutex mutex;                             // guards states
    std::atomic<const KernelState*> current;
    std::forward_list<std::shared_ptr<const KernelState>> states;  // the latest first
};

namespace {

// In the order of the enumerations.
constexpr std::array<std::string_view, 3> kCacheSources{"memory", "disk", "compiled"};
constexpr std::array<std::string_view, 7> kChoiceSources{"exact", "nearest",   "heuristic", "forced",
                                                         "hint",  "installed", "stand_in"};

bool begins_early(const KernelState& state) { return state.entries.front().shape.programmatic; }

bool waits_for_nothing(const KernelState& state, const GemmArguments& arguments) {
    return arguments.dependent_launch == DependentLaunch::on && !begins_early(state);
}

bool is_sound(const KernelState& state, const GemmArguments& arguments) {
    return state.regions.are_sound(arguments, state.workspace_bytes) && !waits_for_nothing(state, arguments);
}

void require_sound(const KernelState& state, const GemmArguments& arguments) {
    std::vector<std::string> problems = launch_problems(state.problem, arguments, state.workspace_bytes);
    if (waits_for_nothing(state, arguments))
        problems.emplace_back(
            "dependent_launch is on, but the kernel waits for nothing (parameter dependent_launch=0)");
    if (!problems.empty()) throw SpecError("cannot launch " + state.info().name, std::move(problems));
}

/// The host can read arrays of addresses in the emulator's memory.
void require_sound_addresses(const KernelState& state, const GemmArguments& arguments) {
    const auto read = [&](const GemmOperand& operand, DevicePointer array) {
        std::vector<std::uint64_t> addresses(static_cast<std::size_t>(operand.batch));
        state.device->copy_to_host(addresses.data(), array, addresses.size() * kAddressBytes);
        return addresses;
    };
    std::vector<std::string> problems = address_problems(state.problem.asked, arguments, read);
    if (!problems.empty()) throw SpecError("cannot launch " + state.info().name, std::move(problems));
}

/// If an entry waits for the previous launch, the entries behind it wait too, because they wait for this entry.
void enqueue(const KernelState& state, const KernelOperands& operands, Stream stream) {
    PackedArguments packed;
    bool may_begin_early = operands.dependent_launch != DependentLaunch::off;
    for (const LoadedEntry& loaded : state.entries) {
        if (loaded.shape.blocks == 0) continue;  // packing an operand of K = 0 elements
        loaded.plan->arguments.pack(state.packed_problem(), operands, *state.device, packed);
        LaunchShape shape = loaded.shape;
        shape.programmatic = shape.programmatic && may_begin_early;
        if (!shape.programmatic) shape.shared_bytes = loaded.entry().shared_bytes;  // nothing gathers
        state.device->launch(loaded.function(), shape, packed.span(), stream);
        may_begin_early = true;
    }
}

DevicePointer reduction_parts(const KernelState& state, const KernelOperands& operands) {
    return DevicePointer(operands.workspace.address + state.reduction_parts);
}

std::size_t partial_bytes(const KernelState& state) { return state.workspace_bytes - state.counter_bytes; }

// The emulator checks that a launch leaves the counters zero, and that it waits for the previous launch before it
// reads anything but constants. Old contents of a workspace must not be read.
void enqueue_emulated(const KernelState& state, const KernelOperands& operands, Stream stream) {
    EmulatorDevice& emulator = *as_emulator(*state.device);
    if (partial_bytes(state) != 0) emulator.undefine_memory(operands.workspace, partial_bytes(state), false);
    if (state.problem.asked.constant_a) emulator.mark_constant(state.problem.transposed ? operands.b : operands.a);
    if (state.problem.asked.constant_b) emulator.mark_constant(state.problem.transposed ? operands.a : operands.b);
    try {
        enqueue(state, operands, stream);
        emulator.check_counters(operands.counters, state.counter_bytes);
    } catch (...) {
        if (state.counter_bytes != 0) emulator.zero(operands.counters, state.counter_bytes, stream);
        throw;
    }
}

void enqueue_with_own_workspace(const KernelState& state, KernelOperands operands, Stream stream) {
    const WorkspacePool::Lease lease = state.workspaces->acquire(stream, partial_bytes(state), state.counter_bytes);
    operands.workspace = lease.memory;
    operands.counters = lease.counters;
    operands.reduction_parts = reduction_parts(state, operands);
    if (state.device->kind() != DeviceKind::emulator) return enqueue(state, operands, stream);
    enqueue_emulated(state, operands, stream);
}

void enqueue_with_workspace(const KernelState& state, KernelOperands operands, Stream stream) {
    operands.reduction_parts = reduction_parts(state, operands);
    if (state.counter_bytes != 0) {
        operands.counters = DevicePointer(operands.workspace.address + partial_bytes(state));
        state.device->zero(operands.counters, state.counter_bytes, stream);
    }
    if (state.device->kind() != DeviceKind::emulator) return enqueue(state, operands, stream);
    enqueue_emulated(state, operands, stream);
}

void launch_on(const KernelState& state, const GemmArguments& arguments, Stream stream) {
    if (!is_sound(state, arguments)) [[unlikely]]
        require_sound(state, arguments);
    if (is_empty(state.problem.asked)) return;
    if (state.problem.asked.pointers && state.device->kind() == DeviceKind::emulator)
        require_sound_addresses(state, arguments);

    const KernelOperands operands = as_kernel_sees(state, arguments);
    if (state.workspace_bytes != 0 && !arguments.workspace) {
        enqueue_with_own_workspace(state, operands, stream);
    } else {
        enqueue_with_workspace(state, operands, stream);
    }
}

bool has_prepared(const KernelState& state, const GemmArguments& arguments) {
    return state.preparations != nullptr || arguments.prepared_a != nullptr || arguments.prepared_b != nullptr;
}

}  // namespace

KernelOperands as_kernel_sees(const KernelState& state, const GemmArguments& arguments) {
    KernelOperands operands{arguments};
    if (arguments.prepared_a != nullptr) operands.copy_a = arguments.prepared_a->data();
    if (arguments.prepared_b != nullptr) operands.copy_b = arguments.prepared_b->data();
    if (!state.problem.transposed) return operands;
    std::swap(operands.a, operands.b);
    std::swap(operands.copy_a, operands.copy_b);
    return operands;
}

GemmKernel::GemmKernel(std::shared_ptr<KernelSlot> slot) : slot_(std::move(slot)) {}

GemmKernel KernelAccess::make(std::shared_ptr<const KernelState> state) {
    // A fork's child leaves it alone: what it has of a GPU can't be given back there.
    const auto destroy = [](const KernelSlot* slot) {
        if (slot->generation == process_generation()) delete slot;
    };
    return GemmKernel(std::shared_ptr<KernelSlot>(new KernelSlot(std::move(state)), destroy));
}

KernelSlot& KernelAccess::slot(const GemmKernel& kernel) {
    if (kernel.slot_ == nullptr) [[unlikely]]
        throw Error("this GemmKernel is empty: it was made without a kernel or moved from");
    if (kernel.slot_->generation != process_generation()) [[unlikely]]
        throw Error("this GemmKernel belongs to the parent process: after a fork, ask a new Context for it");
    return *kernel.slot_;
}

const KernelState& KernelAccess::state(const GemmKernel& kernel) {
    return *slot(kernel).current.load(std::memory_order_acquire);
}

void KernelAccess::replace(const GemmKernel& kernel, std::shared_ptr<const KernelState> state) {
    KernelSlot& slot = KernelAccess::slot(kernel);
    const std::lock_guard lock(slot.mutex);
    slot.states.push_front(std::move(state));
    slot.current.store(slot.states.front().get(), std::memory_order_release);
}

void KernelAccess::replace(const GemmKernel& kernel, const KernelState& expected,
                           std::shared_ptr<const KernelState> state) {
    KernelSlot& slot = KernelAccess::slot(kernel);
    const std::lock_guard lock(slot.mutex);
    if (slot.states.front().get() != &expected) return;
    slot.states.push_front(std::move(state));
    slot.current.store(slot.states.front().get(), std::memory_order_release);
}

const void* KernelAccess::identity(const GemmKernel& kernel) { return kernel.slot_.get(); }

long KernelAccess::users(const GemmKernel& kernel) { return kernel.slot_.use_count(); }

std::shared_ptr<const KernelState> KernelAccess::shared_state(const GemmKernel& kernel) {
    KernelSlot& slot = KernelAccess::slot(kernel);
    const std::lock_guard lock(slot.mutex);
    return slot.states.front();
}

const KernelState& KernelAccess::state_for(const GemmKernel& kernel, const GemmArguments& arguments) {
    const KernelState& latest = state(kernel);
    if (!arguments.workspace || arguments.workspace_bytes >= latest.workspace_bytes) return latest;
    KernelSlot& slot = KernelAccess::slot(kernel);
    const std::lock_guard lock(slot.mutex);
    const auto fits = [&](const auto& state) { return state->workspace_bytes <= arguments.workspace_bytes; };
    const auto found = std::find_if(slot.states.begin(), slot.states.end(), fits);
    return found == slot.states.end() ? latest : **found;
}

void GemmKernel::launch(const GemmArguments& arguments, Stream stream) const {
    const KernelState& state = KernelAccess::state_for(*this, arguments);
    if (has_prepared(state, arguments)) return launch_on(state, with_prepared(state, arguments), stream);
    launch_on(state, arguments, stream);
}

const GemmSpec& GemmKernel::spec() const { return state_of(*this).problem.requested(); }

std::string GemmKernel::source() const { return dump(state_of(*this).source(), state_of(*this).problem); }

const KernelInfo& GemmKernel::info() const { return state_of(*this).info(); }

std::size_t GemmKernel::workspace_bytes() const { return state_of(*this).workspace_bytes; }

std::string_view to_string(CacheSource source) { return kCacheSources.at(static_cast<std::size_t>(source)); }

std::string_view to_string(ChoiceSource source) { return kChoiceSources.at(static_cast<std::size_t>(source)); }

}  // namespace jitgemm
