#pragma once

#include "generator/heuristics.hpp"
#include "runtime/tuning/store/device_facts.hpp"
#include "runtime/tuning/store/store.hpp"

#include <string>
#include <vector>

/// \file What tests of tuning records put into them: an H200, two problems, and winners as finished sweeps store them.

namespace jitgemm::testing {

inline const std::string kH200Class = "sm_90a-132sm-60MB-140GB-4800GBs-1750MHz";
inline const std::string kEmulatorClass = "emulator-sm_90a";

/// With today's library and templates.
[[nodiscard]] tuning::DeviceFacts h200_facts();

inline const GemmSpec kTunedSpec = resolved({.m = 4096, .n = 512, .k = 1024});
inline const GemmSpec kOtherSpec = resolved({.m = 17, .n = 4096, .k = 4096, .c = DataType::bf16});

/// Of a sweep on the H200.
inline const tuning::SweepKey kSweepKey{kH200Class, "bf16 tn 4096 512 1024; model; steady", h200_facts().versions};

[[nodiscard]] std::string heuristic_kernel(const GemmSpec& spec, const GpuModel& gpu);

/// A winner as a finished sweep stores it; the kernel is `rank` places behind the heuristic's choice.
[[nodiscard]] tuning::Winner winner_for(const GemmSpec& spec, std::size_t rank = 0, double median_us = 10);

/// The same winner on another class of devices.
[[nodiscard]] tuning::Winner on_class(const std::string& device_class, tuning::Winner winner);

/// All that the winners hold, a line each.
[[nodiscard]] std::string lines(const std::vector<tuning::Winner>& winners);

}  // namespace jitgemm::testing
