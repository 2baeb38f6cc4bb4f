#pragma once

#include "generator/base/occupancy.hpp"
#include "generator/base/roofline.hpp"
#include "generator/epilogue_cost.hpp"
#include "generator/heuristics.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// A parameter in which a kernel differs from the chosen one.
struct ParameterDifference {
    std::string name;
    std::string value;
    std::string chosen;  ///< the chosen kernel's value
};

/// Another kernel for the same problem.
struct Alternative {
    KernelConfig config;
    CostEstimate cost;
    std::vector<ParameterDifference> differs;
};

/// Candidates that break the same rule. Two rules are the same if their texts are equal without their numbers.
struct RejectionGroup {
    std::size_t count = 0;  ///< candidates; one that breaks two rules counts in two groups
    KernelConfig example;
    std::string reason;                        ///< the example's, with its numbers
    std::vector<ParameterDifference> differs;  ///< the parameters in which the example differs from the chosen kernel
};

/// The waves of a grid on a GPU. Blocks fill every SM, wave after wave. The blocks of the last wave spread over the
/// SMs.
struct WaveBreakdown {
    std::int64_t blocks = 0;  ///< of the whole batch. Of groups, those of the rows (or the K) that are expected
    int blocks_per_sm = 0;
    std::int64_t slots = 0;  ///< blocks resident at once on the whole GPU
    double waves = 0;        ///< blocks over slots
    std::int64_t full_waves = 0;
    std::int64_t last_blocks = 0;  ///< blocks beyond the full waves; 0 if all waves are full
    int idle_sms = 0;              ///< SMs without a block in the last wave
    double efficiency = 1;         ///< waves over whole waves: the part of the slots' time in which a block runs
};
/// Zero waves if no block fits an SM or there is nothing to launch.
[[nodiscard]] WaveBreakdown wave_breakdown(std::int64_t blocks, int blocks_per_sm, int sm_count);

/// The unit that takes most of a predicted time.
enum class Bound : std::uint8_t { math_unit, shared_memory, l1, l2, dram, latency, launch };
[[nodiscard]] std::string_view to_string(Bound bound, MathUnit unit);
/// launch: fixed costs are at least half of the time. latency: the rest is more than twice the time of the busiest unit
/// alone (blocks wait for loads, ramp up, or idle in the last wave). Else it is the busiest unit.
[[nodiscard]] Bound bound_of(const CostEstimate& cost);

/// Registers of a thread as ptxas assigned them.
struct MeasuredRegisters {
    int registers = 0;
    int spill_bytes = 0;
    std::string source;  ///< where the figure comes from, for people
};

/// The reasons for the choice of a kernel, as numbers.
struct Explanation {
    Problem problem;
    GpuModel gpu;
    KernelConfig config;
    CostEstimate cost;
    bool forced = false;                     ///< named by the selection, not chosen
    std::vector<Alternative> runners_up;     ///< best first
    std::optional<Alternative> free_choice;  ///< the heuristic's own choice, if the selection excludes it
    std::size_t accepted_count = 0;          ///< candidates that fit the problem and the selection's parameters
    std::size_t untimed_count = 0;           ///< of these, whose time is a guess (Family::is_untimed)
    std::size_t rejected_count = 0;
    std::vector<RejectionGroup> rejections;  ///< most frequent first
    std::vector<std::string> unsupported;    ///< why whole families were left out
    Roofline roofline;
    Bound bound = Bound::math_unit;
    double share_of_peak = 0;        ///< predicted rate over the math unit's peak
    double share_of_attainable = 0;  ///< the same over the roofline's limit
    KernelAnatomy anatomy;
    std::optional<MeasuredRegisters> measured;  ///< set by with_registers; else only anatomy.registers() is known
    Occupancy occupancy;                        ///< by the measured registers, if there are some
    WaveBreakdown waves;
    std::optional<EpilogueCost> epilogue;  ///< set if the problem has a text
};

/// How many runners-up an explanation holds.
inline constexpr std::size_t kRunnersUp = 5;

/// Explains the heuristic's choice, or the kernel that the selection forces. Runners-up differ from the chosen kernel
/// and from each other in more than pipeline depth or tile order. Throws the errors of list_candidates, and ConfigError
/// with the reasons, in at most ten lines, if nothing serves the problem.
[[nodiscard]] Explanation explain(const Problem& problem, const GpuModel& gpu, const Selection& selection = {});

/// The same with ptxas's register count in place of the estimate. Occupancy and waves follow it; predictions stay.
[[nodiscard]] Explanation with_registers(Explanation explanation, MeasuredRegisters measured);

}  // namespace jitgemm
