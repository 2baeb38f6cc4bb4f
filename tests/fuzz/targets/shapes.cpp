#include "runtime/cli/shapes.hpp"

#include "tests/fuzz/fuzz_targets.hpp"
#include "tests/fuzz/memory_file.hpp"

namespace jitgemm::fuzz {

void shapes(std::string_view input) {
    const MemoryFile file(input);
    for (const cli::ProblemRequest& request : cli::read_shapes(file.path(), {})) {
        const GemmSpec spec = resolved(request.spec);
        if (parse_gemm_spec(to_string(spec)) != spec) __builtin_trap();
    }
}

}  // namespace jitgemm::fuzz
