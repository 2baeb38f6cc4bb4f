#include "generator/base/math_promise.hpp"
#include "generator/families/preparation.hpp"
#include "runtime/cli/explain_report.hpp"
#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace jitgemm::cli {
namespace {

std::string text_of(const TileShape& shape) { return fmt::format("{}x{}x{}", shape.m, shape.n, shape.k); }

Json alternative_json(const ExplainReport& report, const Alternative& alternative) {
    Json differs = Json::object();
    for (const auto& [name, value, chosen] : alternative.differs)
        differs[name] = {{"value", value}, {"chosen", chosen}};
    return {{"kernel", report.name_of(alternative.config)},
            {"predicted_microseconds", alternative.cost.total_us},
            {"times_chosen", alternative.cost.total_us / report.explanation.cost.total_us},
            {"cost", to_json(alternative.cost)},
            {"differs", differs}};
}

Json rejection_json(const ExplainReport& report, const RejectionGroup& group) {
    return {{"count", group.count}, {"reason", group.reason}, {"example", report.name_of(group.example)}};
}

Json roofline_json(const Explanation& e) {
    const Roofline& line = e.roofline;
    return {{"flops", line.flops},
            {"compulsory_bytes", line.bytes},
            {"intensity", line.intensity},
            {"ridge", line.ridge},
            {"peak_tflops", line.peak_flops / 1e12},
            {"dram_terabytes_per_second", line.dram_bytes / 1e12},
            {"attainable_tflops", line.attainable_flops / 1e12},
            {"least_microseconds", line.least_microseconds},
            {"bound_by", line.bound_by_dram() ? "DRAM" : to_string(line.unit())},
            {"share_of_peak", e.share_of_peak},
            {"share_of_attainable", e.share_of_attainable}};
}

Json waves_json(const WaveBreakdown& waves) {
    return {{"blocks", waves.blocks},
            {"blocks_per_sm", waves.blocks_per_sm},
            {"slots", waves.slots},
            {"waves", waves.waves},
            {"full_waves", waves.full_waves},
            {"last_wave_blocks", waves.last_blocks},
            {"last_wave_idle_sms", waves.idle_sms},
            {"efficiency", waves.efficiency}};
}

Json occupancy_json(const Occupancy& o) {
    return {{"blocks_per_sm", o.blocks()},     {"limited_by", o.limits()},   {"by_registers", o.by_registers},
            {"by_shared_memory", o.by_shared}, {"by_threads", o.by_threads}, {"by_slots", o.by_slots}};
}

Json registers_json(const ExplainReport& report) {
    const KernelAnatomy& a = report.explanation.anatomy;
    const auto& measured = report.explanation.measured;
    return {{"estimated", a.registers()},
            {"accumulators", a.accumulator_registers},
            {"fragments", a.fragment_registers},
            {"measured", measured ? Json(measured->registers) : Json()},
            {"spill_bytes", measured ? Json(measured->spill_bytes) : Json()},
            {"source", measured ? measured->source : fmt::format("estimate: {}", report.no_registers)}};
}

Json shared_memory_json(const KernelAnatomy& a) {
    return {{"bytes", a.shared_bytes},
            {"stages", a.stages},
            {"stage_bytes", a.stage_bytes},
            {"pipeline_bytes", a.pipeline_bytes},
            {"epilogue_bytes", a.epilogue_bytes},
            {"pad_bytes", a.pad_bytes}};
}

Json operand_json(const OperandPath& path) {
    Json json{
        {"operand", to_string(path.operand)}, {"k_major", path.k_major}, {"copy", path.copy}, {"place", path.place}};
    const Json reasons{{"width_reason", path.width_reason}, {"trans_reason", path.trans_reason}};
    if (!path.ldmatrix) {
        json.update(reasons);
        return json;
    }
    json["ldmatrix"] = {{"x", path.ldmatrix->x},
                        {"trans", path.ldmatrix->trans},
                        {"matrices_8x8", path.ldmatrix->matrices},
                        {"instructions", path.ldmatrix->instructions},
                        {"k_blocks", path.ldmatrix->k_blocks}};
    json["ldmatrix"].update(reasons);
    return json;
}

Json access_json(const SharedAccess& access) {
    return {{"what", access.what},
            {"instruction", access.instruction},
            {"per", access.in_mainloop ? "k-tile" : "tile"},
            {"instructions", access.instructions},
            {"wavefronts", access.wavefronts},
            {"ideal", access.ideal},
            {"worst_wavefronts", access.worst.count},
            {"worst_ideal", access.worst.ideal},
            {"reason", access.reason.empty() ? Json() : Json(access.reason)}};
}

Json role_json(const WarpRole& role) {
    return {{"name", role.name}, {"warps", role.warps}, {"registers", role.registers}};
}

Json kernel_json(const KernelAnatomy& a) {
    return {{"block", text_of(a.block)},
            {"warp", text_of(a.warp)},
            {"mma", text_of(a.mma)},
            {"instruction", a.instruction},
            {"threads", a.threads()},
            {"split_k", a.split_k},
            {"cluster", a.cluster},
            {"blocks_per_wave", a.blocks_per_wave},
            {"remainder_tiles", a.remainder_tiles},
            {"stream_k_blocks", a.stream_k_blocks},
            {"streamed_tiles", a.streamed_tiles},
            {"warp_roles", json_array(a.roles, role_json)}};
}

Json preparation_json(std::string_view operand, const Preparation& made) {
    return {{"operand", operand}, {"form", to_string(made.form)}, {"bytes", made.bytes()}};
}

Json epilogue_json(const Explanation& e) {
    const EpilogueCost& cost = *e.epilogue;
    return {{"read_bytes", cost.read_bytes},
            {"written_bytes", cost.written_bytes},
            {"special_operations", cost.special_operations},
            {"other_operations", cost.other_operations},
            {"plain_microseconds", cost.plain_us ? Json(*cost.plain_us) : Json()},
            {"extra_microseconds", cost.plain_us ? Json(e.cost.total_us - *cost.plain_us) : Json()}};
}

Json prepared_json(const ExplainReport& report) {
    const GemmSpec& spec = report.problem().requested();
    const Arch& arch = *report.target.gpu.arch;
    Json operands = Json::array();
    if (is_prepared_a(spec))
        operands.push_back(preparation_json("a", preparation_of(Prepared::a, report.problem(), arch)));
    if (is_prepared_b(spec))
        operands.push_back(preparation_json("b", preparation_of(Prepared::b, report.problem(), arch)));
    return {{"operands", operands},
            {"unprepared_microseconds", report.unprepared_us ? Json(*report.unprepared_us) : Json()}};
}

}  // namespace

