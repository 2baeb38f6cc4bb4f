#include "jitgemm/context.hpp"
#include "generator/base/spread_blocks.hpp"
#include "generator/families/kernel_name.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/kernel_info.hpp"
#include "jitgemm/options.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/support/default_math.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/request_record.hpp"
#include "runtime/support/thread_state.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::int64_t kMaxBlocks = std::numeric_limits<std::int32_t>::max();  // gridDim.x

Selection selection_of(const Options& options) {
    Selection selection;
    if (!options.kernel.empty()) selection.kernel = options.kernel;
    if (!options.family.empty()) selection.family = options.family;
    if (!options.parameters.empty()) selection.parameters = parse_parameters(options.parameters);
    return selection;
}

std::string spill_message(const PtxasReport& report) {
    return fmt::format("spills registers to local memory: {} bytes of stores, {} bytes of loads",
                       report.spill_store_bytes, report.spill_load_bytes);
}

LaunchShape launch_shape(const KernelEntry& entry, const Function& function, const GemmSpec& row_major,
                         Device& device) {
    LaunchShape shape{0, entry.threads, entry.shared_bytes, entry.cluster, entry.programmatic_launch};
    const int cluster = cluster_blocks(entry.cluster);
    int sms = device.model().sm_count;
    if (cluster > 1 && needs_sm_count(entry.grid)) sms = device.resident_clusters(function, shape) * cluster;
    shape.blocks = block_count(entry.grid, row_major, sms);
    shape.problems = problem_grid(entry.grid, row_major);
    shape.shared_bytes = launched_shared_bytes(entry, blocks_of_batch(entry.grid, row_major), device.model());
    return shape;
}

std::shared_ptr<const EntryPlan> new_plan(const KernelEntry& entry, Function function, const Problem& problem) {
    return std::make_shared<const EntryPlan>(
        EntryPlan{entry, std::move(function), ArgumentPlan(entry.arguments, kernel_operands(problem.row_major()))});
}

void check_grid(const std::string& kernel, const LaunchShape& shape, const GemmSpec& spec) {
    if (shape.blocks <= kMaxBlocks) return;
    throw ConfigError("cannot launch " + kernel, {fmt::format("m={} n={} takes {} blocks, a grid holds {}", spec.m,
                                                              spec.n, shape.blocks, kMaxBlocks)});
}

std::vector<std::shared_ptr<const EntryPlan>> entry_plans(const LoadedKernel& kernel, const Problem& problem) {
    std::vector<std::shared_ptr<const EntryPlan>> plans;
    for (std::size_t i = 0; i < kernel.functions.size(); ++i)
        plans.push_back(new_plan(kernel.source->entries[i], kernel.functions[i], problem));
    return plans;
}

std::vector<LoadedEntry> loaded_entries(const LoadedKernel& kernel, const Problem& problem, Device& device) {
    std::vector<LoadedEntry> entries;
    entries.reserve(kernel.plans.size());
    for (const std::shared_ptr<const EntryPlan>& plan : kernel.plans) {
        entries.emplace_back(plan, problem, device);
        check_grid(kernel.source->name, entries.back().shape, problem.row_major());
    }
    return entries;
}

void add_compile_facts(KernelInfo& info, const CompiledKernel& compiled) {
    const PtxasReport& report = compiled.report;
    info.registers = report.registers;
    info.spill_bytes = report.spill_bytes();
    info.stack_bytes = report.stack_bytes;
    info.compile_ms = compiled.compile_ms;
    info.warnings = report.warnings;
    if (info.spill_bytes != 0) info.warnings.push_back(spill_message(report));
}

/// A kernel is described by the facts of this entry.
const LoadedEntry& multiplying_entry(const std::vector<LoadedEntry>& entries) {
    const auto found =
        std::ranges::find(entries, kMultiplyingFunction,
                          [](const LoadedEntry& loaded) -> const std::string& { return loaded.entry().function; });
    return found == entries.end() ? entries.front() : *found;
}

