#include "generator/draw/layout_pictures.hpp"
#include "generator/layout/ldmatrix_plan.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/cli/layout/layout.hpp"
#include "runtime/cli/layout/output.hpp"
#include "runtime/cli/layout/tiling.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

namespace jitgemm::cli {
namespace {

constexpr int kLanes = 32;

struct LdmatrixOptions {
    TilingOptions tiling;
    std::string operand;
    std::string smem_major = "k";
    LayoutFormat format;
};

Operand operand_of(const std::string& name) {
    if (name == "A" || name == "a") return Operand::a;
    if (name == "B" || name == "b") return Operand::b;
    throw UsageError(fmt::format("--operand is '{}': expected A or B", name));
}

bool is_k_major(const std::string& major) {
    constexpr std::array<std::string_view, 2> kKnown{"k", "mn"};
    require_one_of("--smem-major", major, kKnown);
    return major == "k";
}

Json pair_json(Coordinate at) { return {at.row, at.column}; }

Json option_json(const LdmatrixOption& option) {
    return {{"op", option.atom->cute_name},        {"x", option.atom->x},
            {"trans", option.atom->trans},         {"legal", option.legal},
            {"instructions", option.instructions}, {"reason", option.reason}};
}

Json best_json(const LdmatrixPlan& plan) {
    const LdmatrixOption* best = plan.best();
    if (best == nullptr) return nullptr;
    Json lanes = Json::array(), origins = Json::array();
    for (int lane = 0; lane < kLanes; ++lane) lanes.push_back(pair_json(plan.lane_row(*best, 0, lane)));
    for (int i = 0; i < best->atom->x; ++i) origins.push_back(pair_json(plan.origins[static_cast<std::size_t>(i)]));
    return {{"op", best->atom->cute_name},      {"x", best->atom->x},
            {"trans", best->atom->trans},       {"instructions", best->instructions},
            {"lane_address", std::move(lanes)}, {"matrix_origin", std::move(origins)}};
}

std::string option_line(const LdmatrixOption& option, bool is_best) {
    return fmt::format("{} x{}  {:<18} {:<3} {:>3}  {}\n", is_best ? "*" : " ", option.atom->x, option.atom->cute_name,
                       option.legal ? "yes" : "no", option.legal ? std::to_string(option.instructions) : "-",
                       option.reason);
}

std::string text_of(const LdmatrixPlan& plan) {
    std::string text =
        fmt::format("{} matrices of 8 rows of 16 bytes, {} values per thread\n       {:<18} {}\n", plan.matrices,
                    plan.values_per_thread, "instruction", "legal, instructions per warp");
    for (const LdmatrixOption& option : plan.options) text += option_line(option, &option == plan.best());
    return text;
}

Json document_of(const LdmatrixOptions& options, const TiledMma& mma, const LdmatrixPlan& plan) {
    return {{"atom", atom_name(mma.atom(), options.tiling)},
            {"warps", to_string(mma.warps())},
            {"val", val_json(options.tiling)},
            {"operand", to_string(operand_of(options.operand))},
            {"smem_major", options.smem_major},
            {"matrices_8x8", plan.matrices},
            {"values_per_thread", plan.values_per_thread},
            {"choices", json_array(plan.options, option_json)},
            {"best", best_json(plan)}};
}

int show_ldmatrix(const LdmatrixOptions& options, Output& output) {
    const Operand operand = operand_of(options.operand);
    const bool k_major = is_k_major(options.smem_major);
    const TiledMma mma = tiled_mma(options.tiling);
    const LdmatrixPlan plan = plan_ldmatrix(mma, operand, k_major);
    const std::string_view contiguous = k_major ? "k" : operand == Operand::a ? "m" : "n";
    LayoutAnswer answer;
    answer.text = fmt::format("{} of {}, {}-major in shared memory: {}", to_string(operand), mma.atom().name(),
                              contiguous, text_of(plan));
    answer.document = document_of(options, mma, plan);
    const TvLayout tv = mma.layout_tv(operand);
    const std::string format = chosen_format(options.format, output);
    const bool drawable = format != "text" || plan.best() != nullptr;
    if (drawable && is_drawn(format, std::int64_t{tv.rows()} * tv.columns()))
        answer.picture = ldmatrix_picture(mma, operand, plan);
    return show(answer, options.format, output);
}

}  // namespace

Action declare_layout_ldmatrix(CLI::App& app) {
    auto options = std::make_shared<LdmatrixOptions>();
    declare_atom(app, options->tiling);
    declare_tiling(app, options->tiling);
    app.add_option("--operand", options->operand, "A or B")->required()->type_name("A|B");
    app.add_option("--smem-major", options->smem_major, "Contiguous mode in shared memory: k or mn")
        ->capture_default_str()
        ->type_name("k|mn");
    declare_format(app, options->format);
    return [options](Output& output) { return show_ldmatrix(*options, output); };
}

}  // namespace jitgemm::cli
