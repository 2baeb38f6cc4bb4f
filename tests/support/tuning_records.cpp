#include "tests/support/tuning_records.hpp"
#include "generator/families/kernel_name.hpp"

#include "generator/base/renderer.hpp"
#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <nlohmann/json.hpp>

namespace jitgemm::testing {

using tuning::Versions;
using tuning::Winner;

tuning::DeviceFacts h200_facts() {
    Versions versions = tuning::own_versions(TemplateSet::embedded());
    versions.nvrtc = versions.driver = 130;
    return {find_gpu("h200"), 0, 150'754'820'096, false, versions};
}

std::string heuristic_kernel(const GemmSpec& spec, const GpuModel& gpu) {
    return kernel_name(problem_of(spec), choose_config(problem_of(spec), gpu));
}

Winner winner_for(const GemmSpec& spec, std::size_t rank, double median_us) {
    const CandidateList list = list_candidates(problem_of(spec), find_gpu("h200"));
    Winner winner;
    winner.device_class = kH200Class;
    winner.spec = resolved(spec);
    winner.kernel = kernel_name(problem_of(spec), list.accepted.at(rank).config);
    winner.median_us = median_us;
    winner.low_us = median_us * 0.99;
    winner.high_us = median_us * 1.01;
    winner.heuristic_kernel = kernel_name(problem_of(spec), list.accepted.front().config);
    winner.heuristic_us = 12;
    winner.complete = true;
    winner.candidates_timed = 60;
    winner.versions = h200_facts().versions;
    winner.device_name = "NVIDIA H200";
    winner.unix_time = 1'700'000'000;
    return winner;
}

Winner on_class(const std::string& device_class, Winner winner) {
    winner.device_class = device_class;
    return winner;
}

std::string lines(const std::vector<Winner>& winners) {
    std::string text;
    for (const Winner& winner : winners) text += tuning::json_line(winner) + "\n";
    return text;
}

}  // namespace jitgemm::testing
