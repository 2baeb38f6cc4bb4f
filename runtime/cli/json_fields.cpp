#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace jitgemm::cli {
namespace {

constexpr double kFlopsPerTflopMicrosecond = 1e6;

}  // namespace

Json to_json(const GemmSpec& spec) {
    Json json{
        {"type", type_name(spec)}, {"layout", to_string(spec.layout)}, {"m", spec.m}, {"n", spec.n}, {"k", spec.k}};
    json["a_type"] = to_string(spec.a);
    json["b_type"] = to_string(spec.b);
    json["c_type"] = spec.c ? Json(to_string(*spec.c)) : Json();
    json["d_type"] = to_string(spec.d);
    json["acc_type"] = to_string(spec.accumulator);
    json["d_layout"] = to_string(spec.d_order);
    json["lda"] = spec.lda;
    json["ldb"] = spec.ldb;
    json["ldc"] = spec.c ? Json(spec.ldc) : Json();
    json["ldd"] = spec.ldd;
    json["align_a"] = spec.align_a;
    json["align_b"] = spec.align_b;
    json["align_c"] = spec.c ? Json(spec.align_c) : Json();
    json["align_d"] = spec.align_d;
    return json;
}

Json to_json(const GpuModel& gpu) { return {{"name", gpu.name}, {"arch", gpu.arch->name}, {"sm_count", gpu.sm_count}}; }

Json to_json(const CostEstimate& cost) {
    return {{"math_us", cost.math_us},     {"dram_us", cost.dram_us},
            {"l2_us", cost.l2_us},         {"overhead_us", cost.overhead_us},
            {"waves", cost.waves},         {"blocks_per_sm", cost.blocks_per_sm},
            {"tail_us", cost.tail_us},     {"tensor_us", cost.tensor_us},
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
