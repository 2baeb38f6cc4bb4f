#include "generator/generate.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

namespace jitgemm::fuzz {

void dump(std::string_view input) {
    const ParsedDump parsed = parse_dump(input);
    if (problem_of(parsed.spec).signature != parsed.id.signature) return;
    KernelSource source = generate(problem_of(parsed.spec), parsed.id.config, *parsed.arch);
    source.body = parsed.body;
    static_cast<void>(dump(source, problem_of(parsed.spec)));
    static_cast<void>(host_main(source, problem_of(parsed.spec)));
}

}  // namespace jitgemm::fuzz
