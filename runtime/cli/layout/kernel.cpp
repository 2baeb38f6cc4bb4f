#include "generator/draw/kernel_page.hpp"
#include "generator/heuristics.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"
#include "runtime/cli/problem_options.hpp"
#include "runtime/cli/target.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

namespace jitgemm::cli {
namespace {

constexpr std::int64_t kSupposedExtent = 4096;  // of m, n and k where only a kernel is named

struct LayoutKernelOptions {
    ProblemOptions problem;
    LayoutFormat format{.format = "html", .file = {}, .unless_asked = {}};
};

// ---- the page as a document -----------------------------------------------------------------------------------------

Json shape_json(const TileShape& shape) { return {shape.m, shape.n, shape.k}; }

Json tiling_json(const KernelTiling& tiling) {
    return {{"block", shape_json(tiling.block)},
            {"warp", shape_json(tiling.warp)},
            {"mma", shape_json(tiling.mma)},
            {"warps", {tiling.warps_m, tiling.warps_n}},
            {"atoms", {tiling.atoms_m, tiling.atoms_n}},
            {"k_blocks", tiling.k_blocks},
            {"warp_of_atom", tiling.warp_of_atom}};
}

Json shared_tile_json(const KernelSharedTile& tile) {
    const auto lane_json = [](const LaneChunk& lane) { return Json{lane.row, lane.chunk, lane.offset}; };
    return {{"k_major", tile.k_major},
            {"rows", tile.rows},
            {"chunks", tile.chunks},
            {"pitch_bytes", tile.pitch_bytes},
            {"swizzle_bytes", tile.span_bytes},
            {"chunk_offset", tile.offset},
            {"ldmatrix",
             {{"x", tile.ldmatrix.x},
              {"trans", tile.ldmatrix.trans},
              {"instructions", tile.ldmatrix.instructions},
              {"lanes", json_array(tile.lanes, lane_json)},
              {"wavefronts", tile.wavefronts.count},
              {"ideal", tile.wavefronts.ideal}}}};
}

Json accumulators_json(const KernelAccumulators& accumulators) {
    Json holders = Json::array();
    for (const auto& [lane, value, accumulator_register] : accumulators.atom_holders)
        holders.push_back({lane, value, accumulator_register});
    return {{"atom", accumulators.atom},
            {"registers", accumulators.registers},
            {"registers_per_atom", accumulators.registers_per_atom},
            {"first_register", accumulators.first_register},
            {"holders", holders}};
}

Json pipeline_json(const KernelPipeline& pipeline) {
    const auto stage_json = [](const StageUse& use) {
        const bool empty = use.state == StageState::empty;
        return Json{{"state", to_string(use.state)}, {"k_tile", empty ? Json() : Json(use.k_tile)}};
    };
    const auto step_json = [&](const PipelineStep& step) {
        return Json{
            {"prologue", step.prologue}, {"k_tile", step.k_tile}, {"stages", json_array(step.stages, stage_json)}};
    };
    return {
        {"stages", pipeline.stages}, {"k_tiles", pipeline.k_tiles}, {"steps", json_array(pipeline.steps, step_json)}};
}

Json footprint_json(const WaveFootprint& footprint) {
    return {{"a_bytes", footprint.a_bytes}, {"b_bytes", footprint.b_bytes}};
}

Json rasterization_json(const KernelRasterization& rasterization) {
    const auto tile_json = [](const TileIndex& tile) { return Json{tile.m, tile.n}; };
    return {{"order", rasterization.order},
            {"tiles", {rasterization.tiles.m, rasterization.tiles.n}},
            {"splits", rasterization.splits},
            {"blocks", rasterization.blocks},
            {"first_wave", rasterization.first_wave},
            {"blocks_per_sm", rasterization.blocks_per_sm},
            {"l2_bytes", rasterization.l2_bytes},
            {"footprint", footprint_json(rasterization.own.footprint)},
            {"row_major_footprint", footprint_json(rasterization.row_major.footprint)},
            {"first_tiles", json_array(rasterization.own.first_wave, tile_json)}};
}

Json region_json(const SharedRegion& region) {
    return {{"name", region.name}, {"offset", region.offset}, {"bytes", region.bytes}};
}

Json shared_map_json(const KernelSharedMap& map) {
    return {{"total_bytes", map.total_bytes},
            {"block_limit", map.block_limit},
            {"sm_bytes", map.sm_bytes},
            {"blocks_per_sm", map.blocks_per_sm},
            {"mainloop", json_array(map.mainloop, region_json)},
            {"epilogue", json_array(map.epilogue, region_json)}};
}

Json access_json(const SharedAccess& access) {
    return {{"what", access.what},
            {"instruction", access.instruction},
            {"in_mainloop", access.in_mainloop},
            {"instructions", access.instructions},
            {"wavefronts", access.wavefronts},
            {"ideal", access.ideal}};
}

Json page_json(const KernelPage& page) {
    return {{"kernel", page.kernel},
            {"spec", to_json(page.problem.row_major())},
            {"operands_swapped", page.problem.transposed},
            {"gpu", to_json(page.gpu)},
            {"threads", page.threads},
            {"registers", page.registers},
            {"tiling", tiling_json(page.tiling)},
            {"shared_a", page.draws_fragments() ? shared_tile_json(page.shared_a) : Json()},
            {"shared_b", page.draws_fragments() ? shared_tile_json(page.shared_b) : Json()},
            {"accumulators", page.draws_fragments() ? accumulators_json(page.accumulators) : Json()},
            {"pipeline", page.draws_fragments() ? pipeline_json(page.pipeline) : Json()},
            {"rasterization", rasterization_json(page.rasterization)},
            {"shared_memory", shared_map_json(page.shared_map)},
            {"bank_conflicts", json_array(page.accesses, access_json)}};
}

// ---- the verb -------------------------------------------------------------------------------------------------------

KernelPage make_page(const ProblemOptions& problem, Output& output) {
    const Problem asked = problem_of(problem.problem().spec);
    const Target target = choose_target(problem);
    if (target.assumed) output.note(fmt::format("jitgemm: drawing for {}", describe(target)));
    return kernel_page(asked, choose_config(asked, target.gpu, problem.selection()), target.gpu);
}

int draw_kernel(LayoutKernelOptions& options, Output& output) {
    const std::string format = chosen_format(options.format, output);
    if (options.problem.set_default_size(kSupposedExtent))
        output.note(fmt::format("jitgemm: no size given: drawing a problem of {0}×{0}×{0}", kSupposedExtent));
    const KernelPage page = make_page(options.problem, output);
    if (format == "html") return write_answer(kernel_page_html(page), format, options.format, output);
    return show({kernel_page_text(page), page_json(page), tiling_picture(page)}, options.format, output);
}

}  // namespace

Action declare_layout_kernel(CLI::App& app) {
    auto options = std::make_shared<LayoutKernelOptions>();
    options->problem.declare_for_target(app);
    declare_format(app, options->format);
    return [options](Output& output) { return draw_kernel(*options, output); };
}

}  // namespace jitgemm::cli
