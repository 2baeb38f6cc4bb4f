#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/kernels/set_options.hpp"
#include "runtime/cli/kernels/verbs.hpp"
#include "runtime/cli/verb.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <memory>

namespace jitgemm::cli {
namespace {

int kernels(SetOptions& options, Output& output) {
    const KernelSet set = choose_set(options).set;
    output.text(to_string(set));
    output.document(Json::parse(to_json(set)));
    return kExitFine;
}

constexpr std::array kKernelsVerbs{
    Verb{"tune", "Measure kernels of a range of m on this GPU and keep the best set for later requests",
         declare_kernels_tune},
    Verb{"export", "Write a set to take away: cubins, a dispatcher in C, headers", declare_kernels_export},
};

}  // namespace

Action declare_kernels(CLI::App& app) {
    auto options = std::make_shared<SetOptions>();
    options->problem.declare_for_target(app);
    options->limits.declare(app);
    app.footer(
        "'jitgemm kernels tune' chooses the set from measured times and keeps it.\n"
        "'jitgemm kernels export' writes the set to take away.");
    return [options](Output& output) { return kernels(*options, output); };
}

std::span<const Verb> kernels_verbs() { return kKernelsVerbs; }

}  // namespace jitgemm::cli
