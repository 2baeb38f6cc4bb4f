#include "runtime/tuning/sweep/trial_log.hpp"

#include <algorithm>
#include <utility>

namespace jitgemm::tuning {

TrialLog::TrialLog(TuningStore& store, std::int64_t sweep, const GemmSpec& spec, std::string reference,
                   const std::vector<Trial>& earlier)
    : writer_(store, sweep, spec), reference_(std::move(reference)) {
    cublaslt_.kernel = kCublasLt;
    for (const Trial& trial : earlier) {
        if (trial.kernel == kCublasLt)
            cublaslt_ = trial;
        else
            earlier_.emplace(trial.kernel, trial);
    }
}

Trial& TrialLog::find(const std::string& kernel) {
    return kernel == kCublasLt ? cublaslt_ : trials_[places_.at(kernel)];
}

void TrialLog::propose(const std::string& kernel, double predicted_us) {
    const auto known = earlier_.find(kernel);
    Trial trial = known == earlier_.end() ? Trial{} : known->second;
    trial.kernel = kernel;
    trial.predicted_us = predicted_us;
    if (trial.compile && trial.same_as.empty()) by_code_.emplace(trial.compile->text_hash, kernel);
    places_.emplace(kernel, trials_.size());
    trials_.push_back(std::move(trial));
}

void TrialLog::add_compile(const std::string& kernel, const CompileOutcome& outcome) {
    Trial& trial = find(kernel);
    if (outcome.verdict != Verdict::no_memory) writer_.add({{kernel, PredictedCompile{trial.predicted_us, outcome}}});
    trial.compile = outcome;
}

void TrialLog::add_same_code(const std::string& kernel, const std::string& same_as) {
    writer_.add({{kernel, SameCode{same_as}}});
    find(kernel).same_as = same_as;
}

void TrialLog::add_verified(const std::string& kernel, const VerifyOutcome& outcome) {
    if (outcome.verdict != Verdict::no_memory) writer_.add({{kernel, outcome}});
    Trial& trial = find(kernel);
    trial.verified = outcome;
    if (trial.compile) by_code_.emplace(trial.compile->text_hash, kernel);
}

void TrialLog::add_sample(const std::string& kernel, const Sample& sample) {
    writer_.add({{kernel, sample}});
    find(kernel).samples.push_back(sample);
    open_round_.push_back(kernel);
    ++samples_added_;
}

/// Times of 0 where it had no turn in it.
Sample TrialLog::reference_in_open_round() {
    const bool had_its_turn = std::ranges::find(open_round_, reference_) != open_round_.end();
    return had_its_turn ? find(reference_).samples.back() : Sample{};
}

void TrialLog::end_round(const RoundEnd& end) {
    const Sample reference = reference_in_open_round();
    std::vector<TrialEntry> ends;
    for (const std::string& kernel : std::exchange(open_round_, {})) {
        std::vector<Sample>& samples = find(kernel).samples;
        ends.push_back(
            {kernel, SampleEnd{samples.back().round, end.after, end.counts, reference.us, reference.sustained_us}});
        samples.back().after = end.after;
        samples.back().reference_us = reference.us;
        samples.back().reference_sustained_us = reference.sustained_us;
        if (!end.counts) samples.pop_back();
    }
    if (!end.counts) samples_added_ -= static_cast<int>(ends.size());
    writer_.add(ends);
}

bool TrialLog::wanted_memory() const {
    return std::ranges::any_of(trials_, [](const Trial& trial) { return trial.verdict() == Verdict::no_memory; });
}

std::string TrialLog::kernel_with_code(const std::string& text_hash) const {
    const auto known = by_code_.find(text_hash);
    return known == by_code_.end() ? std::string() : known->second;
}

}  // namespace jitgemm::tuning
