#include "generator/generate.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

namespace jitgemm::fuzz {

void dump(std::string_view input) {
    const ParsedDump parsed = parse_dump(input);
    if (signature(parsed.spec) != parsed.id.signature) return;
    KernelSource source = generate(parsed.spec, parsed.id.config, *parsed.arch);
    source.body = parsed.body;
    static_cast<void>(dump(source, parsed.spec));
    static_cast<void>(host_main(source, parsed.spec));
}

}  // namespace jitgemm::fuzz
