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
#include "runtime/context/tuner.hpp"
#include "runtime/device/argument_packer.hpp"
#include "runtime/device/device.hpp"
#include "runtime/device/launch.hpp"
#include "runtime/device/workspace.hpp"
#include "runtime/support/fork.hpp"
#include "runtime/tuning/store/lookup.hpp"

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace jitgemm {

/// A loaded entry of a kernel, and the shape and arguments it is launched with for this spec.
struct LoadedEntry {
    LoadedEntry(const KernelEntry& of, Function loaded, const GemmSpec& row_major, Device& device);

    KernelEntry entry;
    Function function;
    LaunchShape shape;
    ArgumentPacker packer;
};

/// What a launch of a kernel needs.
struct KernelState {
    Problem problem;
    OperandList operands;                        ///< of problem.asked
    std::shared_ptr<const KernelSource> source;  ///< shared by all specs this kernel serves
    std::shared_ptr<const CompiledKernel> compiled;
    std::vector<LoadedEntry> entries;
    std::size_t workspace_bytes = 0;
    std::size_t counter_bytes = 0;  ///< at the end of the workspace: zeros whenever the kernel begins
    KernelInfo info;
    std::string cache_directory;  ///< absolute path of the cache entry; empty when nothing was stored
    std::shared_ptr<Device> device;
    std::shared_ptr<WorkspacePool> workspaces;
};

/// Binary and launchable functions of one KernelText on one device.
struct LoadedKernel {
    std::shared_ptr<const KernelSource> source;  ///< of a generated kernel
    CompiledKernel compiled;
    std::vector<Function> functions;  ///< one per entry
    CacheSource cache = CacheSource::compiled;
    std::string cache_directory;
};

/// What a context has and does.
struct ContextState {
    ContextState(Options options, std::shared_ptr<Device> device, std::shared_ptr<Compiler> compiler);
    ~ContextState();

    /// What is compiled of a source for this device.
    [[nodiscard]] CompileRequest request_for(const KernelText& text) const;
    /// Compiles (or fetches) a text and loads its functions. `kernel_cu` is what the cache stores as kernel.cu.
    [[nodiscard]] LoadedKernel load(const KernelText& text, const std::string& kernel_cu);
    /// The kernel for a problem and a config already chosen; not remembered.
    [[nodiscard]] GemmKernel build(const Problem& problem, const KernelConfig& config);
    [[nodiscard]] GemmKernel build(const Problem& problem, const tuning::TunedChoice& choice);
    /// The kernel of an edited dump: its body is compiled in place of the generated text, for this device's
    /// architecture.
    [[nodiscard]] GemmKernel build(const ParsedDump& dump);
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec);
    [[nodiscard]] GemmKernel kernel(const GemmSpec& spec, Tune tune, TunedCallback on_tuned);
    [[nodiscard]] tuning::TunedChoice choose(const Problem& problem);
    /// What was tuned for this device, read from wisdom file and store when it is first asked for.
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
        std::mutex mutex;
        std::shared_ptr<const LoadedKernel> kernel;
    };
    struct SharedLoad {
        std::shared_ptr<const LoadedKernel> kernel;
        bool was_loaded = false;  ///< before this request
    };
    /// As load, shared by all who ask for the same name and text.
    [[nodiscard]] SharedLoad load_shared(const KernelSource& source, const Problem& problem);
    [[nodiscard]] GemmKernel assemble(const Problem& problem, const KernelSource& source,
                                      const tuning::TunedChoice& choice);

    std::once_flag tuned_once;
    std::shared_ptr<const tuning::TunedChoices> tuned;  ///< tuned_choices() fills it

    std::shared_mutex mutex;                           ///< guards the two maps
    std::unordered_map<GemmSpec, GemmKernel> kernels;  ///< by spec as asked
    std::unordered_map<std::string, std::shared_ptr<LoadSlot>>
        loaded;  ///< by name and cache key of the body: one cubin, many specs

    [[nodiscard]] Tuner& tuner();
    /// The kernel becomes the winner in all its handles.
    void adopt(const GemmKernel& kernel, const tuning::Winner& winner);
    std::once_flag tuner_once;
    std::unique_ptr<Tuner> lazy_tuner;  ///< last: it ends before what it works with
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
    /// With a workspace that the latest state finds too small: the last one that the caller may have asked
    /// workspace_bytes() of.
    [[nodiscard]] static const KernelState& state_for(const GemmKernel& kernel, const GemmArguments& arguments);

private:
    [[nodiscard]] static KernelSlot& slot(const GemmKernel& kernel);
};

[[nodiscard]] inline ContextState& state_of(const Context& context) { return ContextAccess::state(context); }
[[nodiscard]] inline const KernelState& state_of(const GemmKernel& kernel) { return KernelAccess::state(kernel); }

}  // namespace jitgemm
