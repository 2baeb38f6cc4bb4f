#include "tests/emulator/planted_faults.hpp"

#include "generator/generate.hpp"
#include "runtime/verify/emulator_verify.hpp"
#include "tests/catch.hpp"

namespace jitgemm::testing {

std::string complaint_about(Context& context, const GemmSpec& spec, const KernelConfig& config, std::string_view text,
                            std::string_view instead) {
    const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"));
    std::string body = source.body;
    const std::size_t at = body.find(text);
    REQUIRE(at != std::string::npos);
    body.replace(at, text.size(), instead);
    const ParsedDump spoilt{spec, {problem_of(spec).signature, config}, source.arch, body};
    ContextState& state = state_of(context);
    try {
        const EmulatedVerification verdict =
            verify_emulated(state, state.build(spoilt), {.beta = spec.c ? 2.0F : 0.0F});
        if (verdict.verification.ok) return {};
        return verdict.fault ? std::string(to_string(*verdict.fault)) : verdict.verification.message;
    } catch (const Error& error) {
        return error.what();
    }
}

void check_faults(Context& context, const GemmSpec& spec, const KernelConfig& config,
                  std::initializer_list<PlantedFault> faults) {
    const std::string_view unchanged = faults.begin()->text;
    CHECK(complaint_about(context, spec, config, unchanged, unchanged).empty());
    for (const auto& [text, instead] : faults) {
        INFO(text << " -> " << instead);
        CHECK_FALSE(complaint_about(context, spec, config, text, instead).empty());
    }
}

}  // namespace jitgemm::testing
