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

/// \file The results of a sweep as values: rows of the store, lines of CSV and JSON, and the input of the report. Specs
/// are resolved. Kernels are canonical names, so a record outlives this version's config structs.

namespace jitgemm::tuning {

/// The result of one candidate.
enum class Verdict : std::uint8_t {
    fine,             ///< compiled and verified
    same_code,        ///< its .text equals another candidate's, which was measured (`Trial::same_as`)
    compile_failed,   ///< NVRTC or ptxas refused it
    compile_timeout,  ///< the compile took longer than allowed
    wrong,            ///< ran, with a wrong result
    crashed,          ///< its process died: illegal access, sticky error, signal
    hung,             ///< ended by the watchdog
    unfit,            ///< cannot be launched here (out of memory, too many blocks), through no fault of the code
    no_memory,        ///< memory was short, or its process was killed twice: not stored, and tried again later
};
[[nodiscard]] std::string_view to_string(Verdict verdict);
/// Throws Error with the text and the known verdicts.
[[nodiscard]] Verdict parse_verdict(std::string_view text);

/// The result of a compile.
struct CompileOutcome {
    Verdict verdict = Verdict::fine;  ///< fine, compile_failed, compile_timeout or no_memory
    std::string message = {};         ///< the compiler's log when it failed
    double compile_ms = 0;
    int registers = 0;
    int spill_bytes = 0;                ///< stores plus loads, of a thread
    std::vector<std::string> warnings;  ///< C75xx and others of ptxas
    std::string text_hash;              ///< of the machine code alone, for all entries: equal hashes mean one kernel
};

struct VerifyOutcome {
    Verdict verdict = Verdict::fine;  ///< fine, wrong, crashed, hung, unfit or no_memory
    std::string message;
};

/// One round of one kernel: the time of a launch, and the device's readings around it.
struct Sample {
    int round = 0;            ///< 0 ... for this kernel in this sweep
    double us = 0;            ///< per launch
    DeviceReading before;     ///< at the start of the round's turn through all kernels, not of this kernel
    DeviceReading after;      ///< at the end of the same turn; all zero if a fault or a kill cut it short
    double reference_us = 0;  ///< of the heuristic's kernel in this round; 0: it had no turn, or a kill cut it short
    /// A launch by the sustained protocol, in the same turn; 0: not timed.
    double sustained_us = 0;
    double reference_sustained_us = 0;  ///< the same for the heuristic's kernel in this round
};

/// Everything known about one candidate of one problem.
struct Trial {
    std::string kernel;
    double predicted_us = 0;
    std::optional<CompileOutcome> compile;  ///< unset: not compiled yet
    std::optional<VerifyOutcome> verified;  ///< unset: not run yet
    std::string same_as;                    ///< kernel with the same machine code that was measured for it
    std::vector<Sample> samples;            ///< rounds 0, 1, 2 ... without a gap

    /// The first failure; `same_code` with `same_as`; else `fine`, also if unfinished.
    [[nodiscard]] Verdict verdict() const;
    [[nodiscard]] std::string message() const;
    [[nodiscard]] std::vector<double> times_us() const;
};

/// `Winner::narrowed` of a record from a version that did not keep it.
inline constexpr std::string_view kNarrowedUnknown = "unknown";

/// The winner of a search for a problem on a class of devices, and the way of the search: lookup.hpp decides which
/// requests it may serve. Records of one problem with different ways (protocol, hot, narrowed, versions) exist side by
/// side.
struct Winner {
    std::string device_class;
    GemmSpec spec;
    std::string kernel;
    double median_us =
        0;              ///< 0: not recorded; if both protocols timed the problem, all times are their geometric means
    double low_us = 0;  ///< confidence interval of the median, 95 %
    double high_us = 0;
    std::string heuristic_kernel;  ///< the choice without measurements, and its median in the same rounds
    double heuristic_us = 0;       ///< 0: not measured
    double cublaslt_us = 0;        ///< its best algorithm in the same rounds; 0: not measured
    Protocol protocol = Protocol::steady;
    bool hot = false;           ///< one set of operands, in L2 if they fit
    std::string narrowed = {};  ///< the limits of the search, in the words of narrowing(); empty: none
    bool complete = false;      ///< false: the budget or an interruption ended the search early
    int candidates_timed = 0;
    Versions versions;
    std::string device_name;     ///< for people
    std::int64_t unix_time = 0;  ///< seconds
};

/// Whether it was measured with other versions than the current ones. It is then worth a try, but not trusted. A
/// current version of 0 (no driver, no NVRTC here) is not compared.
[[nodiscard]] bool is_stale(const Winner& winner, const Versions& today);

}  // namespace jitgemm::tuning
