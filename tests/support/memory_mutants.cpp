#include "tests/support/memory_mutants.hpp"

#include "runtime/tuning/workers/exact_verifier.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/support/mutants.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace jitgemm::testing {
namespace {

/// Wrong by its message, or, on the emulator, by the fault that stops it.
template <typename Verify>
std::string verdict_text(const Verify& verify) {
    try {
        const Verification verdict = verify();
        return verdict.ok ? "right" : verdict.message;
    } catch (const Error& error) {
        return error.what();
    }
}

/// A kernel, its tuner's verifier that found it right, and what becomes of it.
class Specimen {
public:
    Specimen(Context& context, const Dump& dump)
        : context_(state_of(context)),
          dump_(dump),
          parsed_(parsed_dump(dump, *context_.device->model().arch)),
          right_(context_.build(parsed_)),
          verifier_(context_, parsed_.spec, dump.options.alpha, dump.options.beta) {
        CHECK(right("before any mutant"));
    }

    /// Whether the dump has the mutation's text.
    bool check(const Mutation& mutation) {
        ParsedDump spoilt = parsed_;
        spoilt.body = mutated(dump_, parsed_.body, mutation);
        if (spoilt.body.empty()) return false;
        INFO(dump_.name << ": " << mutation.name);
        const GemmKernel kernel = context_.build(spoilt);
        CHECK(verdict_text([&] { return verify(context_, kernel, dump_.options); }) != "right");
        CHECK(verdict_text([&] { return verifier_.verify(kernel); }) != "right");
        CHECK(right("after a mutant"));  // which may have changed what the verifier keeps
        return true;
    }

private:
    bool right(const char* when) {
        INFO(dump_.name << ", " << when);
        const std::string text = verdict_text([&] { return verifier_.verify(right_); });
        INFO(text);
        return text == "right";
    }

    ContextState& context_;
    const Dump& dump_;
    ParsedDump parsed_;
    GemmKernel right_;
    tuning::ExactVerifier verifier_;
};

}  // namespace

void check_memory_mutants(Context& context) {
    std::map<std::string_view, int> used;
    const std::vector<Dump> all = dumps();
    for (const Dump& dump : all) {
        std::optional<Specimen> specimen;
        for (const Mutation& mutation : memory_mutations()) {
            if (used[mutation.name] >= mutation.most_dumps) continue;
            if (!specimen) specimen.emplace(context, dump);
            if (specimen->check(mutation)) ++used[mutation.name];
        }
    }
    for (const Mutation& mutation : memory_mutations()) {
        INFO(mutation.name);
        CHECK(used[mutation.name] > 0);  // a text no kernel has any more
    }
}

}  // namespace jitgemm::testing
