// libFuzzer's side: jitgemm_libfuzzer TARGET [libFuzzer's options] [corpus folder ...]

#include "tests/fuzz/fuzz_targets.hpp"

#include "runtime/support/log.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

using namespace jitgemm::fuzz;

namespace {

// Processes that libFuzzer starts (-merge, -fork) know the target from the environment.
constexpr const char* kVariable = "JITGEMM_FUZZ_TARGET";

const Target& target() {
    static const Target* const chosen = [] {
        const char* const name = std::getenv(kVariable);
        const Target* const found = name == nullptr ? nullptr : find_target(name);
        if (found != nullptr) return found;
        std::fputs("usage: jitgemm_libfuzzer TARGET [options] [folder ...]; targets:", stderr);
        for (const Target& known : targets()) std::fprintf(stderr, " %s", known.name.data());
        std::fputs("\n", stderr);
        std::exit(2);
    }();
    return *chosen;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
    if (*argc > 1 && find_target((*argv)[1]) != nullptr) {
        ::setenv(kVariable, (*argv)[1], 1);
        (*argv)[1] = (*argv)[0];
        ++*argv;
        --*argc;
    }
    static_cast<void>(target());
    jitgemm::set_log_level("off");
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    read(target(), {reinterpret_cast<const char*>(data), size});
    return 0;
}