KernelInfo kernel_facts(const LoadedKernel& kernel) {
    KernelInfo info;
    info.name = kernel.source->name;
    info.arch = kernel.source->arch->name;
    add_compile_facts(info, kernel.compiled);
    return info;
}

/// A fork's parent made it: its threads may hold its locks, and what it has of a GPU can't be given back here.
bool is_inherited(const ContextState& state) { return state.generation != process_generation(); }

void check_signature(const ParsedDump& dump, const Problem& problem) {
    if (problem.signature == dump.id.signature) return;
    throw ConfigError("the dump's banner contradicts itself",
                      {"the spec has the signature of " + kernel_name(problem, dump.id.config) +
                       ", the kernel line says " + kernel_name(dump.id)});
}

}  // namespace

LoadedEntry::LoadedEntry(std::shared_ptr<const EntryPlan> of, const Problem& problem, Device& device)
    : plan(std::move(of)), shape(launch_shape(plan->entry, plan->function, problem.row_major(), device)) {}

LoadedEntry::LoadedEntry(const KernelEntry& of, Function loaded, const Problem& problem, Device& device)
    : LoadedEntry(new_plan(of, std::move(loaded), problem), problem, device) {}

KernelState::KernelState(const Problem& of) : problem(of), regions(problem.asked) {}

KernelState::~KernelState() { delete info_.load(std::memory_order_acquire); }

