#include "runtime/tuning/trial_log.hpp"

#include "runtime/tuning/services.hpp"

#include <utility>

namespace jitgemm::tuning {

TrialLog::TrialLog(TuningStore& store, std::int64_t sweep, const GemmSpec& spec, const std::vector<Trial>& earlier)
    : store_(store), sweep_(sweep), spec_(spec) {
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
    store_.add_compile(sweep_, spec_, kernel, trial.predicted_us, outcome);
    trial.compile = outcome;
}

void TrialLog::add_same_code(const std::string& kernel, const std::string& same_as) {
    store_.add_same_code(sweep_, spec_, kernel, same_as);
    find(kernel).same_as = same_as;
}

void TrialLog::add_verified(const std::string& kernel, const VerifyOutcome& outcome) {
    store_.add_verified(sweep_, spec_, kernel, outcome);
    Trial& trial = find(kernel);
    trial.verified = outcome;
    if (trial.compile) by_code_.emplace(trial.compile->text_hash, kernel);
}

void TrialLog::add_samples(const std::vector<KernelSample>& samples) {
    store_.add_samples(sweep_, spec_, samples);
    for (const auto& [kernel, sample] : samples) find(kernel).samples.push_back(sample);
    samples_added_ += static_cast<int>(samples.size());
}

std::string TrialLog::kernel_with_code(const std::string& text_hash) const {
    const auto known = by_code_.find(text_hash);
    return known == by_code_.end() ? std::string() : known->second;
}

}  // namespace jitgemm::tuning
