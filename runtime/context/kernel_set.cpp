#include "runtime/context/kernel_set.hpp"

#include "generator/kernel_set_rows.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/error.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/support/default_math.hpp"
#include "runtime/support/request_record.hpp"
#include "runtime/support/thread_state.hpp"
#include "runtime/tuning/store/tuned_kernel_set.hpp"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

namespace jitgemm {
namespace {

/// Holds a place of RecentHandles.
class PlaceLock {
public:
    explicit PlaceLock(std::atomic_flag& flag) : flag_(flag) {
        while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
    }
    ~PlaceLock() { flag_.clear(std::memory_order_release); }
    PlaceLock(const PlaceLock&) = delete;
    PlaceLock& operator=(const PlaceLock&) = delete;

private:
    std::atomic_flag& flag_;
};

std::vector<int> sms_of(const KernelState& state) {
    std::vector<int> sms;
    for (const LoadedEntry& entry : state.entries) {
        const int cluster = cluster_blocks(entry.shape.cluster);
        const bool counts_clusters = cluster > 1 && needs_sm_count(entry.entry().grid);
        sms.push_back(counts_clusters ? state.device->resident_clusters(entry.function(), entry.shape) * cluster
                                      : state.device->model().sm_count);
    }
    return sms;
}

/// Loads the kernels of one body. The first is compiled. The others have its binary, and launches of their own.
class Loader {
public:
    Loader(ContextState& context, KernelSetState& state) : context_(context), state_(state) {}

    void load(std::size_t body) {
        for (std::size_t i = 0; i < state_.set.kernels.size(); ++i) {
            if (state_.set.kernels[i].body != body) continue;
            const GemmKernel kernel = context_.assemble(first_problem(i), loaded(i), choice_);
            state_.kernels[i] = {KernelAccess::shared_state(kernel), sms_of(state_of(kernel))};
        }
    }

private:
    /// With the first m that the kernel serves.
    [[nodiscard]] Problem first_problem(std::size_t kernel) const {
        const auto range = std::ranges::find(state_.set.ranges, kernel, &KernelRange::kernel);
        return problem_at(state_.set.kernels[kernel].spec, range->first_m);
    }
    [[nodiscard]] ContextState::SharedLoad loaded(std::size_t kernel) {
        const Problem problem = first_problem(kernel);
        context_.require_emulable(problem, state_.set.kernels[kernel].id.config);
        const ContextState::SharedLoad shared = context_.load_shared(state_.names[kernel], [&] {
            const ForkGuard guard;
            const KernelSource source = generate(problem, state_.set.kernels[kernel].id.config,
                                                 *context_.device->model().arch, context_.templates);
            const bool is_compiled = sibling_ != nullptr && sibling_->source->body == source.body;
            return is_compiled ? with_launches_of(source, problem) : context_.load(source, problem);
        });
        sibling_ = shared.kernel;
        return shared;
    }
    [[nodiscard]] LoadedKernel with_launches_of(const KernelSource& source, const Problem& problem) const {
        LoadedKernel kernel = *sibling_;
        kernel.source = std::make_shared<const KernelSource>(source);
        kernel.facts.name = source.name;
        for (std::size_t i = 0; i < kernel.plans.size(); ++i)
            kernel.plans[i] = std::make_shared<const EntryPlan>(
                EntryPlan{source.entries[i], kernel.functions[i],
                          ArgumentPlan(source.entries[i].arguments, kernel_operands(problem.row_major()))});
        return kernel;
    }

    ContextState& context_;
    KernelSetState& state_;
    std::shared_ptr<const LoadedKernel> sibling_;
    tuning::TunedChoice choice_{{}, ChoiceSource::forced, "one of a kernel set"};
};

/// Calls `load(i)` for 0 to count - 1 on as many threads as there are cores. Throws what the first of them threw.
template <typename Load>
void load_all(std::size_t count, const Load& load) {
    std::atomic<std::size_t> next = 0;
    const auto work = [&] {
        for (std::size_t i = next++; i < count; i = next++) load(i);
    };
    std::vector<std::future<void>> others;
    const std::size_t threads = std::min<std::size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
    for (std::size_t i = 1; i < threads; ++i) others.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& other : others) other.get();
}

}  // namespace

std::optional<GemmKernel> RecentHandles::find(std::int64_t m) const {
    const Place& place = places_.at(place_of(m));
    const PlaceLock lock(place.is_locked);
    return place.m == m && place.kernel ? std::optional(place.kernel) : std::nullopt;
}

void RecentHandles::put(std::int64_t m, const GemmKernel& kernel) {
    GemmKernel replaced = kernel;
    Place& place = places_.at(place_of(m));
    const PlaceLock lock(place.is_locked);
    std::swap(place.kernel, replaced);  // the old one goes without the lock
    place.m = m;
}

