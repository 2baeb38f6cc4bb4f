#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace jitgemm {

/// The behaviour of a request whose kernel is not loaded yet.
enum class OnMiss : std::uint8_t {
    /// Load the kernel from the disk cache, or compile it. The request returns when this is done.
    wait,
    /// Return at once with another kernel that computes the same problem: the loaded one with the best predicted time.
    /// A thread of the context compiles the chosen kernel, which then takes over in all copies of the handle. The bits
    /// of D may change at that moment. A batch_invariant problem is only served by kernels with the same order of sums.
    /// If no loaded kernel fits, the request compiles one that compiles sooner. It waits for the chosen kernel if there
    /// is none, or if options fix the kernel, the family or parameters.
    serve,
    /// Throw KernelNotReady. The request reads no cache and compiles nothing.
    fail,
};

/// Settings. from_environment() reads them from the environment; nothing else reads the environment.
struct Options {
    /// JITGEMM_DEVICE. "cuda": the device of the current CUcontext, else device 0. "cuda:N": device N. "emulator"
    /// (sm_80) or "emulator:sm_90a": the CPU runs and checks the kernel's PTX, about a million times slower; it is
    /// never a default.
    std::string device = "cuda";
    /// JITGEMM_CACHE_DIR, else $XDG_CACHE_HOME/jitgemm, else ~/.cache/jitgemm; empty: no cache
    std::string cache_directory;
    std::string readonly_cache_directory;  ///< JITGEMM_CACHE_READONLY: a second cache that is read and never written
    std::string nvrtc_library;             ///< JITGEMM_NVRTC: path of the only libnvrtc to use
    std::string cuda_path;                 ///< CUDA_PATH, else CUDA_HOME
    std::string wheel_directory;           ///< JITGEMM_WHEELS: folder with unpacked nvidia-cuda-nvrtc wheels
    std::string
        template_directory;  ///< JITGEMM_TEMPLATES: read templates from this folder instead of the embedded ones
    /// JITGEMM_LOG: trace, debug, info, warning, error, off. The level belongs to the process and starts as "warning".
    /// A context with a level here sets it for all contexts; empty leaves it unchanged.
    std::string log_level;
    /// JITGEMM_TUNING_DIR, else tuning/ in JITGEMM_CACHE_DIR if that is set, else $XDG_DATA_HOME/jitgemm, else
    /// ~/.local/share/jitgemm. Requests use the results of `jitgemm tune` in this folder. Empty: no results are used
    std::string tuning_directory;
    std::string tool;            ///< JITGEMM_TOOL: path of the program `jitgemm`, which tunes; empty: searched in PATH
    double tuning_seconds = 60;  ///< time limit for tuning one problem on request; 0: none
    std::string wisdom;          ///< JITGEMM_WISDOM: a file of `jitgemm wisdom export`; requests use its winners
    /// Use the measured winners that come with the library where no other measurement applies.
    /// JITGEMM_INSTALLED_WISDOM=0 turns them off.
    bool installed_wisdom = true;
    OnMiss on_miss = OnMiss::wait;  ///< JITGEMM_ON_MISS: wait, serve or fail; the default of requests
    /// JITGEMM_MATH: the math of requests for f32 problems with Math::ieee, which can't be told from no word of math.
    /// It does not count where `kernel` names one, which says its math.
    Math math = Math::ieee;
    /// Threads that compile for OnMiss::serve, at low priority. 0: a quarter of the cores, 1 to 4
    int background_threads = 0;
    /// The context remembers the kernels of this many problems, and of all problems whose handles are in use. It
    /// forgets the least recently used ones. 0: no limit
    std::size_t remembered_problems = 4096;
    std::string kernel;          ///< name of the kernel to use; empty: tuned results decide, else the heuristic
    std::string family;          ///< choose within this family; empty: any
    std::string parameters;      ///< parameters to fix, "name=value,..."; empty: none
    double emulator_gflop = 20;  ///< limit of one emulated launch in GFLOP (2·m·n·k of whole tiles); 0: none

    /// Throws Error that names a variable with an invalid value.
    [[nodiscard]] static Options from_environment();
};

}  // namespace jitgemm
