#include "runtime/context.hpp"

#include <utility>

namespace jitgemm {
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
    enqueue(state, operands, stream);
}

}  // namespace

void GemmKernel::launch(const GemmArguments& arguments, Stream stream) const {
    const State& state = *state_;
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

const GemmSpec& GemmKernel::spec() const { return state_->spec; }

std::string GemmKernel::source() const { return dump(*state_->source, state_->spec); }

const KernelInfo& GemmKernel::info() const { return state_->info; }

std::size_t GemmKernel::workspace_bytes() const { return state_->workspace_bytes; }

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
        case ChoiceSource::heuristic: return "heuristic";
        default: return "forced";
    }
}

}  // namespace jitgemm
