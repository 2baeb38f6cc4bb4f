#pragma once

#include "jitgemm/jitgemm.hpp"

#include <string>

namespace jitgemm::testing {

/// For a context on the emulator, without a cache on disk.
[[nodiscard]] inline Options emulator_options(const std::string& arch) {
    Options options = Options::from_environment();
    options.device = "emulator:" + arch;
    options.cache_directory.clear();
    options.readonly_cache_directory.clear();
    return options;
}

/// Shared by the test cases of a process, so that a kernel is compiled once.
[[nodiscard]] inline Context& on_emulator() {
    static Context context(emulator_options("sm_80"));
    return context;
}

/// The same with 8-bit floats.
[[nodiscard]] inline Context& on_ada() {
    static Context context(emulator_options("sm_89"));
    return context;
}

/// The same with TMA, wgmma and clusters.
[[nodiscard]] inline Context& on_hopper() {
    static Context context(emulator_options("sm_90a"));
    return context;
}

}  // namespace jitgemm::testing
