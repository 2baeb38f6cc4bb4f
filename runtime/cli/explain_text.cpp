#include "generator/base/math_promise.hpp"
#include "generator/families/family.hpp"
#include "generator/families/preparation.hpp"
#include "jitgemm/kernel_info.hpp"
#include "runtime/cli/explain_report.hpp"
#include "runtime/cli/json_fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

namespace jitgemm::cli {
namespace {

constexpr double kPercent = 100;

std::string heading(std::string_view title) { return fmt::format("\n{}\n", title); }

/// "  name            what is said of it\n".
std::string row(std::string_view name, std::string_view text) { return fmt::format("  {:<16}{}\n", name, text); }

/// "block=256x128x64 stages=5": what tells a kernel from the chosen one.
std::string differences_text(const std::vector<ParameterDifference>& differs) {
    std::vector<std::string> words;
    for (const auto& [name, value, chosen] : differs) words.push_back(fmt::format("{}={}", name, value));
    return fmt::format("{}", fmt::join(words, " "));
}

double busy_us(const CostEstimate& cost) {
    return std::max({cost.math_unit_us, cost.shared_us, cost.l1_us, cost.l2_us, cost.dram_us});
}

/// The error that the asked math of f32 operands allows.
std::string promise_text(Math math) {
    const MathPromise* const promise = promise_of(math);
    if (promise == nullptr) return {};
    return fmt::format(
        "math={} promises |error| <= {}\n  S is the sum of |a*b| over K, max_a and max_b are the largest elements of "
        "the row of A and the column of B.\n  {} Inf and NaN make their row or column of D Inf or NaN.\n",
        to_string(math), promise->bound, promise->limits);
}

std::string problem_text(const ExplainReport& report) {
    const GemmSpec& asked = report.problem().asked;
    const std::string math = asked.math == Math::ieee ? "" : fmt::format(" math={}", to_string(asked.math));
    const GemmSpec& requested = report.problem().requested();
    const bool has_prepared = requested.prepared != Prepared::none;
    const std::string prepared = has_prepared ? fmt::format(" prepared={}", to_string(requested.prepared)) : "";
    std::string text = fmt::format("{}{}{} on {}\n", shape_text(requested), math, prepared, describe(report.target));
    if (report.problem().transposed)
        text += "D is column-major: the kernel computes its transpose, so A and M below are your B and N.\n";
    return text + report.name_of(report.explanation.config) + "\n" + promise_text(asked.math);
}

std::string capitalized(std::string_view word) {
    std::string text(word);
    if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

std::string choice_text(const ExplainReport& report) {
    const Explanation& e = report.explanation;
    const bool is_guess = family_of(e.config).is_untimed(e.config);
    const std::string rate =
        fmt::format("{:.2f} us, {:.1f} TFLOP/s{}", e.cost.total_us, tflops(e.problem.row_major(), e.cost.total_us),
                    is_guess ? ", a guess: the model was not fitted to kernels of this kind" : "");
    if (report.choice.source == ChoiceSource::forced)
        return fmt::format("  Asked for by name; predicted to take {}.\n", rate);
    if (report.choice.source != ChoiceSource::heuristic)
        return fmt::format("  {}: {}.\n  Predicted to take {}.\n", capitalized(to_string(report.choice.source)),
                           report.choice.reason, rate);
    const std::size_t compared = is_guess ? e.accepted_count : e.accepted_count - e.untimed_count;
    return fmt::format("  Predicted to be the fastest of {}: {}.\n",
                       counted(static_cast<std::int64_t>(compared), "candidate"), rate);
}

std::string bound_text(const Explanation& e) {
    const double share = e.cost.total_us > 0 ? busy_us(e.cost) / e.cost.total_us * kPercent : 0;
    switch (e.bound) {
        case Bound::launch: return "  Launching takes half of that or more: the problem is small.\n";
        case Bound::latency: return "  No unit is busy half of the time: blocks wait for loads, ramp up and drain.\n";
        default:
            return fmt::format("  Limited by {}: on its own, it would need {:.1f} % of that time.\n",
                               to_string(e.bound, e.roofline.unit()), share);
    }
}

std::string versus_text(const Explanation& e, const Alternative& other) {
    return fmt::format("{}, predicted {:.2f} us ({:.2f} times as long)", differences_text(other.differs),
                       other.cost.total_us, other.cost.total_us / e.cost.total_us);
}

std::string why_text(const ExplainReport& report) {
    const Explanation& e = report.explanation;
    std::string text = heading("Why this one") + choice_text(report) + bound_text(e);
    if (!e.runners_up.empty()) text += fmt::format("  Runner-up: {}.\n", versus_text(e, e.runners_up.front()));
    if (e.free_choice) text += fmt::format("  The heuristic's free choice: {}.\n", versus_text(e, *e.free_choice));
    return text;
}

std::string pipeline_text(const KernelAnatomy& a) {
    if (a.stages == 0) return "none: operands go from global memory straight into registers";
    if (a.stages == 1) return fmt::format("none: {} bytes are filled and multiplied in turn", a.stage_bytes);
    return fmt::format("{} stages of {} bytes: one is multiplied while {} on the way", a.stages, a.stage_bytes,
                       a.stages == 2 ? "one is" : fmt::format("{} are", a.stages - 1));
}

std::string roles_text(const KernelAnatomy& a) {
    std::string text;
    for (const WarpRole& role : a.roles)
        text += fmt::format("{}{} of {}, about {} registers per thread", text.empty() ? "" : "; ",
                            counted(role.warps, "warp"), role.name, role.registers);
    return text;
}

/// All, or those of the first role.
int multiplying_warps(const KernelAnatomy& a) { return a.roles.empty() ? a.warps() : a.roles.front().warps; }

std::string reductions_text(const Explanation& e) {
    if (!has_reductions(e.problem.signature)) return {};
    const PartTile tile = family_of(e.config).part_tile(e.problem.signature, e.config);
    const std::string parts = fmt::format("a part is made of {} rows or {} columns of D{}", tile.rows, tile.columns,
                                          tile.is_transposed ? "^T" : "");
    return row("reductions",
               fmt::format("{}{}; the last kernel combines parts; they take {} bytes of the workspace", parts,
                           tile.is_of_stored_values ? ", which the kernel stores" : " as D is computed",
                           part_bytes(e.problem, tile)));
}

std::string kernel_text(const Explanation& e) {
    const KernelAnatomy& a = e.anatomy;
    std::string text = heading("Kernel");
    text += row("block tile",
                fmt::format("{}x{} of D, {} of K at a time: {} threads, {} of {}x{}", a.block.m, a.block.n, a.block.k,
                            a.threads(), counted(multiplying_warps(a), "warp"), a.warp.m, a.warp.n));
    if (a.roles.size() > 1) text += row("warp roles", roles_text(a));
    text += row("instruction", a.instruction);
    text += row("pipeline", pipeline_text(a));
    if (a.split_k > 1)
        text += row("split-K", fmt::format("{} blocks share the K of a tile; {}", a.split_k,
                                           a.cluster > 1 ? "they are a cluster and add up in its shared memory"
                                                         : "a second kernel adds their sums"));
    if (a.remainder_tiles > 0)
        text += row("remainder tiles",
                    fmt::format("{} left over from whole waves of {} blocks: two blocks share the K of each; a "
                                "second kernel adds the smaller parts to D",
                                a.remainder_tiles, a.blocks_per_wave));
    if (a.streamed_tiles > 0)
        text += row("stream-K", fmt::format("{} blocks share the k-tiles of {}; {} of sums meet in the workspace",
                                            a.stream_k_blocks, counted(a.streamed_tiles, "tile"),
                                            counted(a.partial_tiles, "tile")));
    return text + reductions_text(e);
}

std::string prediction_text(const ExplainReport& report) {
    const Explanation& e = report.explanation;
    const CostEstimate& cost = e.cost;
    std::string text = heading("Predicted time");
    text += row("total", fmt::format("{:>10.2f} us, {:.1f} TFLOP/s, {:.1f} % of the {}' peak", cost.total_us,
                                     tflops(e.problem.row_major(), cost.total_us), e.share_of_peak * kPercent,
                                     to_string(e.roofline.unit())));
    text += row(
        "SMs", fmt::format("{:>10.2f} us all waves, {:.2f} us of it lost to the last one", cost.math_us, cost.tail_us));
    text += row("overhead", fmt::format("{:>10.2f} us launch and further entries", cost.overhead_us));
    text += "  Time that each unit would need on its own:\n";
    text += row(to_string(e.roofline.unit()), fmt::format("{:>10.2f} us", cost.math_unit_us));
    text += row("shared memory", fmt::format("{:>10.2f} us", cost.shared_us));
    if (cost.l1_us > 0) text += row("L1", fmt::format("{:>10.2f} us", cost.l1_us));
    text += row("L2", fmt::format("{:>10.2f} us", cost.l2_us));
    return text + row("DRAM", fmt::format("{:>10.2f} us", cost.dram_us));
}

std::string roofline_text(const Explanation& e) {
    const Roofline& line = e.roofline;
    std::string text = heading("Roofline");
    text += row("work",
                fmt::format("{:.4g} GFLOP on at least {:.4g} MB of DRAM traffic", line.flops / 1e9, line.bytes / 1e6));
    text += row("intensity",
                fmt::format("{:.1f} flop per byte; the ridge is at {:.1f}: {:.1f} TFLOP/s of {} over {:.2f} TB/s",
                            line.intensity, line.ridge, line.peak_flops / 1e12, to_string(line.instruction),
                            line.dram_bytes / 1e12));
    return text +
           row("at best", fmt::format("{:.2f} us, limited by {}; the prediction reaches {:.1f} % of that rate",
                                      line.least_microseconds,
                                      line.bound_by_dram() ? "DRAM" : fmt::format("the {}", to_string(line.unit())),
                                      e.share_of_attainable * kPercent));
}

std::string last_wave_text(const WaveBreakdown& waves, int sm_count) {
    if (waves.last_blocks == 0) return "full, like all others: no tail";
    const double share = static_cast<double>(waves.last_blocks) / static_cast<double>(waves.slots);
    return fmt::format("{} for {} slots ({:.0f} %); {} of {} SMs have none", counted(waves.last_blocks, "block"),
                       waves.slots, share * kPercent, waves.idle_sms, sm_count);
}

std::string waves_text(const Explanation& e) {
    const WaveBreakdown& waves = e.waves;
    const Occupancy& o = e.occupancy;
    std::string text = heading("Waves and occupancy");
    if (waves.blocks == 0) return text + "  Nothing to launch.\n";
    text +=
        row("blocks on an SM",
            fmt::format("{}, limited by {} (registers allow {}, shared memory {}, threads {}, slots {})", o.blocks(),
                        fmt::join(o.limits(), " and "), o.by_registers, o.by_shared, o.by_threads, o.by_slots));
    text += row("waves",
                fmt::format("{} on {} slots: {:.2f} waves, {:.1f} % of the slots' time used",
                            counted(waves.blocks, "block"), waves.slots, waves.waves, waves.efficiency * kPercent));
    text += row("last wave", last_wave_text(waves, e.gpu.sm_count));
    if (e.anatomy.remainder_tiles > 0)
        text += row(
            "",
            fmt::format("(if all blocks took equally long; the blocks that cut {} are shorter and share the last wave)",
                        counted(e.anatomy.remainder_tiles, "remainder tile")));
    if (e.measured && o.blocks() != e.cost.blocks_per_sm)
        text += row("", fmt::format("(the prediction counts on {} per SM, by estimated registers)",
                                    counted(e.cost.blocks_per_sm, "block")));
    return text;
}

std::string registers_text(const ExplainReport& report) {
    const KernelAnatomy& a = report.explanation.anatomy;
    const std::string parts =
        fmt::format("{} accumulators, {} fragments", a.accumulator_registers, a.fragment_registers);
    if (const auto& measured = report.explanation.measured)
        return fmt::format("{} per thread, {} bytes spilled ({}); estimated {}: {}", measured->registers,
                           measured->spill_bytes, measured->source, a.registers(), parts);
    return fmt::format("about {} per thread, estimated: {} ({})", a.registers(), parts, report.no_registers);
}

std::string resources_text(const ExplainReport& report) {
    const KernelAnatomy& a = report.explanation.anatomy;
    const Arch& arch = *report.explanation.gpu.arch;
    std::string text = heading("Registers and shared memory");
    text += row("registers", registers_text(report));
    text +=
        row("shared memory", fmt::format("{} bytes per block (pipeline {}, epilogue {}); {} allows {}", a.shared_bytes,
                                         a.pipeline_bytes, a.epilogue_bytes, arch.name, arch.shared_bytes_per_block));
    if (a.pad_bytes == 0) return text;
    return text + row("", fmt::format("{} of these bytes are a pad: no SM takes more than its share of the blocks",
                                      a.pad_bytes));
}

std::string epilogue_text(const Explanation& e) {
    if (!e.epilogue) return {};
    const EpilogueCost& cost = *e.epilogue;
    std::string text = heading("Epilogue");
    text += row("operations", fmt::format("{} special functions and {} others for an element of D",
                                          cost.special_operations, cost.other_operations));
    text += row("memory", fmt::format("{:.4g} MB of operands are read, {:.4g} MB of results are written",
                                      cost.read_bytes / 1e6, cost.written_bytes / 1e6));
    if (!cost.plain_us) return text + row("time", "unknown: this kernel can't store the plain sums");
    return text + row("time", fmt::format("{:.2f} us more than the {:.2f} us of the same kernel without the text",
                                          e.cost.total_us - *cost.plain_us, *cost.plain_us));
}

std::string operand_text(const OperandPath& path) {
    std::string text = row(to_string(path.operand), fmt::format("copied by {}", path.copy));
    text += row("", path.place);
    if (!path.ldmatrix) {
        if (!path.width_reason.empty()) text += row("", path.width_reason);
        return path.trans_reason.empty() ? text : text + row("", path.trans_reason);
    }
    const LdmatrixChoice& choice = *path.ldmatrix;
    const std::string blocks = choice.k_blocks == 1 ? "k-block" : fmt::format("{} k-blocks", choice.k_blocks);
    text += row("", fmt::format("ldmatrix x{}, {} per warp and {}: {}", choice.x, choice.instructions, blocks,
                                path.width_reason));
    return text + row("", fmt::format("{}: {}", choice.trans ? "trans" : "no trans", path.trans_reason));
}

std::string operands_text(const KernelAnatomy& anatomy) {
    std::string text = heading("Operands on their way to the registers");
    for (const OperandPath& path : anatomy.operands) text += operand_text(path);
    return text;
}

std::string preparation_text(std::string_view title, const Preparation& made) {
    return row(title,
               fmt::format("{}; {}", to_string(made.form),
                           made.copies ? fmt::format("a copy of {:.4g} MB", static_cast<double>(made.bytes()) / 1e6)
                                       : "kernels read it as it lies"));
}

std::string prepared_text(const ExplainReport& report) {
    const GemmSpec& spec = report.problem().requested();
    if (spec.prepared == Prepared::none) return {};
    const Arch& arch = *report.target.gpu.arch;
    std::string text = heading("Prepared once, and not in each launch");
    if (is_prepared_a(spec)) text += preparation_text("A", preparation_of(Prepared::a, report.problem(), arch));
    if (is_prepared_b(spec)) text += preparation_text("B", preparation_of(Prepared::b, report.problem(), arch));
    if (report.unprepared_us)
        text += row("otherwise",
                    fmt::format("{:.2f} us, predicted of the best kernel whose launches do it", *report.unprepared_us));
    return text;
}

std::string access_text(const SharedAccess& access) {
    std::string text =
        fmt::format("  {:<16}{:<24}{:>12}{:>12}{:>9}{:>7}{:>8}\n", access.what, access.instruction, access.instructions,
                    access.wavefronts, access.ideal, access.worst.count, access.worst.ideal);
    return access.reason.empty() ? text : text + row("", access.reason);
}

std::string conflicts_text(const KernelAnatomy& anatomy) {
    std::string text = heading("Bank conflicts: wavefronts of a block");
    if (anatomy.accesses.empty()) return text + fmt::format("  {}\n", no_accesses_text(anatomy));
    text += fmt::format("  {:<16}{:<24}{:>12}{:>12}{:>9}{:>7}{:>8}\n", "", "", "instructions", "wavefronts", "ideal",
                        "worst", "ideal");
    for (const bool mainloop : {true, false}) {
        const auto here = [&](const SharedAccess& access) { return access.in_mainloop == mainloop; };
        if (std::ranges::none_of(anatomy.accesses, here)) continue;
        text += mainloop ? "  each k-tile\n" : "   once per tile of D\n";
        for (const SharedAccess& access : anatomy.accesses)
            if (here(access)) text += access_text(access);
    }
    return text;
}

std::string alternative_text(std::string_view name, const Explanation& e, const Alternative& alternative) {
    const CostEstimate& cost = alternative.cost;
    return fmt::format("  {:<16}{:>9.2f}{:>10.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>9.2f}{:>10.2f}{:>7.2f}  {}\n", name,
                       cost.total_us, cost.total_us / e.cost.total_us, cost.math_us, cost.math_unit_us, cost.shared_us,
                       cost.l2_us, cost.dram_us, cost.overhead_us, cost.waves, differences_text(alternative.differs));
}

std::string alternatives_text(const Explanation& e) {
    std::string text = heading("Compared with (predicted, us)");
    text += fmt::format("  {:<16}{:>9}{:>10}{:>9}{:>9}{:>9}{:>9}{:>9}{:>10}{:>7}  {}\n", "", "total", "x chosen", "SMs",
                        "tensor", "shared", "L2", "DRAM", "overhead", "waves", "differs by");
    text += alternative_text("chosen", e, {e.config, e.cost, {}});
    if (e.free_choice) text += alternative_text("free choice", e, *e.free_choice);
    int rank = 0;
    for (const Alternative& alternative : e.runners_up)
        text += alternative_text(fmt::format("runner-up {}", ++rank), e, alternative);
    return text;
}

std::string rejections_text(const Explanation& e) {
    std::string text = heading(fmt::format("Candidates: {} compared, {} rejected", e.accepted_count, e.rejected_count));
    for (const RejectionGroup& group : e.rejections) {
        text += fmt::format("  {:>5} x  {}\n", group.count, group.reason);
        text += fmt::format("           for one, {}\n", differences_text(group.differs));
    }
    for (const std::string& reason : e.unsupported) text += fmt::format("  unsupported: {}\n", reason);
    return text;
}

}  // namespace

std::string to_text(const ExplainReport& report) {
    const Explanation& e = report.explanation;
    return problem_text(report) + why_text(report) + kernel_text(e) + prediction_text(report) + roofline_text(e) +
           waves_text(e) + resources_text(report) + epilogue_text(e) + prepared_text(report) +
           operands_text(e.anatomy) + conflicts_text(e.anatomy) + alternatives_text(e) + rejections_text(e);
}

}  // namespace jitgemm::cli
