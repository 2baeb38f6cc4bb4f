#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/ladder/report.hpp"

#include <nlohmann/json.hpp>

namespace jitgemm::cli {
namespace {

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json counts_json(const RungCounts& counts) {
    return {{"instructions", counts.instructions},
            {"sectors", counts.sectors},
            {"wavefronts", counts.wavefronts},
            {"ideal_wavefronts", counts.ideal_wavefronts},
            {"tensor_operations", counts.tensor_operations}};
}

void add_time(Json& json, const LadderReport& report, const RungReport& rung) {
    const bool timed = rung.time.has_value();
    json["microseconds"] = timed ? Json(rung.time->median_us) : Json();
    json["low_microseconds"] = timed ? Json(rung.time->low_us) : Json();
    json["high_microseconds"] = timed ? Json(rung.time->high_us) : Json();
    json["rounds"] = timed ? Json(rung.time->rounds) : Json();
    json["protocol"] = timed ? Json(rung.time->protocol) : Json();
    json["extrapolated"] = timed && rung.time->extrapolated;
    json["tflops"] = or_null(tflops_of(report, rung));
    json["peer_microseconds"] = or_null(rung.peer_us);
    json["share_of_peer"] = or_null(share_of_peer(rung));
    json["share_of_peak"] = or_null(share_of_peak(report, rung));
}

void add_kernel(Json& json, const LadderReport& report, const RungReport& rung) {
    const RungKernel kernel = rung.kernel.value_or(RungKernel{});
    const bool built = rung.kernel.has_value();
    const bool compiled = kernel.registers != 0;  // PTX has no registers yet
    json["kernel"] = text_or_null(kernel.name);
    json["math_unit"] = built ? Json(to_string(kernel.unit)) : Json();
    json["peak_tflops"] = built ? Json(report.roofline_of(kernel.unit).peak_flops / 1e12) : Json();
    json["intensity"] = or_null(kernel_intensity(report, rung));
    json["global_bytes"] = built ? Json(kernel.global_bytes) : Json();
    json["global_bytes_source"] = built ? Json(report.emulated ? "counted" : "computed") : Json();
    json["bank_conflicts"] = or_null(kernel.conflicts);
    json["registers"] = compiled ? Json(kernel.registers) : Json();
    json["spill_bytes"] = compiled ? Json(kernel.spill_bytes) : Json();
    json["shared_bytes"] = built ? Json(kernel.shared_bytes) : Json();
    json["threads"] = built ? Json(kernel.threads) : Json();
    json["blocks"] = built ? Json(kernel.blocks) : Json();
}

Json rung_json(const LadderReport& report, const RungReport& rung) {
    Json json{{"name", rung.rung.name},
              {"family", text_or_null(rung.rung.family)},
              {"parameters", text_or_null(rung.rung.parameters)},
              {"sentence", rung.rung.sentence},
              {"status", to_string(rung.status)},
              {"reason", text_or_null(rung.reason)},
              {"same_as", or_null(rung.same_as)},
              {"dump", text_or_null(rung.command)}};
    add_time(json, report, rung);
    add_kernel(json, report, rung);
    json["counts"] = rung.counts ? counts_json(*rung.counts) : Json();
    return json;
}

Json roofline_json(const LadderReport& report) {
    const Roofline fp32 = report.roofline_of(MathUnit::fp32_cores);
    const Roofline tensor = report.roofline_of(MathUnit::tensor_cores);
    return {{"flops", fp32.flops},
            {"compulsory_bytes", fp32.bytes},
            {"intensity", fp32.intensity},
            {"fp32_peak_tflops", fp32.peak_flops / 1e12},
            {"tensor_peak_tflops", tensor.peak_flops / 1e12},
            {"dram_terabytes_per_second", fp32.dram_bytes / 1e12}};
}

}  // namespace

Json ladder_document(const LadderReport& report) {
    const auto with_report = [&](const RungReport& rung) { return rung_json(report, rung); };
    return {{"device", report.device},
            {"gpu", to_json(report.gpu)},
            {"spec", to_json(report.spec)},
            {"alpha", report.alpha},
            {"beta", report.beta},
            {"emulated", report.emulated},
            {"interrupted", report.interrupted},
            {"peer",
             {{"name", "cublaslt"},
              {"microseconds", or_null(report.peer.microseconds)},
              {"algorithm", text_or_null(report.peer.algorithm)},
              {"reason", text_or_null(report.peer.reason)}}},
            {"roofline", roofline_json(report)},
            {"rungs", json_array(report.rungs, with_report)}};
}

}  // namespace jitgemm::cli
