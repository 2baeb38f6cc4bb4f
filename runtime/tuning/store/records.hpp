#pragma once

#include "jitgemm/gemm_spec.hpp"
#include "runtime/device/device_reading.hpp"
#include "runtime/device/timing_protocol.hpp"
#include "runtime/tuning/store/device_facts.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// \file What a sweep learns, as values: these are the rows of the store, the lines of the CSV and JSON, and what the
/// report draws. Specs are resolved. Kernels are canonical names, so a record outlives the config structs of this
/// version.

namespace jitgemm::tuning {

/// What became of one candidate.
enum class Verdict : std::uint8_t {
    fine,             ///< compiled and verified
    same_code,        ///< its .text equals another candidate's: measured there (`Trial::same_as`)
    compile_failed,   ///< NVRTC or ptxas refused it
    compile_timeout,  ///< the compile took longer than allowed
    wrong,            ///< ran, with a wrong result
    crashed,          ///< its process died: illegal access, sticky error, signal
    hung,             ///< ended by the watchdog
    unfit,            ///< cannot be launched here (out of memory, too many blocks), no fault of the code
    no_memory,  ///< memory was wanting just then, or its process was killed twice, which says nothing of the kernel:
                ///< not stored, and tried again by the session that goes on
};
[[nodiscard]] std::string_view to_string(Verdict verdict);
/// Throws Error naming the text and the verdicts there are.
[[nodiscard]] Verdict parse_verdict(std::string_view text);

/// What a compile gave, whoever asked for it.
struct CompileOutcome {
    Verdict verdict = Verdict::fine;  ///< fine, compile_failed, compile_timeout or no_memory
    std::string message = {};         ///< the compiler's log when it failed
    double compile_ms = 0;
    int registers = 0;
    int spill_bytes = 0;                ///< stores plus loads, of a thread
    std::vector<std::string> warnings;  ///< C75xx and others of ptxas
    std::string text_hash;              ///< of the machine code alone, all entries: equal means one kernel
};

struct VerifyOutcome {
    Verdict verdict = Verdict::fine;  ///< fine, wrong, crashed, hung, unfit or no_memory
    std::string message;
};

/// One round of one kernel: the time of a launch, and how the device was around it.
struct Sample {
    int round = 0;            ///< 0 ... of this kernel in this sweep
    double us = 0;            ///< a launch
    DeviceReading before;     ///< of the turn through all kernels of the round, not of this kernel alone
    DeviceReading after;      ///< of the same turn; all zero where a fault or a kill cut it short
    double reference_us = 0;  ///< of the heuristic's kernel in this round; 0: it had no turn, or a kill cut it short
    /// A launch by the sustained protocol, in the same turn; 0: not timed so.
    double sustained_us = 0;
    double reference_sustained_us = 0;  ///< likewise of the heuristic's kernel in this round
};

/// One candidate on trial for one problem: all that is known of it.
struct Trial {
    std::string kernel;
    double predicted_us = 0;
    std::optional<CompileOutcome> compile;  ///< unset: not compiled yet
    std::optional<VerifyOutcome> verified;  ///< unset: not run yet
    std::string same_as;                    ///< kernel with the same machine code that is measured in its place
    std::vector<Sample> samples;            ///< rounds 0, 1, 2 ... without a gap

    /// The first thing that went wrong; `same_code` with `same_as`; `fine` otherwise, also when unfinished.
    [[nodiscard]] Verdict verdict() const;
    [[nodiscard]] std::string message() const;
    [[nodiscard]] std::vector<double> times_us() const;
};

/// `Winner::narrowed` of a record from before it was kept: nobody knows.
inline constexpr std::string_view kNarrowedUnknown = "unknown";

/// What a search found for a problem on a class of devices, and how it was searched: lookup.hpp says which requests it
/// may serve. Records of one problem that were searched otherwise (protocol, hot, narrowed, versions) stand beside each
/// other.
struct Winner {
    std::string device_class;
    GemmSpec spec;
    std::string kernel;
    double median_us =
        0;              ///< 0: not kept; of a problem timed by both protocols, like all its times, their geometric mean
    double low_us = 0;  ///< confidence interval of the median, 95 %
    double high_us = 0;
    std::string heuristic_kernel;  ///< what would have been chosen unmeasured, and its median in the same rounds
    double heuristic_us = 0;       ///< 0: not measured
    double cublaslt_us = 0;        ///< its best algorithm in the same rounds; 0: not measured
    Protocol protocol = Protocol::steady;
    bool hot = false;           ///< one set of operands, in L2 where it fits
    std::string narrowed = {};  ///< what the search was kept to, as narrowing() says it; empty: nothing kept it
    bool complete = false;      ///< false: the budget or an interruption ended the search early
    int candidates_timed = 0;
    Versions versions;
    std::string device_name;     ///< for people
    std::int64_t unix_time = 0;  ///< seconds
};

/// Measured with other versions than today's: worth trying first, not worth trusting. A version that is 0 today (no
/// driver, no NVRTC here) is not compared.
[[nodiscard]] bool is_stale(const Winner& winner, const Versions& today);

}  // namespace jitgemm::tuning
