#include "runtime/cli/ladder/peer.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/interrupt.hpp"
#include "runtime/cli/measurement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace jitgemm::cli {
namespace {

constexpr int kScreeningRounds = 3;

std::vector<BenchCandidate> all_algorithms(ContextState& context, const GemmSpec& spec, std::string& reason) {
    std::unique_ptr<Peer> peer;
    try {
        peer = open_peer("cublaslt", context);
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        reason = error.what();
        return {};
    }
    std::vector<BenchCandidate> candidates = peer->candidates(spec, reason);
    if (candidates.empty() && reason.empty()) reason = "it does not compute this problem";
    return candidates;
}

/// Indices in rising order of the time a few rounds show.
std::vector<std::size_t> screened(ContextState& context, const GemmSpec& spec,
                                  const std::vector<BenchCandidate>& candidates, TimingOptions timing) {
    timing.rounds = std::min(timing.rounds, kScreeningRounds);
    return fastest_first(time_candidates(context, spec, candidates, timing));
}

}  // namespace

std::optional<BenchCandidate> best_of_cublaslt(ContextState& context, const GemmSpec& spec, const TimingOptions& timing,
                                               LadderPeer& peer) {
    const std::vector<BenchCandidate> candidates = all_algorithms(context, spec, peer.reason);
    if (candidates.empty()) return std::nullopt;
    for (const std::size_t i : screened(context, spec, candidates, timing)) {
        stop_if_interrupted();
        const VerifyOptions options{.alpha = timing.alpha, .beta = timing.beta};
        const Verification verdict = verify_candidate(context, spec, candidates[i], options);
        if (!verdict.ok) {
            peer.reason = fmt::format("{} is wrong: {}", candidates[i].name, verdict.message);
            continue;
        }
        peer.reason.clear();
        peer.algorithm = candidates[i].name;
        peer.microseconds = time_candidates(context, spec, {candidates[i]}, timing).front().median_us;
        return candidates[i];
    }
    return std::nullopt;
}

}  // namespace jitgemm::cli
