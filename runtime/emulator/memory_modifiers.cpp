#include "runtime/emulator/memory_modifiers.hpp"

namespace jitgemm::emulator {
namespace {

ptx::StateSpace take_space(InstructionDecoder& decoder) {
    const std::string name = decoder.take_any({"global", "shared", "shared::cta", "shared::cluster", "local", "param",
                                               "param::entry", "param::func", "const"});
    if (name == "global") return ptx::StateSpace::global;
    if (name == "const") return ptx::StateSpace::constant;
    if (name == "local") return ptx::StateSpace::local;
    if (name == "shared::cluster") return ptx::StateSpace::cluster;
    if (name.starts_with("shared")) return ptx::StateSpace::shared;
    if (name.starts_with("param")) return ptx::StateSpace::param;
    return ptx::StateSpace::generic;
}

}  // namespace

MemoryModifiers take_memory_modifiers(InstructionDecoder& decoder) {
    MemoryModifiers modifiers;
    const std::string semantics = decoder.take_any({"volatile", "relaxed", "acquire", "release", "acq_rel"});
    modifiers.strong = !semantics.empty();
    decoder.take("weak");
    const std::string scope = decoder.take_any({"cta", "cluster", "gpu", "sys"});
    modifiers.order = {.acquires = semantics.starts_with("acq"),
                       .releases = semantics == "release" || semantics == "acq_rel",
                       .wide = scope != "cta" && scope != "cluster"};
    modifiers.space = take_space(decoder);
    decoder.take("nc");
    decoder.take_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
    decoder.take_any(
        {"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first", "L1::evict_last", "L1::no_allocate"});
    decoder.take_any({"L2::evict_normal", "L2::evict_first", "L2::evict_last"});
    modifiers.cache_hint = decoder.take("L2::cache_hint");
    decoder.take_any({"L2::64B", "L2::128B", "L2::256B"});
    return modifiers;
}

std::size_t take_vector(InstructionDecoder& decoder) {
    const std::string vector = decoder.take_any({"v2", "v4", "v8"});
    return vector.empty() ? 1 : static_cast<std::size_t>(vector[1] - '0');
}

}  // namespace jitgemm::emulator
