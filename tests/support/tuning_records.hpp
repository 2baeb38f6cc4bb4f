#pragma once

#include "generator/heuristics.hpp"
#include "runtime/tuning/records.hpp"

#include <string>

namespace jitgemm::testing {

inline const std::string kH200Class = "sm_90a-132sm-60MB-140GB-4800GBs-1750MHz";

inline tuning::DeviceFacts h200_facts() {
    return {find_gpu("h200"), 0, 150'754'820'096, false, {"0.1.0", "templates", 130, 130}};
}

inline std::string heuristic_kernel(const GemmSpec& spec, const GpuModel& gpu) {
    return kernel_name({signature(spec), choose_config(spec, gpu)});
}

/// A winner as a finished sweep stores it; the kernel is `rank` places behind the heuristic's choice.
inline tuning::Winner winner_for(const GemmSpec& spec, std::size_t rank = 0, double median_us = 10) {
    const GpuModel& gpu = find_gpu("h200");
    const CandidateList list = list_candidates(spec, gpu);
    tuning::Winner winner;
    winner.device_class = kH200Class;
    winner.spec = resolved(spec);
    winner.kernel = kernel_name({signature(spec), list.accepted.at(rank).config});
    winner.median_us = median_us;
    winner.low_us = median_us * 0.99;
    winner.high_us = median_us * 1.01;
    winner.heuristic_kernel = kernel_name({signature(spec), list.accepted.front().config});
    winner.heuristic_us = 12;
    winner.complete = true;
    winner.candidates_timed = 60;
    winner.versions = h200_facts().versions;
    winner.device_name = "NVIDIA H200";
    winner.unix_time = 1'700'000'000;
    return winner;
}

}  // namespace jitgemm::testing
