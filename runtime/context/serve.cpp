/// \file What a request does on a miss: Options::on_miss.

#include "jitgemm/error.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/context/stand_in.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/thread_state.hpp"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

namespace jitgemm {
namespace {

bool is_stand_in(const KernelState& state) { return state.choice == ChoiceSource::stand_in; }
bool is_stand_in(const GemmKernel& kernel) { return is_stand_in(state_of(kernel)); }

tuning::TunedChoice stand_in_for(const std::string& chosen, const KernelConfig& config) {
    return {config, ChoiceSource::stand_in, fmt::format("it serves until {} has been compiled", chosen)};
}

[[noreturn]] void throw_not_ready(const std::string& kernel) {
    throw KernelNotReady(
        fmt::format("{} is not loaded, and on_miss is fail: request it once with wait or serve before", kernel),
        kernel);
}

}  // namespace

// A problem has one kernel in whatever words it is asked for, so that all handles of it change when it is replaced.
GemmKernel ContextState::kernel(const GemmSpec& spec, OnMiss on_miss) {
    std::optional<GemmKernel> known = kernels.find(spec);
    if (known && (on_miss == OnMiss::serve || !is_stand_in(*known))) [[likely]]
        return *std::move(known);
    const UsualThreadState kept;
    const Problem problem = problem_of(spec);
    if (!known) known = kernels.find(problem.requested());
    if (!known) return first_kernel(spec, problem, on_miss);
    if (on_miss != OnMiss::serve) settle(*known, on_miss);
    return kernels.add(spec, problem.requested(), *known).kernel;
}

GemmKernel ContextState::first_kernel(const GemmSpec& spec, const Problem& problem, OnMiss on_miss) {
    const tuning::TunedChoice choice = choose(problem);
    const auto [kernel, is_new] = kernels.add(spec, problem.requested(), obtain(problem, choice, on_miss));
    if (on_miss != OnMiss::serve) settle(kernel, on_miss);  // another thread may have put a stand-in there
    if (on_miss == OnMiss::serve && is_new && is_stand_in(kernel)) settle_later(kernel, choice);
    return kernel;
}

bool ContextState::is_loaded(const std::string& kernel) {
    const std::scoped_lock lock(mutex);
    const auto known = loaded.find(kernel);
    return known != loaded.end() && known->second->kernel != nullptr;
}

/// A kernel whose name the folders didn't have is not rendered to look for it.
bool ContextState::is_cached(const Problem& problem, const KernelConfig& config) {
    if (!cache.held(kernel_name(problem, config))) return false;
    const ForkGuard guard;
    return cache.has(request_for(generate(problem, config, *device->model().arch, templates)), *compiler);
}

std::vector<KernelId> ContextState::loaded_ids() {
    const std::scoped_lock lock(mutex);
    std::vector<KernelId> ids;
    for (const auto& [key, slot] : loaded)
        if (slot->kernel != nullptr && slot->kernel->source != nullptr && key == slot->kernel->source->name)
            ids.push_back(slot->kernel->source->id);
    return ids;
}

GemmKernel ContextState::obtain(const Problem& problem, const tuning::TunedChoice& choice, OnMiss on_miss) {
    const std::string name = kernel_name(problem, choice.config);
    const bool must_be_loaded = on_miss == OnMiss::fail;
    const bool is_ready = is_loaded(name) && (!must_be_loaded || are_preparations_loaded(problem, *this));
    if (on_miss == OnMiss::wait || is_ready) return build(problem, choice);
    if (must_be_loaded) throw_not_ready(name);
    if (!selection.takes_all() || is_cached(problem, choice.config)) return build(problem, choice);
    const std::vector<KernelId> ids = loaded_ids();
    if (const auto config = best_stand_in(problem, choice.config, ids, device->model()))
        return build(problem, stand_in_for(name, *config));
    if (const auto config = quick_stand_in(problem, choice.config, device->model()))
        return build(problem, stand_in_for(name, *config));
    return build(problem, choice);
}

void ContextState::settle(const GemmKernel& kernel, OnMiss on_miss) {
    const std::shared_ptr<const KernelState> stand_in = KernelAccess::shared_state(kernel);
    if (!is_stand_in(*stand_in)) return;
    const GemmKernel chosen = obtain(stand_in->problem, choose(stand_in->problem), on_miss);
    KernelAccess::replace(kernel, *stand_in, KernelAccess::shared_state(chosen));
}

void ContextState::settle_later(const GemmKernel& kernel, const tuning::TunedChoice& choice) {
    const auto settle_now = [this, kernel, choice] {
        const std::shared_ptr<const KernelState> stand_in = KernelAccess::shared_state(kernel);
        if (!is_stand_in(*stand_in)) return;  // somebody could not wait
        try {
            const UsualThreadState kept;
            KernelAccess::replace(kernel, *stand_in, KernelAccess::shared_state(build(stand_in->problem, choice)));
        } catch (const std::exception& error) {
            log().warn("{} goes on serving {}: {}", stand_in->info().name, to_string(stand_in->problem.asked),
                       error.what());
        }
    };
    if (!workers.enqueue(settle_now))
        log().warn("{} goes on serving {}: no thread can be started to compile in", state_of(kernel).info().name,
                   to_string(kernel.spec()));
}

ChoiceSource ContextState::chosen_by(const GemmKernel& kernel) {
    const KernelState& state = state_of(kernel);
    return is_stand_in(state) ? choose(state.problem).source : state.choice;
}

}  // namespace jitgemm