const KernelInfo& KernelState::info() const {
    if (const KernelInfo* const known = info_.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<KernelInfo>(kernel->facts);
    made->cache = cache;
    made->choice = choice;
    if (choice_reason != nullptr) made->choice_reason = *choice_reason;
    if (!entries.empty()) {
        const LaunchShape& shape = multiplying_entry(entries).shape;
        made->threads = shape.threads;
        made->shared_bytes = multiplying_entry(entries).entry().shared_bytes;
        made->blocks = shape.blocks;
    }
    const KernelInfo* first = nullptr;
    if (info_.compare_exchange_strong(first, made.get(), std::memory_order_acq_rel)) return *made.release();
    return *first;
}

ContextState::ContextState(Options given_options, std::shared_ptr<Device> given_device,
                           std::shared_ptr<Compiler> given_compiler)
    : options(std::move(given_options)),
      device(std::move(given_device)),
      compiler(std::move(given_compiler)),
      cache(options.cache_directory, options.readonly_cache_directory),
      templates(TemplateSet::from_directory(options.template_directory)),
      selection(selection_of(options)),
      workspaces(std::make_shared<WorkspacePool>(device)),
      kernels(options.remembered_problems),
      workers(options.background_threads) {}

CompileRequest ContextState::request_for(const KernelText& text) const {
    return device->kind() == DeviceKind::emulator ? ptx_request(text) : compile_request(text);
}

LoadedKernel ContextState::load(const KernelText& text, const std::string& kernel_cu) {
    KernelCache::Result result = cache.get_or_compile(request_for(text), *compiler, kernel_cu);
    LoadedKernel loaded_kernel;
    loaded_kernel.compiled = std::move(result.kernel);
    loaded_kernel.cache = result.source;
    loaded_kernel.cache_directory = std::move(result.directory);
    const ForkGuard guard;
    for (const KernelEntry& entry : text.entries) {
        loaded_kernel.functions.push_back(device->load(loaded_kernel.compiled.binary, entry));
    }
    const PtxasReport& report = loaded_kernel.compiled.report;
    if (report.spill_bytes() != 0) log().info("{} {}", text.name, spill_message(report));
    return loaded_kernel;
}

ContextState::SharedLoad ContextState::load_shared(const std::string& key, const std::function<LoadedKernel()>& make) {
    std::shared_ptr<LoadSlot> slot;
    {
        const std::scoped_lock lock(mutex);
        std::shared_ptr<LoadSlot>& known = loaded[key];
        if (known == nullptr) known = std::make_shared<LoadSlot>();
        slot = known;
        if (slot->kernel != nullptr) return {slot->kernel, true};
    }
    const std::scoped_lock filling(slot->filling);
    if (slot->kernel != nullptr) return {slot->kernel, true};
    auto kernel = std::make_shared<const LoadedKernel>(make());
    const std::scoped_lock lock(mutex);
    slot->kernel = kernel;
    return {std::move(kernel), false};
}

LoadedKernel ContextState::load(const KernelSource& source, const Problem& problem) {
    LoadedKernel kernel = load(source, dump(source, problem));
    kernel.source = std::make_shared<const KernelSource>(source);
    kernel.facts = kernel_facts(kernel);
    kernel.plans = entry_plans(kernel, problem);
    return kernel;
}

void ContextState::require_emulable(const Problem& problem, const KernelConfig& config) const {
    if (const EmulatorDevice* const emulator = as_emulator(*device))
        jitgemm::require_emulable(problem, config, emulator->gflop_limit());
}

std::shared_ptr<const std::string> ContextState::shared_reason(const std::string& reason) {
    const std::scoped_lock lock(mutex);
    if (latest_reason == nullptr || *latest_reason != reason)
        latest_reason = std::make_shared<const std::string>(reason);
    return latest_reason;
}

GemmKernel ContextState::assemble(const Problem& problem, const SharedLoad& shared, const tuning::TunedChoice& choice) {
    const LoadedKernel& kernel = *shared.kernel;
    auto state = std::make_shared<KernelState>(problem);
    state->kernel = shared.kernel;
    state->entries = loaded_entries(kernel, problem, *device);
    state->preparations = preparations_of(problem, *this);
    const WorkspaceLayout workspace = workspace_layout(problem, kernel.source->id.config);
    state->workspace_bytes = workspace.bytes;
    state->counter_bytes = workspace.counters;
    state->reduction_parts = workspace.reduction_parts;
    state->cache = shared.was_loaded ? CacheSource::memory : kernel.cache;
    state->choice = choice.source;
    state->choice_reason = shared_reason(choice.reason);
    state->device = device;
    state->workspaces = workspaces;
    return KernelAccess::make(std::move(state));
}

GemmKernel ContextState::build(const Problem& problem, const tuning::TunedChoice& choice) {
    require_emulable(problem, choice.config);
    const auto generated = [&] {
        const ForkGuard guard;
        return generate(problem, choice.config, *device->model().arch, templates);
    };
    const auto loading = [&] { return load(generated(), problem); };
    return assemble(problem, load_shared(kernel_name(problem, choice.config), loading), choice);
}

GemmKernel ContextState::build(const Problem& problem, const KernelConfig& config) {
    return build(problem, tuning::TunedChoice{config, ChoiceSource::forced, "named by the caller"});
}

GemmKernel ContextState::build(const ParsedDump& dump) {
    const Problem problem = problem_of(dump.spec);
    check_signature(dump, problem);
    require_emulable(problem, dump.id.config);
    KernelSource source = generate(problem, dump.id.config, *device->model().arch, templates);
    const bool is_edited = std::exchange(source.body, dump.body) != dump.body;
    // The compiler is the same for all, so its version need not be asked for here.
    const std::string key = is_edited ? source.name + ' ' + cache_key(request_for(source), 0) : source.name;
    return assemble(problem, load_shared(key, [&] { return load(source, problem); }),
                    {dump.id.config, ChoiceSource::forced, "an edited dump"});
}

const tuning::TunedChoices& ContextState::tuned_choices() {
    std::call_once(tuned_once, [&] {
        const ForkGuard guard;
        tuned =
            std::make_shared<const tuning::TunedChoices>(tuning::tuned_choices(options, *device, templates, *compiler));
    });
    return *tuned;
}

tuning::TunedChoice ContextState::choose(const Problem& problem) {
    // Whoever waits here for another thread has no guard: that thread may wait for a fork, which would wait for guards.
    const tuning::TunedChoices& choices = tuned_choices();
    const ForkGuard guard;
    return choices.choose(problem, device->model(), selection);
}

ContextState::~ContextState() = default;

Tuner& ContextState::tuner() {
    std::call_once(tuner_once, [&] { lazy_tuner = make_tuner(options, *device); });
    return *lazy_tuner;
}

void ContextState::adopt(const GemmKernel& kernel, const tuning::Winner& winner) {
    const tuning::TunedChoices choices({winner}, winner.versions);
    const Problem& problem = state_of(kernel).problem;
    const GemmKernel better = build(problem, choices.choose(problem, device->model(), selection));
    KernelAccess::replace(kernel, KernelAccess::shared_state(better));
}

GemmKernel ContextState::kernel(const GemmSpec& spec, KernelRequest request) {
    auto& [on_miss, tune, on_tuned] = request;
    GemmKernel known = kernel(spec, on_miss.value_or(options.on_miss));
    const bool fixed = !selection.takes_all();
    if (tune == Tune::never || fixed || chosen_by(known) == ChoiceSource::exact) {
        if (on_tuned) on_tuned(known, {});
        return known;
    }
    if (tune == Tune::now) {
        adopt(known, tuner().tune(known.spec()));
        if (on_tuned) on_tuned(known, {});
        return known;
    }
    tuner().tune_later(known.spec(), [this, known, told = std::move(on_tuned)](const tuning::Winner* winner,
                                                                               const std::string& failure) {
        if (winner != nullptr) adopt(known, *winner);
        if (told)
            told(known, failure);
        else if (!failure.empty())
            log().warn("tuning {}: {}", to_string(known.spec()), failure);
    });
    return known;
}

Context::Context(const Options& options) {
    const ForkGuard guard;
    const UsualThreadState kept;
    set_log_level(options.log_level);
    record_as_environment_says();
    std::shared_ptr<Device> device = open_device(options);
    std::shared_ptr<Compiler> compiler =
        make_nvrtc_compiler(options, device->newest_cuda_major(), options.cache_directory);
    state_ = std::make_unique<ContextState>(options, std::move(device), std::move(compiler));
}

Context::~Context() {
    if (state_ != nullptr && is_inherited(*state_)) static_cast<void>(state_.release());
}
Context::Context(Context&&) noexcept = default;
Context& Context::operator=(Context&& other) noexcept {
    if (this == &other) return *this;
    const Context old(std::move(*this));
    state_ = std::move(other.state_);
    return *this;
}

ContextState& ContextAccess::state(const Context& context) {
    if (context.state_ == nullptr) throw Error("this Context was moved from");
    if (is_inherited(*context.state_))
        throw Error("this Context belongs to the parent process: after a fork, make a new one");
    return *context.state_;
}

// Requests from outside enter here, and in Context::kernels. Behind them, every problem has its math.
GemmKernel Context::kernel(const GemmSpec& spec) {
    ContextState& state = state_of(*this);
    if (takes_default_math(spec, state.options)) return kernel(with_default_math(spec, state.options));
    note_request(spec);
    return state.kernel(spec);
}

GemmKernel Context::kernel(const GemmSpec& spec, Tune tune, TunedCallback on_tuned) {
    return kernel(spec, KernelRequest{.tune = tune, .on_tuned = std::move(on_tuned)});
}

GemmKernel Context::kernel(const GemmSpec& spec, const KernelRequest& request) {
    ContextState& state = state_of(*this);
    if (takes_default_math(spec, state.options)) return kernel(with_default_math(spec, state.options), request);
    note_request(spec);
    return state.kernel(spec, request);
}

void Context::synchronize(Stream stream) { state_of(*this).device->synchronize(stream); }

std::string Context::device_name() const { return state_of(*this).device->name(); }

std::string Context::arch() const { return std::string(state_of(*this).device->model().arch->name); }

}  // namespace jitgemm
