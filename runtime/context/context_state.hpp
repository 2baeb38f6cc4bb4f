#pragma once

#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "jitgemm/kernel_info.hpp"
#include "jitgemm/options.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/context/background_workers.hpp"
#include "runtime/context/kernel_map.hpp"
#include "runtime/context/tuner.hpp"
#include "runtime/device/argument_plan.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/launch.hpp"
#include "runtime/device/workspace.hpp"
#include "runtime/support/fork.hpp"
#include "runtime/tuning/store/lookup.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace jitgemm {

/// A loaded entry of a kernel, for all problems that it serves.
struct EntryPlan {
    KernelEntry entry;
    Function function;
    ArgumentPlan arguments;
};

/// The entry with the shape that it is launched with for one problem.
struct LoadedEntry {
    LoadedEntry(std::shared_ptr<const EntryPlan> of, const Problem& problem, Device& device);
    /// With a plan of its own.
    LoadedEntry(const KernelEntry& of, Function loaded, const Problem& problem, Device& device);

    [[nodiscard]] const KernelEntry& entry() const { return plan->entry; }
    [[nodiscard]] const Function& function() const { return plan->function; }

    std::shared_ptr<const EntryPlan> plan;
    LaunchShape shape;
};

/// Binary and launchable functions of one KernelText on one device: what all problems share that the kernel serves.
struct LoadedKernel {
    std::shared_ptr<const KernelSource> source;  ///< of a generated kernel
    CompiledKernel compiled;
    std::vector<Function> functions;  ///< one per entry
    CacheSource cache = CacheSource::compiled;
    std::string cache_directory;  ///< absolute path of the cache entry; empty when nothing was stored
    KernelInfo facts;             ///< those of the kernel alone
    std::vector<std::shared_ptr<const EntryPlan>> plans;
};

struct KernelPreparations;  // preparation.hpp

/// All that a launch of a kernel needs for one problem: less than 1 KB beside the kernel.
class KernelState {
public:
    explicit KernelState(const Problem& of = {});
    KernelState(const KernelState&) = delete;
    KernelState& operator=(const KernelState&) = delete;
    ~KernelState();

    /// Put together when it is first asked for.
    [[nodiscard]] const KernelInfo& info() const;
    [[nodiscard]] const KernelSource& source() const { return *kernel->source; }
    [[nodiscard]] const CompiledKernel& compiled() const { return kernel->compiled; }
    [[nodiscard]] PackedProblem packed_problem() const { return {problem, id}; }

    const Problem problem;
    const LaunchRegions regions;  ///< of `problem`
    std::uint64_t id = new_problem_id();
    std::shared_ptr<const LoadedKernel> kernel;
    std::vector<LoadedEntry> entries;
    std::unique_ptr<const KernelPreparations> preparations;  ///< null if launches take no prepared operand
    std::size_t workspace_bytes = 0;
    std::size_t reduction_parts = 0;  ///< where they begin in the workspace
    std::size_t counter_bytes = 0;    ///< at the end of the workspace: zeros whenever the kernel begins
    CacheSource cache = CacheSource::compiled;
    ChoiceSource choice = ChoiceSource::forced;
    std::shared_ptr<const std::string> choice_reason;
    std::shared_ptr<Device> device;
    std::shared_ptr<WorkspacePool> workspaces;

private:
    mutable std::atomic<const KernelInfo*> info_ = nullptr;
};

/// Of a column-major D the kernel computes D^T = B^T · A^T, so that its A is the caller's B.
[[nodiscard]] KernelOperands as_kernel_sees(const KernelState& state, const GemmArguments& arguments);

/// A context's data and work.
struct ContextState {
    ContextState(Options options, std::shared_ptr<Device> device, std::shared_ptr<Compiler> compiler);
    ~ContextState();

