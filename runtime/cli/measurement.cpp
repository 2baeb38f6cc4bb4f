#include "runtime/cli/measurement.hpp"

#include "jitgemm/device_pointer.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kFinalists = 4;  // algorithms that are timed in full, of each way of a peer
constexpr int kScreeningRounds = 3;

/// The algorithms of one peer that take part, its first choice in front, and where their times lie among all.
struct Team {
    std::vector<BenchCandidate> candidates;
    std::size_t begin = 0;
    std::string reason;
};

/// One problem being measured: what every step needs.
struct Trial {
    ContextState& context;
    const GemmSpec& spec;  ///< resolved
    const ProblemRequest& request;
    const TimingOptions& timing;
    Output& output;

    void step(const char* what) const {
        stop_if_interrupted();
        output.progress(fmt::format("{}: {}", shape_text(spec), what));
    }
    [[nodiscard]] VerifyOptions verify_options() const { return {.alpha = request.alpha, .beta = request.beta}; }
};

/// The first choice of a peer with many algorithms, and of each way those that are fastest in a few rounds.
std::vector<BenchCandidate> screened(const Trial& trial, std::vector<BenchCandidate> candidates) {
    if (candidates.size() <= kFinalists) return candidates;
    trial.step("screening the peer's algorithms");
    TimingOptions quick = trial.timing;
    quick.rounds = std::min(quick.rounds, kScreeningRounds);
    if (quick.protocol == Protocol::sustained) quick.protocol = Protocol::steady;  // half a minute otherwise
    const std::vector<Timing> timings = time_candidates(trial.context, trial.spec, candidates, quick);
    std::vector<BenchCandidate> finalists{candidates.front()};
    std::map<std::string, std::size_t> chosen{{candidates.front().way, 1}};
    for (const std::size_t i : fastest_first(timings)) {
        if (i == 0 || chosen[candidates[i].way] == kFinalists) continue;
        ++chosen[candidates[i].way];
        finalists.push_back(std::move(candidates[i]));
    }
    return finalists;
}

std::vector<Team> gather(const Trial& trial, const Peers& peers) {
    std::vector<Team> teams;
    std::size_t begin = 1;  // the kernel itself comes first
    for (const std::unique_ptr<Peer>& peer : peers) {
        Team team;
        team.candidates = screened(trial, peer->candidates(trial.spec, team.reason));
        if (team.candidates.empty() && team.reason.empty()) team.reason = "does not compute this problem";
        team.begin = begin;
        begin += team.candidates.size();
        teams.push_back(std::move(team));
    }
    return teams;
}

std::vector<Timing> time_all(const Trial& trial, const GemmKernel& kernel, const std::vector<Team>& teams) {
    std::vector<BenchCandidate> all;
    all.push_back(candidate_of("jitgemm", kernel));
    for (const Team& team : teams) all.insert(all.end(), team.candidates.begin(), team.candidates.end());
    trial.step("timing");
    return time_candidates(trial.context, trial.spec, all, trial.timing);
}

/// The peer's figures, each of a result that was checked.
PeerMeasurement judge(const Trial& trial, const std::string& name, const Team& team, std::span<const Timing> timings) {
    PeerMeasurement result;
    result.name = name;
    result.reason = team.reason;
    for (const std::size_t i : fastest_first(timings)) {
        const BenchCandidate& candidate = team.candidates[i];
        const bool is_best_pass = candidate.way == kPassWay && !result.pass_microseconds;
        if (result.microseconds && i != 0 && !is_best_pass) continue;
        trial.step("verifying the peer");
        const Verification verdict = verify_candidate(trial.context, trial.spec, candidate, trial.verify_options());
        if (!verdict.ok) {
            if (result.reason.empty()) result.reason = fmt::format("{} is wrong: {}", candidate.name, verdict.message);
            continue;
        }
        if (i == 0) result.first_microseconds = timings[i].median_us;
        if (is_best_pass) result.pass_microseconds = timings[i].median_us;
        if (result.microseconds) continue;
        result.microseconds = timings[i].median_us;
        result.algorithm = candidate.name;
        result.way = candidate.way;
    }
    return result;
}

}  // namespace

std::vector<std::size_t> fastest_first(std::span<const Timing> timings) {
    std::vector<std::size_t> order(timings.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(timings[i].median_us, i); });
    return order;
}

void MeasurementOptions::declare(CLI::App& app) {
    const auto option = [&](const char* name, auto& value, const char* description) {
        CLI::Option* const one = app.add_option(name, value, description)->group("Measurement")->type_name("");
        declared_.push_back(one);
        return one;
    };
    option("--protocol", protocol,
           "steady: CUDA graphs over rotating operands; cold: single launches after an L2 flush; sustained: each side "
           "alone for 150 ms after 100 ms of warm-up")
        ->capture_default_str();
    option("--rounds", rounds, "Number of rounds; the result is their median")->capture_default_str();
    option("--group-sizes", group_sizes,
           "With --groups, how rows are divided among them: uniform, random (a third is empty) or skewed (Zipf's law); "
           "random:5 has a seed. A line of a shape file may have its own, group-sizes=random")
        ->capture_default_str();
    option("--against", against, "Time this peer in the same rounds: cublaslt or lib:PEER.so; may be repeated")
        ->allow_extra_args(false);
}

std::vector<std::string> MeasurementOptions::given() const {
    std::vector<std::string> names;
    for (const CLI::Option* option : declared_)
        if (option->count() > 0) names.push_back(option->get_name());
    return names;
}

TimingOptions MeasurementOptions::timing(const ProblemRequest& request) const {
    require_one_of("--protocol", protocol, protocol_names());
    if (rounds < 1) throw UsageError(fmt::format("--rounds is {}: it must be at least 1", rounds));
    TimingOptions timing;
    timing.protocol = parse_protocol(protocol);
    timing.rounds = rounds;
    timing.alpha = request.alpha;
    timing.beta = request.beta;
    const GroupDraw of_option = parse_group_draw("--group-sizes", group_sizes);
    const GroupDraw draw = request.group_draw.value_or(of_option);
    timing.group_sizes = draw.sizes;
    timing.seed = draw.seed.value_or(timing.seed);
    return timing;
}

Peers open_peers(const std::vector<std::string>& names, ContextState& context) {
    Peers peers;
    for (const std::string& name : names) peers.push_back(open_peer(name, context));
    return peers;
}

Measurement measure(ContextState& context, const GemmKernel& kernel, const Peers& peers, const ProblemRequest& request,
                    const TimingOptions& timing, Output& output) {
    const Trial trial{context, kernel.spec(), request, timing, output};
    Measurement result;
    trial.step("verifying");
    result.verification = verify(context, kernel, trial.verify_options());
    if (is_empty(trial.spec)) return result;

    const std::vector<Team> teams = gather(trial, peers);
    const std::vector<Timing> timings = time_all(trial, kernel, teams);
    result.state = tuning::read_device(context.device->ordinal());
    result.timing = timings.front();
    if (has_groups(trial.spec)) result.group_sizes = timing.group_sizes;
    for (std::size_t i = 0; i < teams.size(); ++i) {
        const auto own = std::span(timings).subspan(teams[i].begin, teams[i].candidates.size());
        result.peers.push_back(judge(trial, peers[i]->name(), teams[i], own));
    }
    output.progress("");
    return result;
}

}  // namespace jitgemm::cli
