#include "runtime/cli/doctor_probes.hpp"

#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "jitgemm/context.hpp"
#include "jitgemm/error.hpp"
#include "runtime/cli/cli_context.hpp"
#include "runtime/cli/disassembler.hpp"
#include "runtime/cli/subprocess.hpp"
#include "runtime/compiler/nvrtc.hpp"
#include "runtime/cuda/cuda_gpu_model.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/support/dynamic_library.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "runtime/verify/verify.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include <unistd.h>

namespace jitgemm::cli {
namespace {

/// Small, with a residue in every direction.
constexpr GemmSpec kTrialSpec{.m = 97, .n = 130, .k = 72};

KernelSource trial_source(const Options& options, const GpuModel& gpu) {
    const Problem problem = problem_of(kTrialSpec);
    return generate(problem, choose_config(problem, gpu), *gpu.arch,
                    TemplateSet::from_directory(options.template_directory));
}

template <typename Step>
Trial attempt(Step step) {
    try {
        return step();
    } catch (const std::exception& error) {
        return {false, error.what()};
    }
}

/// A trial proves that kernels can be compiled, which one from the cache does not.
Options uncached(Options options) {
    options.cache_directory.clear();
    options.readonly_cache_directory.clear();
    return options;
}

Trial trial_of(const Verification& verdict, const Context& context) {
    return {verdict.ok, verdict.ok ? fmt::format("a {} x {} x {} product on {} is right", kTrialSpec.m, kTrialSpec.n,
                                                 kTrialSpec.k, context.device_name())
                                   : verdict.message};
}

GpuProbe probe_gpu(const DriverApi& api, int ordinal) {
    GpuProbe probe;
    probe.ordinal = ordinal;
    try {
        CUdevice device = 0;
        JITGEMM_CHECK(api.cuDeviceGet(&device, ordinal));
        char name[256] = {};
        JITGEMM_CHECK(api.cuDeviceGetName(name, sizeof name, device));
        probe.name = name;
        std::size_t memory = 0;
        JITGEMM_CHECK(api.cuDeviceTotalMem(&memory, device));
        probe.memory_bytes = static_cast<std::int64_t>(memory);
        const GpuModel model = read_gpu_model(device);
        probe.arch = model.arch;
        probe.sm_count = model.sm_count;
    } catch (const Error& error) {
        probe.reason = error.what();
    }
    return probe;
}

/// nvrtcVersion of a loaded library; 0 when it has no such function.
int version_of(const DynamicLibrary& library) {
    int (*version)(int*, int*) = nullptr;
    int major = 0;
    int minor = 0;
    if (!library.find("nvrtcVersion", version) || version(&major, &minor) != 0) return 0;
    return 10 * major + minor;
}

std::string unfit(int version, int newest_major) {
    if (version == 0) return "the library is not NVRTC";
    if (version < kOldestNvrtc) return fmt::format("too old: {} or newer is needed", nvrtc_version_text(kOldestNvrtc));
    if (newest_major != 0 && version / 10 > newest_major)
        return fmt::format("too new: the driver takes CUDA {} at most", newest_major);
    return {};
}

NvrtcProbe probe_library(const std::string& candidate, int newest_major) {
    NvrtcProbe probe;
    probe.candidate = candidate;
    std::vector<std::string> tried;
    const DynamicLibrary library = DynamicLibrary::open_first({candidate}, tried);
    if (!library) {
        probe.reason = tried.empty() ? "not found" : tried.back();
        return probe;
    }
    library.keep_loaded();  // a compiler with threads of its own is not unloaded
    probe.path = library.path();
    probe.version = version_of(library);
    probe.reason = unfit(probe.version, newest_major);
    return probe;
}

/// The folder itself, or the nearest one above it that exists.
std::string nearest_existing(const std::string& directory) {
    std::filesystem::path path = directory;
    std::error_code ignored;
    while (!std::filesystem::exists(path, ignored) && path.has_relative_path()) path = path.parent_path();
    return path.string();
}

/// Of a folder that is made when it is first written to.
struct Writability {
    bool usable = false;
    bool exists = false;
    std::string state;
};

Writability writability(const std::string& directory) {
    const std::string existing = nearest_existing(directory);
    if (access(existing.c_str(), W_OK | X_OK) != 0) return {false, false, existing + " is not writable"};
    const bool exists = existing == directory;
    return {true, exists, exists ? "ok" : "will be made"};
}

}  // namespace

DriverProbe probe_driver() {
    DriverProbe probe;
    const DriverApi* api = try_driver(probe.reason);
    if (api == nullptr) api = driver_without_gpus();
    if (api == nullptr) return probe;
    probe.found = true;
    probe.version = api->version;
    probe.path = api->path;
    return probe;
}

std::vector<GpuProbe> probe_gpus(const DriverProbe& driver_probe) {
    std::vector<GpuProbe> gpus;
    if (!driver_probe.found || driver_without_gpus() != nullptr) return gpus;
    const DriverApi& api = driver();
    int count = 0;
    JITGEMM_CHECK(api.cuDeviceGetCount(&count));
    for (int ordinal = 0; ordinal < count; ++ordinal) gpus.push_back(probe_gpu(api, ordinal));
    return gpus;
}

std::vector<NvrtcProbe> probe_nvrtc(const Options& options, int newest_major) {
    std::vector<NvrtcProbe> probes;
    // All majors, so that a library that is too new is reported as too new.
    for (const std::string& candidate : nvrtc_search_list(options, 0))
        probes.push_back(probe_library(candidate, newest_major));
    return probes;
}

CacheProbe probe_cache(const Options& options) {
    CacheProbe probe;
    probe.directory = options.cache_directory;
    if (probe.directory.empty()) {
        probe.state = "off: JITGEMM_CACHE_DIR, XDG_CACHE_HOME or HOME name its folder";
        return probe;
    }
    probe.state = cache_of(options).distrusted();
    if (!probe.state.empty()) return probe;
    const Writability folder = writability(probe.directory);
    probe.usable = folder.usable;
    probe.state = folder.state;
    if (folder.usable && folder.exists) {
        const KernelCache cache = cache_of(options);
        probe.entries = cache.entries(false).size();
        probe.bytes = cache.total_bytes();
    }
    return probe;
}

TuningProbe probe_tuning(const Options& options) {
    TuningProbe probe;
    probe.directory = options.tuning_directory;
    if (probe.directory.empty()) {
        probe.state = "nowhere: set JITGEMM_TUNING_DIR, XDG_DATA_HOME or HOME to a folder";
        return probe;
    }
    const Writability folder = writability(probe.directory);
    const tuning::StoredWinners stored = tuning::stored_winners(probe.directory);
    probe.winners = stored.winners.size();
    probe.usable = folder.usable && stored.problems.empty();
    probe.state = stored.problems.empty() ? folder.state : fmt::format("{}", fmt::join(stored.problems, "; "));
    return probe;
}

Trial try_to_generate(const Options& options, const GpuModel& gpu) {
    return attempt([&] {
        const KernelSource source = trial_source(options, gpu);
        return Trial{true, fmt::format("{} bytes of CUDA for {}", source.body.size(), gpu.arch->name)};
    });
}

Trial try_to_compile(const Options& options, const GpuModel& gpu, int newest_major) {
    return attempt([&] {
        const auto compiler = compiler_of(options, newest_major);
        const CompiledKernel compiled = compiler->compile(compile_request(trial_source(options, gpu)));
        return Trial{true, fmt::format("NVRTC {} in {:.0f} ms for {}", nvrtc_version_text(compiled.nvrtc_version),
                                       compiled.compile_ms, compiled.arch)};
    });
}

Trial try_to_run(const Options& options) {
    return attempt([&] {
        Context context(uncached(options));
        return trial_of(verify(state_of(context), context.kernel(kTrialSpec)), context);
    });
}

Trial try_to_emulate(const Options& options, const Arch& arch) {
    return attempt([&] {
        Options emulated = uncached(options);
        emulated.device = fmt::format("emulator:{}", arch.name);
        Context context(emulated);
        return trial_of(verify_emulated(state_of(context), context.kernel(kTrialSpec)).verification, context);
    });
}

Trial find_disassembler(const Options& options) {
    return attempt([&] {
        const std::vector<std::string> candidates = disassembler_candidates(options);
        for (const std::string& program : candidates) {
            if (run_program({program, "--version"})) return Trial{true, program};
        }
        return Trial{false, fmt::format("looked for {}; only dump --emit sass needs it", fmt::join(candidates, ", "))};
    });
}

}  // namespace jitgemm::cli
