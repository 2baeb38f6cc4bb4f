#pragma once

#include "generator/base/arch.hpp"
#include "jitgemm/options.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm::cli {

/// The driver, or why there is none.
struct DriverProbe {
    bool found = false;
    int version = 0;  ///< 10 · major + minor of the newest CUDA that it takes
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
    std::string reason;  ///< why jitgemm cannot use it; empty if it can
};
[[nodiscard]] std::vector<GpuProbe> probe_gpus(const DriverProbe& driver);

/// One place where NVRTC was looked for.
struct NvrtcProbe {
    std::string candidate;  ///< the name that was tried
    std::string path;       ///< the library that was found; empty if there is none
    int version = 0;
    std::string reason;  ///< why it cannot be used; empty if it is the one or a spare
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

/// The place where tuning results are kept.
struct TuningProbe {
    std::string directory;  ///< empty: there is no place
    bool usable = false;
    std::string state;
    std::size_t winners = 0;  ///< of all classes of devices
};
[[nodiscard]] TuningProbe probe_tuning(const Options& options);

/// One step of the tool's main job, tried on a small problem.
struct Trial {
    bool ok = false;
    std::string detail;  ///< the result, or why it failed
};
[[nodiscard]] Trial try_to_generate(const Options& options, const GpuModel& gpu);
[[nodiscard]] Trial try_to_compile(const Options& options, const GpuModel& gpu, int newest_major);
[[nodiscard]] Trial try_to_run(const Options& options);
/// The same on the emulator, which needs NVRTC and no GPU.
[[nodiscard]] Trial try_to_emulate(const Options& options, const Arch& arch);
/// The program that prints SASS.
[[nodiscard]] Trial find_disassembler(const Options& options);

}  // namespace jitgemm::cli
