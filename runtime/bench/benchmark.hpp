#pragma once

#include "jitgemm/device_pointer.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/device/timing_protocol.hpp"
#include "runtime/verify/group_sizes.hpp"
#include "runtime/verify/verify.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

struct TimingOptions {
    Protocol protocol = Protocol::steady;
    int rounds = 15;
    double minimum_graph_us = 300;  ///< steady: least time of a graph replay
    double warm_up_us = 100e3;      ///< sustained: time that a candidate runs before it is timed,
    double sustained_us = 150e3;    ///< and the least time for which it is timed
    std::int64_t rotating_bytes =
        256LL << 20;   ///< steady: least bytes of the copies of all operands (also at least 4 × L2)
    bool hot = false;  ///< steady: a single copy, which stays in L2 if it fits
    std::uint64_t seed = 7;
    float alpha = 1.0F;
    float beta = 1.0F;  ///< with C in the spec; 0 without
    GroupSizes group_sizes = GroupSizes::uniform;
};

/// Times over all rounds, microseconds per launch.
struct Timing {
    double median_us = 0;
    double low_us = 0;   ///< 10th percentile
    double high_us = 0;  ///< 90th percentile
    std::vector<double> rounds_us;
};

/// The way of a peer that has no epilogue of that text: a plain product, and a pointwise kernel behind it.
inline constexpr std::string_view kPassWay = "pass";

/// Anything that computes a GEMM on device pointers: a jitgemm kernel, an algorithm of cuBLASLt, a peer library.
struct BenchCandidate {
    std::string name;
    std::function<void(const GemmArguments&, Stream)> launch;  ///< must be capturable
    std::string way = {};         ///< of several in which a peer computes a text; else empty
    EpilogueText judged_by = {};  ///< the text by which results are judged, if it is not the spec's
    /// Makes ready what launches with these arguments need, before them and outside of the times; may be empty.
    std::function<void(const GemmArguments&)> prepare = {};
};

/// A kernel that is given all operands as they lie. Those that its spec has prepared are prepared outside of the times.
[[nodiscard]] BenchCandidate candidate_of(std::string name, const GemmKernel& kernel);

/// Runs one candidate as verify() runs a kernel, on both kinds of input with generous placement. If the candidate
/// throws, the verification has failed, with the error's text as message. Errors of the device itself are thrown.
[[nodiscard]] Verification verify_candidate(ContextState& context, const GemmSpec& resolved_spec,
                                            const BenchCandidate& candidate, const VerifyOptions& options = {});

/// Alternates the candidates round by round over the same rotating operands; result i belongs to candidate i.
[[nodiscard]] std::vector<Timing> time_candidates(ContextState& context, const GemmSpec& resolved_spec,
                                                  const std::vector<BenchCandidate>& candidates,
                                                  const TimingOptions& options);

/// The order of the candidates in a round. Every second round goes backwards, so that no candidate always follows the
/// same one.
[[nodiscard]] std::vector<std::size_t> turns_of_round(int round, std::size_t candidates);

/// A library to measure against.
class Peer {
public:
    virtual ~Peer() = default;
    [[nodiscard]] virtual std::string name() const = 0;
    /// All ways in which this peer can compute the problem, its own first choice first. Empty with `reason` if it
    /// cannot, or if the peer does not know a property of the spec (C is one row, an epilogue, a batch).
    [[nodiscard]] std::vector<BenchCandidate> candidates(const GemmSpec& resolved_spec, std::string& reason);

private:
    /// Whether the peer can compute with a C of one row.
    [[nodiscard]] virtual bool takes_row_of_c() const { return false; }
    /// Whether the peer can compute an epilogue's text.
    [[nodiscard]] virtual bool takes_epilogue() const { return false; }
    /// Whether the peer can add as GemmSpec::sums asks.
    [[nodiscard]] virtual bool takes_sums() const { return false; }
    /// Whether the peer can compute a batch.
    [[nodiscard]] virtual bool takes_batch() const { return false; }
    [[nodiscard]] virtual std::vector<BenchCandidate> candidates_of_one(const GemmSpec& spec, std::string& reason) = 0;
};

/// "cublaslt" (libcublasLt by dlopen, 64 MB of workspace, up to 32 algorithms) or "lib:PATH". Throws Error with the
/// names that were tried.
[[nodiscard]] std::unique_ptr<Peer> open_peer(const std::string& name, ContextState& context);

}  // namespace jitgemm
