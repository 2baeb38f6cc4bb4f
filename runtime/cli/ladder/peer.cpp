#include "runtime/cli/ladder/peer.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/interrupt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace jitgemm::cli {
namespace {

constexpr int kScreeningRounds = 3;

std::vector<Contender> all_algorithms(ContextState& context, const GemmSpec& spec, std::string& reason) {
    std::unique_ptr<Peer> peer;
    try {
        peer = open_peer("cublaslt", context);
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        reason = error.what();
        return {};
    }
    std::vector<Contender> contenders = peer->contenders(spec, reason);
    if (contenders.empty() && reason.empty()) reason = "it computes no such problem";
    return contenders;
}

/// Indices in rising order of the time a few rounds show.
std::vector<std::size_t> screened(ContextState& context, const GemmSpec& spec, const std::vector<Contender>& contenders,
                                  TimingOptions timing) {
    timing.rounds = std::min(timing.rounds, kScreeningRounds);
    const std::vector<Timing> timings = time_contenders(context, spec, contenders, timing);
    std::vector<std::size_t> order(contenders.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(timings[i].median_us, i); });
    return order;
}

}  // namespace

std::optional<Contender> best_of_cublaslt(ContextState& context, const GemmSpec& spec, const TimingOptions& timing,
                                          LadderPeer& peer) {
    const std::vector<Contender> contenders = all_algorithms(context, spec, peer.reason);
    if (contenders.empty()) return std::nullopt;
    for (const std::size_t i : screened(context, spec, contenders, timing)) {
        stop_if_interrupted();
        const VerifyOptions options{.alpha = timing.alpha, .beta = timing.beta};
        const Verification verdict = verify_contender(context, spec, contenders[i], options);
        if (!verdict.ok) {
            peer.reason = fmt::format("{} is wrong: {}", contenders[i].name, verdict.message);
            continue;
        }
        peer.reason.clear();
        peer.algorithm = contenders[i].name;
        peer.microseconds = time_contenders(context, spec, {contenders[i]}, timing).front().median_us;
        return contenders[i];
    }
    return std::nullopt;
}

}  // namespace jitgemm::cli