Json to_json(const ExplainReport& report) {
    const Explanation& e = report.explanation;
    const auto alternative = [&](const Alternative& one) { return alternative_json(report, one); };
    const auto rejection = [&](const RejectionGroup& group) { return rejection_json(report, group); };
    Json json{{"spec", to_json(report.problem().asked)},
              {"gpu", to_json(report.target.gpu)},
              {"gpu_origin", report.target.origin},
              {"operands_swapped", e.problem.transposed},
              {"kernel", report.name_of(e.config)},
              {"family", family_name(e.config)},
              {"parameters", parameters_of(e.config)},
              {"predicted_microseconds", e.cost.total_us},
              {"predicted_tflops", tflops(e.problem.row_major(), e.cost.total_us)},
              {"cost", to_json(e.cost)},
              {"bound_by", to_string(e.bound, e.roofline.unit())},
              {"roofline", roofline_json(e)},
              {"waves", waves_json(e.waves)},
              {"occupancy", occupancy_json(e.occupancy)},
              {"registers", registers_json(report)},
              {"shared_memory", shared_memory_json(e.anatomy)},
              {"tiles", kernel_json(e.anatomy)},
              {"operands", json_array(e.anatomy.operands, operand_json)},
              {"bank_conflicts", json_array(e.anatomy.accesses, access_json)},
              {"runners_up", json_array(e.runners_up, alternative)},
              {"free_choice", e.free_choice ? alternative(*e.free_choice) : Json()},
              {"accepted_count", e.accepted_count},
              {"rejected_count", e.rejected_count},
              {"rejections", json_array(e.rejections, rejection)},
              {"unsupported", e.unsupported},
              {"choice", to_json(report.choice)}};
    if (const MathPromise* const promise = promise_of(report.problem().asked.math))
        json["promise"] = {{"error_at_most", promise->bound}, {"limits", promise->limits}};
    if (e.epilogue) json["epilogue"] = epilogue_json(e);
    if (report.problem().requested().prepared != Prepared::none) json["prepared"] = prepared_json(report);
    return json;
}

}  // namespace jitgemm::cli
