#pragma once

#include "runtime/jitgemm.hpp"

#include <string>

namespace jitgemm::testing {

/// A context on the emulator, without a cache on disk.
[[nodiscard]] inline Context emulator_context(const std::string& arch = "sm_80") {
    Options options = Options::from_environment();
    options.device = "emulator:" + arch;
    options.cache_directory.clear();
    options.readonly_cache_directory.clear();
    return Context(options);
}

/// Shared by the test cases of a process, so that a kernel is compiled once.
[[nodiscard]] inline Context& emulator() {
    static Context context = emulator_context();
    return context;
}

}  // namespace jitgemm::testing
