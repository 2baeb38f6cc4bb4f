#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/store/store_writer.hpp"

#include <map>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// The trials of one problem of a sweep, in memory and on disk. An added record is on its way to the store when the
/// call returns (StoreWriter). Throws TuningStoreError if an earlier one could not be stored. Earlier records of the
/// problem (an interrupted sweep) are taken over trial by trial, when a kernel is proposed, so that a resumed search
/// repeats its steps.
class TrialLog {
public:
    /// `earlier` holds the sweep's records of this problem so far. `reference` is the kernel that is timed in every
    /// round.
    TrialLog(TuningStore& store, std::int64_t sweep, const GemmSpec& spec, std::string reference,
             const std::vector<Trial>& earlier);

    /// Adds a kernel's trial, with all records of an earlier session.
    void propose(const std::string& kernel, double predicted_us);

    void add_compile(const std::string& kernel, const CompileOutcome& outcome);
    void add_same_code(const std::string& kernel, const std::string& same_as);
    void add_verified(const std::string& kernel, const VerifyOutcome& outcome);

    /// A kernel's turn in the current round. It is stored before the round ends. After a crash, a kill or Ctrl-C, the
    /// samples of an unfinished round stay, because they were measured like all others, and a later round serves the
    /// other kernels. A slowdown in that round stays unknown; with at least three rounds the median survives it.
    void add_sample(const std::string& kernel, const Sample& sample);
    /// Completes the round's samples with their last reading and the reference's time, or removes them if a slowdown
    /// spoilt the round.
    void end_round(const RoundEnd& end);
    /// The current round was cut short.
    void cut_round() { open_round_.clear(); }
    /// Returns when all of it is on disk.
    void flush() { writer_.flush(); }

    /// In the order of proposal, without cuBLASLt's pseudo kernel (kCublasLt).
    [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
    [[nodiscard]] bool knows(const std::string& kernel) const { return places_.contains(kernel); }
    /// Throws std::out_of_range for a kernel that was not proposed.
    [[nodiscard]] const Trial& trial(const std::string& kernel) const { return trials_[places_.at(kernel)]; }
    /// The trial with this machine code; empty if it is new.
    [[nodiscard]] std::string kernel_with_code(const std::string& text_hash) const;

    /// cuBLASLt's samples in the same rounds; none if it was not measured.
    [[nodiscard]] const Trial& cublaslt() const { return cublaslt_; }

    /// Whether some candidates could not be tried because memory was short. The store does not keep them, and the
    /// search is not complete.
    [[nodiscard]] bool wanted_memory() const;
    [[nodiscard]] int samples_added() const { return samples_added_; }  ///< by this log, without earlier sessions

private:
    Trial& find(const std::string& kernel);
    [[nodiscard]] Sample reference_in_open_round();

    StoreWriter writer_;
    std::string reference_;
    std::map<std::string, Trial> earlier_;
    std::vector<Trial> trials_;
    Trial cublaslt_;
    std::map<std::string, std::size_t> places_;   // kernel → index into trials_
    std::map<std::string, std::string> by_code_;  // text hash → kernel
    std::vector<std::string> open_round_;         // kernels that have had their turn in it
    int samples_added_ = 0;
};

}  // namespace jitgemm::tuning
