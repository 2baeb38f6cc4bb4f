#pragma once

#include "generator/base/arch.hpp"
#include "jitgemm/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// The driver as found, or why not.
struct DriverProbe {
    bool found = false;
    int version = 0;  ///< 10 · major + minor of the newest CUDA it takes
    std::string path;
    std::string reason;
};
[[nodiscard]] DriverProbe probe_driver();

struct GpuProbe {
    int ordinal = 0;
    std::string name;
    const Arch* arch = nullptr;  ///< null: no architecture of the table serves it
    int sm_count = 0;
    std::int64_t memory_bytes = 0;
    std::string reason;  ///< why jitgemm cannot use it; empty when it can
};
[[nodiscard]] std::vector<GpuProbe> probe_gpus(const DriverProbe& driver);

/// One place where NVRTC was looked for.
struct NvrtcProbe {
    std::string candidate;  ///< what was looked for
    std::string path;       ///< what that led to; empty when it led nowhere
    int version = 0;
    std::string reason;  ///< why it is of no use; empty when it is the one or a spare
};
[[nodiscard]] std::vector<NvrtcProbe> probe_nvrtc(const Options& options, int newest_major);

struct CacheProbe {
    std::string directory;  ///< empty: caching is off
    bool usable = false;
    std::string state;
    std::size_t entries = 0;
    std::int64_t bytes = 0;
};
[[nodiscard]] CacheProbe probe_cache(const Options& options);

/// Where the results of tuning are kept.
struct TuningProbe {
    std::string directory;  ///< empty: there is no place for them
    bool usable = false;
    std::string state;
    std::size_t winners = 0;  ///< of all classes of devices
};
[[nodiscard]] TuningProbe probe_tuning(const Options& options);

/// One step of the tool's main job tried out on a small problem.
struct Trial {
    bool ok = false;
    std::string detail;  ///< what came of it, or why it failed
};
[[nodiscard]] Trial try_to_generate(const Options& options, const GpuModel& gpu);
[[nodiscard]] Trial try_to_compile(const Options& options, const GpuModel& gpu, int newest_major);
[[nodiscard]] Trial try_to_run(const Options& options);
/// The same on the emulator, which needs NVRTC and no GPU.
[[nodiscard]] Trial try_to_emulate(const Options& options, const Arch& arch);
/// Where SASS can be printed with.
[[nodiscard]] Trial find_disassembler(const Options& options);

}  // namespace jitgemm::cli