GemmKernel KernelSetState::kernel(std::int64_t m) const {
    const KernelOfSet& of_set = kernels[set.range_of(m).kernel];
    const KernelState& known = *of_set.of_first;
    auto state = std::make_shared<KernelState>(set.problem(m));
    state->kernel = known.kernel;
    state->entries = known.entries;
    for (std::size_t i = 0; i < state->entries.size(); ++i) {
        LoadedEntry& entry = state->entries[i];
        entry.shape.blocks = block_count(entry.entry().grid, state->problem.row_major(), of_set.sms[i]);
        entry.shape.problems = problem_grid(entry.entry().grid, state->problem.row_major());
    }
    if (known.preparations != nullptr)
        state->preparations = preparations_of(state->problem, *known.preparations, *known.device);
    const WorkspaceLayout workspace = workspace_layout(state->problem, known.source().id.config);
    state->workspace_bytes = workspace.bytes;
    state->counter_bytes = workspace.counters;
    state->reduction_parts = workspace.reduction_parts;
    state->cache = CacheSource::memory;
    state->choice = known.choice;
    state->choice_reason = known.choice_reason;
    state->device = known.device;
    state->workspaces = known.workspaces;
    return KernelAccess::make(std::move(state));
}

GemmKernelSet load_kernel_set(ContextState& context, KernelSet set) {
    // A fork's child leaves it alone: what it has of a GPU can't be given back there.
    const auto destroy = [](const KernelSetState* of) {
        if (of->generation == process_generation()) delete of;
    };
    const std::shared_ptr<KernelSetState> state(new KernelSetState, destroy);
    state->set = std::move(set);
    for (const SetKernel& kernel : state->set.kernels) state->names.push_back(kernel_name(kernel.id));
    state->kernels.resize(state->names.size());
    load_all(state->set.body_count(), [&](std::size_t body) { Loader(context, *state).load(body); });
    return KernelSetAccess::make(state);
}

// ---- the public handle ----------------------------------------------------------------------------------------------

GemmKernelSet::GemmKernelSet(std::shared_ptr<const KernelSetState> state) : state_(std::move(state)) {}

GemmKernelSet KernelSetAccess::make(std::shared_ptr<const KernelSetState> state) {
    return GemmKernelSet(std::move(state));
}

const KernelSetState& KernelSetAccess::state(const GemmKernelSet& set) {
    if (set.state_ == nullptr) [[unlikely]]
        throw Error("this GemmKernelSet is empty: it was made without a context or moved from");
    if (set.state_->generation != process_generation()) [[unlikely]]
        throw Error("this GemmKernelSet belongs to the parent process: after a fork, ask a new Context for it");
    return *set.state_;
}

GemmKernel GemmKernelSet::kernel(std::int64_t m) const {
    const KernelSetState& state = KernelSetAccess::state(*this);
    if (std::optional<GemmKernel> known = state.handles.find(m)) [[likely]]
        return *std::move(known);
    const GemmKernel made = state.kernel(m);
    state.handles.put(m, made);
    return made;
}

void GemmKernelSet::launch(std::int64_t m, const GemmArguments& arguments, Stream stream) const {
    kernel(m).launch(arguments, stream);
}

const GemmSpec& GemmKernelSet::spec() const { return KernelSetAccess::state(*this).set.spec; }
std::int64_t GemmKernelSet::first_m() const { return KernelSetAccess::state(*this).set.first_m; }
std::int64_t GemmKernelSet::last_m() const { return KernelSetAccess::state(*this).set.last_m; }
const std::vector<std::string>& GemmKernelSet::kernels() const { return KernelSetAccess::state(*this).names; }
const std::vector<KernelRange>& GemmKernelSet::ranges() const { return KernelSetAccess::state(*this).set.ranges; }
double GemmKernelSet::mean_ratio() const { return KernelSetAccess::state(*this).set.mean_ratio; }
double GemmKernelSet::worst_ratio() const { return KernelSetAccess::state(*this).set.worst_ratio; }
std::string GemmKernelSet::text() const { return to_string(KernelSetAccess::state(*this).set); }
std::string GemmKernelSet::json() const { return to_json(KernelSetAccess::state(*this).set); }

GemmKernelSet Context::kernels(const GemmSpec& asked, std::int64_t first_m, std::int64_t last_m) {
    ContextState& state = state_of(*this);
    const GemmSpec spec = with_default_math(asked, state.options);
    note_request(spec, first_m, last_m);
    const UsualThreadState kept;
    const tuning::TunedChoices& choices = state.tuned_choices();
    const auto chosen = [&] {
        const ForkGuard guard;
        return tuning::serving_kernel_set(
            spec, first_m, last_m, state.device->model(), state.selection, choices,
            tuning::tuned_sets(state.options, *state.device, state.templates, *state.compiler));
    };
    return load_kernel_set(state, chosen());
}

}  // namespace jitgemm
