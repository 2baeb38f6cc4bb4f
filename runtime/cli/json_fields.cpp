#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace jitgemm::cli {
namespace {

constexpr double kFlopsPerTflopMicrosecond = 1e6;

}  // namespace

Json to_json(const GpuModel& gpu) { return {{"name", gpu.name}, {"arch", gpu.arch->name}, {"sm_count", gpu.sm_count}}; }

Json to_json(const CostEstimate& cost) {
    return {{"math_us", cost.math_us},     {"dram_us", cost.dram_us},
            {"l2_us", cost.l2_us},         {"overhead_us", cost.overhead_us},
            {"waves", cost.waves},         {"blocks_per_sm", cost.blocks_per_sm},
            {"tail_us", cost.tail_us},     {"math_unit_us", cost.math_unit_us},
            {"shared_us", cost.shared_us}, {"l1_us", cost.l1_us}};
}

Json to_json(const tuning::TunedChoice& choice) {
    return {{"source", to_string(choice.source)},
            {"reason", choice.reason},
            {"tuned_spec", choice.tuned_spec ? to_json(*choice.tuned_spec) : Json()},
            {"distance", choice.tuned_spec ? Json(choice.distance) : Json()}};
}

std::string type_name(const GemmSpec& spec) { return operand_types(spec); }

std::string shape_text(const GemmSpec& spec) { return shape_line(spec); }

double tflops(const GemmSpec& spec, double microseconds) {
    return microseconds > 0 ? flops(spec) / microseconds / kFlopsPerTflopMicrosecond : 0;
}

}  // namespace jitgemm::cli
