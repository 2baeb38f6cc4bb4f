#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace jitgemm::fuzz {
namespace {

struct Sizes {
    std::int64_t m, n, k;
};
constexpr std::array<Sizes, 3> kSizes{Sizes{4096, 512, 1024}, Sizes{1, 7, 3},
                                      Sizes{2147418111, 2147418111, 2147418111}};

GemmSpec spec_of(const GemmSignature& kernel, const Sizes& size) {
    return {.m = size.m,
            .n = size.n,
            .k = size.k,
            .a = kernel.a,
            .b = kernel.b,
            .c = kernel.c,
            .d = kernel.d,
            .accumulator = kernel.accumulator,
            .layout = kernel.layout,
            .align_a = kernel.align_a,
            .align_b = kernel.align_b,
            .align_d = kernel.align_d};
}

/// All that is asked of a config whose rules are kept, and the rules of one that may break any.
void use(const GemmSpec& asked, const KernelConfig& config, const GpuModel& gpu) {
    if (!problems(asked).empty()) return;
    const Problem problem = problem_of(asked);
    const GemmSpec& spec = problem.row_major();
    const Family& family = family_of(config);
    const bool unsupported = !family.unsupported(problem, *gpu.arch).empty();
    if (!family.violations(problem, config, *gpu.arch).empty() || unsupported) return;
    static_cast<void>(family.discouraged(problem, config));
    static_cast<void>(family.anatomy(problem, config));
    static_cast<void>(family.cost(problem, config, gpu));
    static_cast<void>(family.workspace_bytes(problem, config));
    if (spec.m > 0 && spec.n > 0) static_cast<void>(family.owner(problem, config, spec.m - 1, spec.n - 1));
    static_cast<void>(dump(generate(problem, config, *gpu.arch), problem));
}

}  // namespace

void kernel_name(std::string_view input) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    KernelId id = parse_kernel_name(input.substr(0, end));
    if (kernel_name(id) != input.substr(0, end)) __builtin_trap();
    if (end < input.size()) id.config = with_parameters(id.config, parse_parameters(input.substr(end + 1)));
    for (const char* gpu : {"h200", "a100"})
        for (const Sizes& size : kSizes) use(spec_of(id.signature, size), id.config, find_gpu(gpu));
}

}  // namespace jitgemm::fuzz
