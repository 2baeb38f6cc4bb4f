#pragma once

#include "runtime/tuning/search/services.hpp"
#include "runtime/tuning/store/store_writer.hpp"

#include <map>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// The trials of one problem of a sweep, in memory and on disk: what is added here is on its way to the store when the
/// call returns (StoreWriter). Throws TuningStoreError when what was added before could not be stored.
///
/// What the store held of the problem before (an interrupted sweep) is taken over trial by trial, as a kernel is
/// proposed, so that a search that goes on takes the steps the first one took.
class TrialLog {
public:
    /// `earlier`: what the sweep recorded of this problem so far. `reference`: the kernel that is timed in every round.
    TrialLog(TuningStore& store, std::int64_t sweep, const GemmSpec& spec, std::string reference,
             const std::vector<Trial>& earlier);

    /// A kernel goes on trial; with all that an earlier session recorded of it.
    void propose(const std::string& kernel, double predicted_us);

    void add_compile(const std::string& kernel, const CompileOutcome& outcome);
    void add_same_code(const std::string& kernel, const std::string& same_as);
    void add_verified(const std::string& kernel, const VerifyOutcome& outcome);

    /// A kernel's turn in the round at hand. Kept for good before the round has ended: what a crash, a kill or Ctrl-C
    /// leaves of a round was measured as all the rest was, beside the same neighbours, and a later round gives the
    /// kernels that had no turn theirs. Whether a slowdown had begun meanwhile nobody knows then; of one round in at
    /// least three the median can bear that.
    void add_sample(const std::string& kernel, const Sample& sample);
    /// Its samples get their last reading and the reference's time or, where a slowdown spoilt it, are gone as if they
    /// had never been.
    void end_round(const RoundEnd& end);
    /// The round at hand was cut short.
    void cut_round() { open_round_.clear(); }
    /// Returns when all of it is on disk.
    void flush() { writer_.flush(); }

    /// In the order proposed; cuBLASLt's pseudo kernel (kCublasLt) is none of them.
    [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
    [[nodiscard]] bool knows(const std::string& kernel) const { return places_.contains(kernel); }
    /// Throws std::out_of_range for a kernel not proposed.
    [[nodiscard]] const Trial& trial(const std::string& kernel) const { return trials_[places_.at(kernel)]; }
    /// The trial whose machine code this is; empty when it is new.
    [[nodiscard]] std::string kernel_with_code(const std::string& text_hash) const;

    /// What cuBLASLt did in the same rounds; without samples where it was not measured.
    [[nodiscard]] const Trial& cublaslt() const { return cublaslt_; }

    /// Some candidates could not be tried for want of memory: the store knows nothing of that, and the search is not
    /// whole.
    [[nodiscard]] bool wanted_memory() const;
    [[nodiscard]] int samples_added() const { return samples_added_; }  ///< by this log, not by earlier sessions

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