    /// The request that compiles a source for this device.
    [[nodiscard]] CompileRequest request_for(const KernelText& text) const;
    /// Compiles (or fetches) a text and loads its functions. `kernel_cu` is what the cache stores as kernel.cu.
    [[nodiscard]] LoadedKernel load(const KernelText& text, const std::string& kernel_cu);
    /// The kernel for a problem and a config already chosen; not remembered.
    [[nodiscard]] GemmKernel build(const Problem& problem, const KernelConfig& config);
    [[nodiscard]] GemmKernel build(const Problem& problem, const tuning::TunedChoice& choice);
    /// The kernel of an edited dump: its body is compiled in place of the generated text, for this device's
    /// architecture.
    [[nodiscard]] GemmKernel build(const ParsedDump& dump);
    /// As Options::on_miss says.
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec) { return kernel(spec, options.on_miss); }
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec, OnMiss on_miss);
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec, KernelRequest request);
    [[nodiscard]] tuning::TunedChoice choose(const Problem& problem);
    /// This device's tuned choices, read from wisdom file and store on the first call.
    [[nodiscard]] const tuning::TunedChoices& tuned_choices();

    unsigned generation = process_generation();  ///< of the process that made it
    Options options;
    std::shared_ptr<Device> device;
    std::shared_ptr<Compiler> compiler;
    KernelCache cache;
    TemplateSet templates;
    Selection selection;  ///< from options.kernel / family / parameters
    std::shared_ptr<WorkspacePool> workspaces;

    /// One kernel being loaded or loaded: whoever comes first fills it, the others wait for that.
    struct LoadSlot {
        std::mutex filling;
        std::shared_ptr<const LoadedKernel>
            kernel;  ///< written under `filling` and the context's mutex, read under one
    };
    struct SharedLoad {
        std::shared_ptr<const LoadedKernel> kernel;
        bool was_loaded = false;  ///< before this request
    };
    /// Shared by all who ask with the same key. `make` is called if nobody has loaded it.
    [[nodiscard]] SharedLoad load_shared(const std::string& key, const std::function<LoadedKernel()>& make);
    /// A generated kernel, with what its problems share.
    [[nodiscard]] LoadedKernel load(const KernelSource& source, const Problem& problem);
    [[nodiscard]] GemmKernel assemble(const Problem& problem, const SharedLoad& shared,
                                      const tuning::TunedChoice& choice);
    void require_emulable(const Problem& problem, const KernelConfig& config) const;
    /// The kernel's name is its key: its body follows from the name.
    [[nodiscard]] bool is_loaded(const std::string& kernel);
    [[nodiscard]] bool is_cached(const Problem& problem, const KernelConfig& config);
    [[nodiscard]] std::vector<KernelId> loaded_ids();
    /// Of a kernel with a stand-in, why its chosen kernel was chosen.
    [[nodiscard]] ChoiceSource chosen_by(const GemmKernel& kernel);

    [[nodiscard]] GemmKernel first_kernel(const GemmSpec& spec, const Problem& problem, OnMiss on_miss);
    /// The choice itself, or what OnMiss has in its place.
    [[nodiscard]] GemmKernel obtain(const Problem& problem, const tuning::TunedChoice& choice, OnMiss on_miss);
    /// The chosen kernel in place of its stand-in.
    void settle(const GemmKernel& kernel, OnMiss on_miss);
    void settle_later(const GemmKernel& kernel, const tuning::TunedChoice& choice);

    std::once_flag tuned_once;
    std::shared_ptr<const tuning::TunedChoices> tuned;  ///< tuned_choices() fills it

    KernelMap kernels;
    std::mutex mutex;  ///< guards the next two
    /// One cubin, many specs: by name, and by name and cache key for edited dumps.
    std::unordered_map<std::string, std::shared_ptr<LoadSlot>> loaded;
    std::shared_ptr<const std::string> latest_reason;  ///< many choices in a row have the same
    [[nodiscard]] std::shared_ptr<const std::string> shared_reason(const std::string& reason);

    [[nodiscard]] Tuner& tuner();
    /// The kernel becomes the winner in all its handles.
    void adopt(const GemmKernel& kernel, const tuning::Winner& winner);
    std::once_flag tuner_once;
    std::unique_ptr<Tuner> lazy_tuner;  ///< it and the next end before what they work with
    BackgroundWorkers workers;
};

// ---- what the public handles hide, for the library, its tool and its tests ------------------------------------------

struct ContextAccess {
    /// Throws Error for a context that was moved from.
    [[nodiscard]] static ContextState& state(const Context& context);
};

struct KernelAccess {
    [[nodiscard]] static GemmKernel make(std::shared_ptr<const KernelState> state);
    /// The state in use. Lives as long as the kernel. Throws Error for an empty kernel, as what follows.
    [[nodiscard]] static const KernelState& state(const GemmKernel& kernel);
    [[nodiscard]] static std::shared_ptr<const KernelState> shared_state(const GemmKernel& kernel);
    /// In all copies of this handle.
    static void replace(const GemmKernel& kernel, std::shared_ptr<const KernelState> state);
    /// The same if the handle's state is still `expected`; else nothing.
    static void replace(const GemmKernel& kernel, const KernelState& expected,
                        std::shared_ptr<const KernelState> state);
    /// Equal for copies of one handle.
    [[nodiscard]] static const void* identity(const GemmKernel& kernel);
    /// Copies of the handle.
    [[nodiscard]] static long users(const GemmKernel& kernel);
    /// With a workspace that the latest state finds too small: the last one that the caller may have asked
    /// workspace_bytes() of.
    [[nodiscard]] static const KernelState& state_for(const GemmKernel& kernel, const GemmArguments& arguments);

private:
    [[nodiscard]] static KernelSlot& slot(const GemmKernel& kernel);
};

[[nodiscard]] inline ContextState& state_of(const Context& context) { return ContextAccess::state(context); }
[[nodiscard]] inline const KernelState& state_of(const GemmKernel& kernel) { return KernelAccess::state(kernel); }

}  // namespace jitgemm
