#pragma once

#include "runtime/tuning/store.hpp"

#include <map>
#include <string>
#include <vector>

namespace jitgemm::tuning {

/// The trials of one problem of a sweep, in memory and on disk: what is added here is in the store when the call returns.
/// What the store held of the problem before (an interrupted sweep) is taken over trial by trial, as a kernel is proposed,
/// so that a search that goes on takes the steps the first one took.
class TrialLog {
public:
    /// `earlier`: what the sweep recorded of this problem so far.
    TrialLog(TuningStore& store, std::int64_t sweep, const GemmSpec& spec, const std::vector<Trial>& earlier);

    /// A kernel goes on trial; with all that an earlier session recorded of it.
    void propose(const std::string& kernel, double predicted_us);

    void add_compile(const std::string& kernel, const CompileOutcome& outcome);
    void add_same_code(const std::string& kernel, const std::string& same_as);
    void add_verified(const std::string& kernel, const VerifyOutcome& outcome);
    /// Of one round, all or none.
    void add_samples(const std::vector<KernelSample>& samples);

    /// In the order proposed; cuBLASLt's pseudo kernel (kCublasLt) is none of them.
    [[nodiscard]] const std::vector<Trial>& trials() const { return trials_; }
    [[nodiscard]] bool knows(const std::string& kernel) const { return places_.contains(kernel); }
    /// Throws std::out_of_range for a kernel not proposed.
    [[nodiscard]] const Trial& trial(const std::string& kernel) const { return trials_[places_.at(kernel)]; }
    /// The trial whose machine code this is; empty when it is new.
    [[nodiscard]] std::string kernel_with_code(const std::string& text_hash) const;

    /// What cuBLASLt did in the same rounds; without samples where it was not measured.
    [[nodiscard]] const Trial& cublaslt() const { return cublaslt_; }

    [[nodiscard]] int samples_added() const { return samples_added_; }  ///< by this log, not by earlier sessions

private:
    Trial& find(const std::string& kernel);

    TuningStore& store_;
    std::int64_t sweep_;
    GemmSpec spec_;
    std::map<std::string, Trial> earlier_;
    std::vector<Trial> trials_;
    Trial cublaslt_;
    std::map<std::string, std::size_t> places_;   // kernel → index into trials_
    std::map<std::string, std::string> by_code_;  // text hash → kernel
    int samples_added_ = 0;
};

}  // namespace jitgemm::tuning
