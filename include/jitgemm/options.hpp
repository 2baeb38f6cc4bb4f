#pragma once

#include <string>

namespace jitgemm {

/// Settings, filled once from the environment by `from_environment()` and passed down; nothing else reads the environment.
struct Options {
    /// JITGEMM_DEVICE. "cuda": the current context's device, else device 0; "cuda:N"; "emulator" (an sm_80) or
    /// "emulator:sm_90a": the kernel's PTX is run on the CPU, checked, some million times slower. Never chosen unasked.
    std::string device = "cuda";
    /// JITGEMM_CACHE_DIR, else $XDG_CACHE_HOME/jitgemm, else ~/.cache/jitgemm; empty: no cache
    std::string cache_directory;
    std::string readonly_cache_directory;  ///< JITGEMM_CACHE_READONLY: a second layer that is only read
    std::string nvrtc_library;             ///< JITGEMM_NVRTC: path of the libnvrtc to use, and no other
    std::string cuda_path;                 ///< CUDA_PATH, else CUDA_HOME
    std::string wheel_directory;           ///< JITGEMM_WHEELS: folder with unpacked nvidia-cuda-nvrtc wheels
    std::string template_directory;  ///< JITGEMM_TEMPLATES: read templates from disk in place of the embedded ones
    /// JITGEMM_LOG: trace, debug, info, warning, error, off. The log is the process's, and so is its level, "warning" at
    /// first: a context made with a level here sets it for all; empty leaves it.
    std::string log_level;
    /// JITGEMM_TUNING_DIR, else tuning/ in JITGEMM_CACHE_DIR if that is set, else $XDG_DATA_HOME/jitgemm, else
    /// ~/.local/share/jitgemm: what `jitgemm tune` found serves requests. Only read; empty: not looked at
    std::string tuning_directory;
    std::string tool;            ///< JITGEMM_TOOL: the program `jitgemm`, whose processes tune; empty: found in PATH
    double tuning_seconds = 60;  ///< most that tuning one problem on request takes; 0: as long as it takes
    std::string wisdom;          ///< JITGEMM_WISDOM: a file of `jitgemm wisdom export`, which serves requests as well
    /// Measured winners that come with the library serve where nothing else that is measured does; JITGEMM_INSTALLED_WISDOM=0
    /// turns them off.
    bool installed_wisdom = true;
    std::string kernel;          ///< canonical kernel name to force; empty: tuned results, else the heuristic, choose
    std::string family;          ///< stay within this family; empty: any
    std::string parameters;      ///< "name=value,..." to fix; empty: none
    double emulator_gflop = 20;  ///< most work of one emulated launch, in GFLOP (2·m·n·k of whole tiles); 0: any

    /// Throws Error naming a variable whose value is none of its own.
    [[nodiscard]] static Options from_environment();
};

}  // namespace jitgemm
