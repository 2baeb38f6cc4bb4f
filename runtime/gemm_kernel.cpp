#include "runtime/context.hpp"
#include "runtime/emulator_device.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace jitgemm {

/// A launch reads one atomic pointer. Replaced states stay: someone may be launching them, or hold a reference to what
/// info() returned; a kernel is replaced once or twice in its life.
struct GemmKernel::Slot {
    explicit Slot(std::shared_ptr<const State> first) : current(first.get()) { states.push_back(std::move(first)); }

    std::atomic<const State*> current;
    std::mutex mutex;  // guards states
    std::vector<std::shared_ptr<const State>> states;
};

namespace {

[[noreturn]] void throw_unsound(const GemmKernel::State& state, std::vector<std::string> problems) {
    throw SpecError("cannot launch " + state.info.name, std::move(problems));
}

// What the kernel calls A is the caller's B when D is column-major: D^T = B^T · A^T.
GemmArguments as_kernel_sees(const GemmKernel::State& state, const GemmArguments& arguments) {
    GemmArguments operands = arguments;
    if (state.operands_traded) std::swap(operands.a, operands.b);
    return operands;
}

void enqueue(const GemmKernel::State& state, const GemmArguments& operands, Stream stream) {
    for (const LoadedEntry& loaded : state.entries) {
        if (loaded.shape.blocks == 0) continue;  // packing an operand of K = 0 elements
        const PackedArguments packed = pack_arguments(loaded.entry.arguments, state.row_major, operands);
        state.device->launch(loaded.function, loaded.shape, packed.span(), stream);
    }
}

void enqueue_with_own_workspace(const GemmKernel::State& state, GemmArguments operands, Stream stream) {
    const WorkspacePool::Lease lease = state.workspaces->acquire(stream, state.workspace_bytes);
    operands.workspace = lease.memory;
    if (state.device->kind() == DeviceKind::emulator)  // what the launch before left is nobody's to read
        as_emulator(*state.device)->undefine_memory(lease.memory, state.workspace_bytes, false);
    enqueue(state, operands, stream);
}

}  // namespace

GemmKernel::GemmKernel(std::shared_ptr<const State> state) : slot_(std::make_shared<Slot>(std::move(state))) {}

GemmKernel::Slot& GemmKernel::slot() const {
    if (slot_ == nullptr) [[unlikely]]
        throw Error("this GemmKernel is empty: it was made without a kernel or moved from");
    return *slot_;
}

const GemmKernel::State& GemmKernel::state() const { return *slot().current.load(std::memory_order_acquire); }

void GemmKernel::replace(std::shared_ptr<const State> state) const {
    const std::lock_guard lock(slot().mutex);
    slot_->states.push_back(std::move(state));
    slot_->current.store(slot_->states.back().get(), std::memory_order_release);
}

std::shared_ptr<const GemmKernel::State> GemmKernel::shared_state() const {
    const std::lock_guard lock(slot().mutex);
    return slot_->states.back();
}

// With a workspace that the latest state finds too small: the last one that the caller may have asked workspace_bytes() of.
const GemmKernel::State& GemmKernel::state_for(const GemmArguments& arguments) const {
    const State& latest = state();
    if (!arguments.workspace || arguments.workspace_bytes >= latest.workspace_bytes) return latest;
    const std::lock_guard lock(slot_->mutex);
    const auto fits = [&](const auto& state) { return state->workspace_bytes <= arguments.workspace_bytes; };
    const auto found = std::find_if(slot_->states.rbegin(), slot_->states.rend(), fits);
    return found == slot_->states.rend() ? latest : **found;
}

void GemmKernel::launch(const GemmArguments& arguments, Stream stream) const {
    const State& state = state_for(arguments);
    std::vector<std::string> problems = launch_problems(state.spec, arguments, state.workspace_bytes);
    if (!problems.empty()) [[unlikely]]
        throw_unsound(state, std::move(problems));
    if (state.spec.m == 0 || state.spec.n == 0) return;

    const GemmArguments operands = as_kernel_sees(state, arguments);
    if (state.workspace_bytes != 0 && !arguments.workspace) {
        enqueue_with_own_workspace(state, operands, stream);
    } else {
        enqueue(state, operands, stream);
    }
}

const GemmSpec& GemmKernel::spec() const { return state().spec; }

std::string GemmKernel::source() const { return dump(*state().source, state().spec); }

const KernelInfo& GemmKernel::info() const { return state().info; }

std::size_t GemmKernel::workspace_bytes() const { return state().workspace_bytes; }

std::string_view to_string(CacheSource source) {
    switch (source) {
        case CacheSource::memory: return "memory";
        case CacheSource::disk: return "disk";
        default: return "compiled";
    }
}

std::string_view to_string(ChoiceSource source) {
    switch (source) {
        case ChoiceSource::exact: return "exact";
        case ChoiceSource::nearest: return "nearest";
        case ChoiceSource::hint: return "hint";
        case ChoiceSource::heuristic: return "heuristic";
        default: return "forced";
    }
}

}  // namespace jitgemm
