#include "generator/families/kernel_config.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/target.hpp"
#include "runtime/cli/verb.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

namespace jitgemm::cli {
namespace {

struct ListOptions {
    ProblemOptions problem;
    bool why = false;
    std::int64_t limit = 20;  ///< 0: all
};

/// One problem's candidates and all that is said of them.
struct Listing {
    Problem problem;
    Target target;
    CandidateList candidates;
    std::size_t shown = 0;                      ///< of the accepted ones
    std::optional<tuning::TunedChoice> choice;  ///< what would be taken; unset when nothing serves the problem

    [[nodiscard]] std::string name_of(const KernelConfig& config) const { return kernel_name(problem, config); }
};

Listing make_listing(const ListOptions& options) {
    if (options.limit < 0)
        throw UsageError(fmt::format("--limit is {}: it must be at least 0, and 0 means all", options.limit));
    Listing listing;
    listing.problem = problem_of(options.problem.problem().spec);
    listing.target = choose_target(options.problem);
    listing.candidates = list_candidates(listing.problem, listing.target.gpu, options.problem.selection());
    const std::size_t accepted = listing.candidates.accepted.size();
    if (accepted != 0 || !options.why)  // without a candidate it throws, as all verbs do
        listing.choice = choose_kernel(options.problem, listing.problem, listing.target);
    listing.shown = options.limit == 0 ? accepted : std::min(static_cast<std::size_t>(options.limit), accepted);
    return listing;
}

bool is_untimed(const Candidate& candidate) { return family_of(candidate.config).is_untimed(candidate.config); }

Json candidate_json(const Listing& listing, const Candidate& candidate) {
    return {{"kernel", listing.name_of(candidate.config)},
            {"family", family_name(candidate.config)},
            {"parameters", parameters_of(candidate.config)},
            {"predicted_microseconds", candidate.cost.total_us},
            {"predicted_tflops", tflops(listing.problem.asked, candidate.cost.total_us)},
            {"untimed", is_untimed(candidate)},
            {"cost", to_json(candidate.cost)}};
}

Json choice_json(const Listing& listing) {
    if (!listing.choice) return {};
    Json json = to_json(*listing.choice);
    json["kernel"] = listing.name_of(listing.choice->config);
    return json;
}

Json document_of(const Listing& listing, bool why) {
    Json accepted = Json::array();
    for (std::size_t i = 0; i < listing.shown; ++i)
        accepted.push_back(candidate_json(listing, listing.candidates.accepted[i]));
    Json json{{"spec", to_json(listing.problem.asked)},
              {"gpu", to_json(listing.target.gpu)},
              {"gpu_origin", listing.target.origin},
              {"accepted_count", listing.candidates.accepted.size()},
              {"rejected_count", listing.candidates.rejected.size()},
              {"candidates", accepted},
              {"unsupported", listing.candidates.unsupported},
              {"choice", choice_json(listing)}};
    if (why)
        json["rejected"] = json_array(listing.candidates.rejected, [&](const RejectedCandidate& rejected) {
            return Json{{"kernel", listing.name_of(rejected.config)}, {"reasons", rejected.reasons}};
        });
    return json;
}

std::string table(const Listing& listing) {
    std::string text = fmt::format("{:>4} {:>10} {:>8} {:>9} {:>9} {:>9} {:>9} {:>6} {:>9}  {}\n", "rank", "us",
                                   "TFLOP/s", "math", "dram", "l2", "overhead", "waves", "blocks/SM", "kernel");
    for (std::size_t i = 0; i < listing.shown; ++i) {
        const auto& [config, cost] = listing.candidates.accepted[i];
        text +=
            fmt::format("{:>4} {:>10.2f} {:>8.1f} {:>9.2f} {:>9.2f} {:>9.2f} {:>9.2f} {:>6.2f} {:>9}  {}{}\n", i + 1,
                        cost.total_us, tflops(listing.problem.asked, cost.total_us), cost.math_us, cost.dram_us,
                        cost.l2_us, cost.overhead_us, cost.waves, cost.blocks_per_sm, listing.name_of(config),
                        is_untimed(listing.candidates.accepted[i]) ? ", for the tuner alone" : "");
    }
    return text;
}

std::string rejected_text(const Listing& listing) {
    std::string text = fmt::format("\nRejected:\n");
    for (const RejectedCandidate& rejected : listing.candidates.rejected) {
        text += fmt::format("  {}\n", listing.name_of(rejected.config));
        for (const std::string& reason : rejected.reasons) text += fmt::format("    - {}\n", reason);
    }
    return text;
}

std::string to_text(const Listing& listing, bool why) {
    const CandidateList& list = listing.candidates;
    std::string text = fmt::format("{} on {}\n", shape_text(listing.problem.asked), describe(listing.target));
    text +=
        fmt::format("{} candidates in the heuristic's order, {} rejected; times are predictions in microseconds\n\n",
                    list.accepted.size(), list.rejected.size());
    if (!list.accepted.empty()) text += table(listing);
    if (listing.shown < list.accepted.size()) {
        text += fmt::format("... and {} more (--limit 0 shows all)\n", list.accepted.size() - listing.shown);
    }
    if (listing.choice)
        text += fmt::format("chosen: {}\n  {}: {}\n", listing.name_of(listing.choice->config),
                            to_string(listing.choice->source), listing.choice->reason);
    for (const std::string& reason : list.unsupported) text += fmt::format("unsupported: {}\n", reason);
    if (why && !list.rejected.empty()) text += rejected_text(listing);
    return text;
}

int list(const ListOptions& options, Output& output) {
    const Listing listing = make_listing(options);
    output.text(to_text(listing, options.why));
    output.document(document_of(listing, options.why));
    if (!listing.candidates.accepted.empty()) return kExitFine;
    output.note("jitgemm: no kernel serves this problem");
    return kExitUsage;
}

}  // namespace

Action declare_list(CLI::App& app) {
    auto options = std::make_shared<ListOptions>();
    options->problem.declare_for_target(app);
    app.add_flag("--why", options->why, "Show rejected candidates, too, with every reason");
    app.add_option("--limit", options->limit, "Number of candidates to show; 0: all")->capture_default_str();
    return [options](Output& output) { return list(*options, output); };
}

}  // namespace jitgemm::cli
