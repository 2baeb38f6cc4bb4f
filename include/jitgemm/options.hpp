#pragma once

#include <string>

namespace jitgemm {

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
    std::string kernel;          ///< name of the kernel to use; empty: tuned results decide, else the heuristic
    std::string family;          ///< choose within this family; empty: any
    std::string parameters;      ///< parameters to fix, "name=value,..."; empty: none
    double emulator_gflop = 20;  ///< limit of one emulated launch in GFLOP (2·m·n·k of whole tiles); 0: none

    /// Throws Error that names a variable with an invalid value.
    [[nodiscard]] static Options from_environment();
};

}  // namespace jitgemm
