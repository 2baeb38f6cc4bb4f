#include "generator/draw/kernel_pipeline.hpp"

#include "generator/base/round_up.hpp"
#include "generator/draw/svg.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace jitgemm {
namespace {

constexpr int kFirstIterations = 6;  // shown beyond the number of stages
constexpr int kPipelineCellWidth = 62;
constexpr int kPipelineCellHeight = 30;
constexpr int kPipelineLeft = 64;
constexpr int kPipelineTop = 40;
constexpr int kCutWidth = 26;

/// Puts a k-tile into the stage it is copied to; one beyond the last reads nothing and leaves the stage empty.
void use(PipelineStep& step, std::int64_t k_tile, std::int64_t k_tiles, StageState state) {
    if (k_tile >= k_tiles) return;
    step.stages[static_cast<std::size_t>(k_tile) % step.stages.size()] = {state, k_tile};
}

PipelineStep prologue_step(int stages, std::int64_t k_tile, std::int64_t k_tiles) {
    PipelineStep step{true, k_tile, std::vector<StageUse>(static_cast<std::size_t>(stages))};
    for (std::int64_t earlier = 0; earlier < k_tile; ++earlier) use(step, earlier, k_tiles, StageState::in_flight);
    use(step, k_tile, k_tiles, StageState::copy_issued);
    return step;
}

bool is_shown(std::int64_t k_tile, int stages, std::int64_t k_tiles) {
    return k_tile < stages + kFirstIterations || k_tile >= k_tiles - stages;
}

std::string_view classes_of(StageState state) {
    switch (state) {
        case StageState::copy_issued: return "p c9";
        case StageState::in_flight: return "p c1";
        case StageState::computed: return "p c10";
        default: return "p c";
    }
}

std::string hint_of(const PipelineStep& step, const StageUse& use, std::size_t stage) {
    const std::string when =
        step.prologue ? fmt::format("prologue, copy {}", step.k_tile) : fmt::format("iteration {}", step.k_tile);
    if (use.state == StageState::empty) return fmt::format("{}: stage {} holds nothing that is needed", when, stage);
    return fmt::format("{}: stage {}, k-tile {}: {}", when, stage, use.k_tile, to_string(use.state));
}

void draw_step(Svg& svg, const PipelineStep& step, int x) {
    svg.text(x + kPipelineCellWidth / 2, kPipelineTop - 8, step.prologue ? "·" : std::to_string(step.k_tile), "q m");
    for (std::size_t stage = 0; stage < step.stages.size(); ++stage) {
        const StageUse& use = step.stages[stage];
        const bool empty = use.state == StageState::empty;
        svg.box(
            {x, kPipelineTop + static_cast<int>(stage) * kPipelineCellHeight, kPipelineCellWidth, kPipelineCellHeight},
            classes_of(use.state), {hint_of(step, use, stage), empty ? "" : fmt::format("k{}", use.k_tile)},
            empty ? "" : fmt::format("k{}", use.k_tile));
    }
}

struct LegendEntry {
    StageState state;
    std::string_view text;
};
constexpr LegendEntry kLegend[] = {{StageState::copy_issued, "copy issued"},
                                   {StageState::in_flight, "in flight or landed"},
                                   {StageState::computed, "computed on"},
                                   {StageState::empty, "empty"}};

void draw_legend(Svg& svg, int y) {
    int x = kPipelineLeft;
    for (const auto& [state, text] : kLegend) {
        svg.box({x, y, 16, 16}, classes_of(state));
        svg.text(x + 22, y + 12, text, "q");
        x += 36 + static_cast<int>(text.size()) * 7;
    }
}

}  // namespace

std::string_view to_string(StageState state) {
    switch (state) {
        case StageState::copy_issued: return "copy";
        case StageState::in_flight: return "in flight";
        case StageState::computed: return "compute";
        default: return "empty";
    }
}

PipelineStep iteration(int stages, std::int64_t k_tile, std::int64_t k_tiles) {
    PipelineStep step{false, k_tile, std::vector<StageUse>(static_cast<std::size_t>(stages))};
    use(step, k_tile, k_tiles, StageState::computed);
    for (int ahead = 1; ahead < stages - 1; ++ahead) use(step, k_tile + ahead, k_tiles, StageState::in_flight);
    use(step, k_tile + stages - 1, k_tiles, StageState::copy_issued);
    return step;
}

KernelPipeline kernel_pipeline(const KernelAnatomy& anatomy, std::int64_t k) {
    const LdmatrixPipeline& source = *anatomy.ldmatrix_pipeline;
    const int stages = anatomy.stages;
    const KRange share = k_range_of_split(source.schedule, 0, k);
    KernelPipeline pipeline{stages, ceil_div(share.end - share.first, std::int64_t{anatomy.block.k}), {}};
    for (int k_tile = 0; k_tile < stages - 1; ++k_tile)
        pipeline.steps.push_back(prologue_step(stages, k_tile, pipeline.k_tiles));
    for (std::int64_t k_tile = 0; k_tile < pipeline.k_tiles; ++k_tile) {
        if (is_shown(k_tile, stages, pipeline.k_tiles))
            pipeline.steps.push_back(iteration(stages, k_tile, pipeline.k_tiles));
    }
    return pipeline;
}

std::string pipeline_html(const KernelPipeline& pipeline) {
    const int steps = static_cast<int>(pipeline.steps.size());
    const int bottom = kPipelineTop + pipeline.stages * kPipelineCellHeight;
    Svg svg(kPipelineLeft + steps * kPipelineCellWidth + 2 * kCutWidth, bottom + 34);
    svg.text(kPipelineLeft, 12, "prologue", "q");
    svg.text(kPipelineLeft + (pipeline.stages - 1) * kPipelineCellWidth + kCutWidth, 12, "iterations of the mainloop →",
             "q");
    for (int stage = 0; stage < pipeline.stages; ++stage)
        svg.text(kPipelineLeft - 8, kPipelineTop + stage * kPipelineCellHeight + 19, fmt::format("stage {}", stage),
                 "q e");
    int x = kPipelineLeft;
    const PipelineStep* previous = nullptr;
    for (const PipelineStep& step : pipeline.steps) {
        const bool begins = previous != nullptr && previous->prologue && !step.prologue;
        const bool cut = previous != nullptr && !previous->prologue && step.k_tile > previous->k_tile + 1;
        if (begins || cut) x += kCutWidth;
        if (cut) svg.text(x - kCutWidth / 2, kPipelineTop + pipeline.stages * kPipelineCellHeight / 2 + 4, "…", "m");
        draw_step(svg, step, x);
        x += kPipelineCellWidth;
        previous = &step;
    }
    draw_legend(svg, bottom + 14);
    return svg.figure("", false);
}

}  // namespace jitgemm
