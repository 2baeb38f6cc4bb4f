#include "runtime/cli/tool.hpp"

#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/verb.hpp"

#include <array>
#include <string>
#include <vector>

namespace {

using jitgemm::cli::Verb;

constexpr std::array kVerbs{
    Verb{"run", "Generate, compile or fetch, launch, verify and time one kernel", jitgemm::cli::declare_run},
    Verb{"dump", "Print the generated CUDA file, or its PTX, cubin or SASS", jitgemm::cli::declare_dump},
    Verb{"list", "List the candidate kernels of a problem with their predicted times", jitgemm::cli::declare_list},
    Verb{"kernels", "Choose few kernels that serve a problem for each m of a range", jitgemm::cli::declare_kernels,
         jitgemm::cli::kernels_verbs},
    Verb{"explain", "Explain the choice of a kernel: predicted times, runners-up, limits",
         jitgemm::cli::declare_explain},
    Verb{"bench", "Time kernels side by side with cuBLASLt or another library", jitgemm::cli::declare_bench},
    Verb{"tune", "Search for the fastest kernels on this GPU and keep them for later requests",
         jitgemm::cli::declare_tune, jitgemm::cli::tune_verbs},
    Verb{"warm", "Compile the kernels of many problems into the cache; no GPU is needed", jitgemm::cli::declare_warm},
    Verb{"ladder", "Measure every kernel from a plain loop to the fastest, side by side", jitgemm::cli::declare_ladder},
    Verb{"export", "Write a kernel to take away: cubin, launcher, header", jitgemm::cli::declare_export},
    Verb{"layout", "Compute and draw layouts, thread-value layouts, swizzles and whole kernels", nullptr,
         jitgemm::cli::layout_verbs},
    Verb{"cache", "Manage the cache of compiled kernels: ls, info, verify, prune, clear, why", nullptr,
         jitgemm::cli::cache_verbs},
    Verb{"wisdom", "Manage tuning winners, in the store or in a file to ship: export, import, show, forget", nullptr,
         jitgemm::cli::wisdom_verbs},
    Verb{"doctor", "Check this installation: list what is installed, found and missing", jitgemm::cli::declare_doctor},
    Verb{"worker", "Internal: the child processes of a sweep (compile, measure)", nullptr, jitgemm::cli::worker_verbs,
         true},
};

}  // namespace

int jitgemm_tool_main(int argc, char** argv) {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    jitgemm::cli::handle_interrupts(jitgemm::cli::wants_json(arguments));
    return jitgemm::cli::dispatch(kVerbs, "jitgemm", arguments);
}
