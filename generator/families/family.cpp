#include "generator/families/family.hpp"

#include "generator/base/operand_parts.hpp"
#include "generator/base/round_up.hpp"
#include "generator/base/served_types.hpp"
#include "generator/families/shared/arguments_text.hpp"
#include "generator/families/shared/batch.hpp"
#include "generator/families/shared/compile_cost.hpp"
#include "generator/families/shared/epilogue_element.hpp"
#include "generator/families/shared/expected_problem.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/table.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace jitgemm {
namespace {

void check_sum_order(std::vector<std::string>& reasons, const GemmSpec& spec, const SumOrder& order, const Arch& arch) {
    if (spec.deterministic != Determinism::batch_invariant) return;
    const SumOrder wanted = batch_invariant_order(spec, arch);
    if (order != wanted)
        reasons.push_back(fmt::format("deterministic=batch_invariant: on {} all kernels must sum by {}, not by {}",
                                      arch.name, to_string(wanted), to_string(order)));
}

/// Returns a reason for each property of a batch that the family does not serve.
std::vector<std::string> unserved_batch(std::string_view family, const GemmSignature& s, const FamilyServes& serves) {
    std::vector<std::string> reasons;
    if (!s.batched) return reasons;
    if (s.gathered && !serves.gathered_rows)
        reasons.push_back(fmt::format("{} gathers no rows of A (source_rows)", family));
    else if ((s.grouped || s.grouped_by_k) && !serves.groups)
        reasons.push_back(fmt::format("{} serves no groups", family));
    else if (!serves.batches)
        reasons.push_back(fmt::format("{} serves no batch", family));
    if (s.nested && has_pairs(s))
        reasons.emplace_back("no kernel of a batch with two dimensions (batch-inner) makes pairs of columns");
    if (s.nested && has_block_scales(s))
        reasons.emplace_back("no kernel of a batch with two dimensions (batch-inner) scales blocks of K");
    if (has_reductions(s)) reasons.emplace_back("no kernel of a batch or of groups makes reductions (sum, max, min)");
    return reasons;
}

std::vector<std::string> unserved(std::string_view family, const Problem& problem, const FamilyServes& serves) {
    std::vector<std::string> reasons = unserved_types(problem.row_major());
    std::ranges::move(unserved_8_bits(problem.asked), std::back_inserter(reasons));
    if (problem.signature.epilogue)
        std::ranges::move(unserved_epilogue(*problem.signature.epilogue, problem.transposed),
                          std::back_inserter(reasons));
    if (has_pairs(problem.signature) && !serves.pairs)
        reasons.push_back(fmt::format("{} makes no element of D of two columns (left, right, even, odd)", family));
    if (has_block_scales(problem.signature) && !serves.block_scales)
        reasons.push_back(fmt::format("{} scales no blocks of K", family));
    if (has_blocks_of_d(problem.signature) && !serves.blocks_of_d) {
        const EpilogueOutput& output = *outputs_for_blocks(problem.signature.epilogue->parts()).front();
        reasons.push_back(fmt::format("{} does not make {}, an element for a block of D: this needs wgmma", family,
                                      with_index(output.name, output.index)));
    }
    if (problem.signature.symmetric && !serves.symmetric)
        reasons.push_back(fmt::format("{} computes no symmetric product", family));
    std::ranges::move(unserved_batch(family, problem.signature, serves), std::back_inserter(reasons));
    return reasons;
}

/// The statements by which an entry begins while the previous kernel ends, and waits for it: none where it doesn't. All
/// entries share them, so an entry that waits later has other statements. Blocks of a batch go on to their problem.
/// `batched` is false for groups of rows, whose blocks find their group later.
void add_launch_order(RenderInput& input, bool programmatic_launch, bool batched) {
    std::string text = programmatic_launch ? "launch_dependent_grids();\nwait_on_dependent_grids();\n" : "";
    if (batched) text += "if (!move_to_problem_of_block(args)) return;\n";
    input.generated.emplace("GEMM_LAUNCH_ORDER", std::move(text));
}

/// How blocks find their group, in kernels whose blocks have one tile.
std::string groups_include(const GemmSignature& s) {
    if (s.grouped) return "#include \"scheduler/group_tiles.cuh\"\n";
    return s.grouped_by_k ? "#include \"scheduler/group_k_range.cuh\"\n" : "";
}

/// The section of a dump that a generated include belongs to: the folder it would lie in.
std::string_view section_of_generated(std::string_view name) {
    if (name == "epilogue_expression.cuh" || name == "finish_vector.cuh") return "epilogue";
    if (name == "gemm_args.cuh" || name == "workspace.cuh") return "common";
    return name.ends_with("_atom.cuh") || name.ends_with("cp_async.cuh") ? "ptx" : "parameters";
}

/// But for those that begin with a ruler of their family's.
void add_rulers(RenderInput& input) {
    constexpr std::string_view kRuler = "// ---- ";
    for (auto& [name, text] : input.generated)
        if (name.ends_with(".cuh") && !text.empty() && !text.starts_with(kRuler))
            text.insert(0, fmt::format("{}{}\n", kRuler, section_of_generated(name)));
}

/// A typed family behind the functions that everybody else calls: each takes its own struct out of the config.
template <typename Typed>
struct Adapter {
    using Config = typename Typed::Config;
    static const Config& own(const KernelConfig& config) { return std::get<Config>(config.family); }

    static std::vector<KernelConfig> wrapped(const std::vector<Config>& own_configs) {
        std::vector<KernelConfig> configs;
        configs.reserve(own_configs.size());
        for (const Config& config : own_configs) configs.push_back({config});
        return configs;
    }
    static std::vector<KernelConfig> candidates(const Problem& problem, const GpuModel& gpu) {
        return with_expected(problem, [&](const Problem& seen) { return wrapped(Typed::candidates(seen, gpu)); });
    }
    /// A family without groups is one group.
    static std::vector<CandidateGroup<KernelConfig>> groups(const Problem& problem, const GpuModel& gpu) {
        return with_expected(problem, [&](const Problem& seen) { return groups_of(seen, gpu); });
    }
    static std::vector<CandidateGroup<KernelConfig>> groups_of(const Problem& problem, const GpuModel& gpu) {
        std::vector<CandidateGroup<KernelConfig>> groups;
        if constexpr (requires { &Typed::groups; })
            for (const CandidateGroup<Config>& group : Typed::groups(problem, gpu))
                groups.push_back({group.least_us, {group.tile}});
        else
            groups.push_back({0, {Config{}}});
        return groups;
    }
    static std::vector<KernelConfig> candidates_of(const Problem& problem, const KernelConfig& tile,
                                                   const GpuModel& gpu, double limit_us) {
        return with_expected(problem, [&](const Problem& seen) {
            std::vector<Config> list;
            if constexpr (requires { &Typed::groups; })
                Typed::add_candidates(list, seen, own(tile), gpu, limit_us);
            else
                list = Typed::candidates(seen, gpu);
            return wrapped(list);
        });
    }
    static Config settled(Config config, const ParameterMap& given) {
        if constexpr (requires { Typed::settle(config, given); }) Typed::settle(config, given);
        return config;
    }
    static constexpr std::span<const RemovedOption> removed_options() {
        if constexpr (requires { Typed::kRemovedOptions; }) return Typed::kRemovedOptions;
        return {};
    }
    static KernelConfig parse_config_name(std::string_view name) {
        refuse_removed_options(removed_options(), name);
        return {settled(parse_config_name_by_table(Typed::parameter_table(), name), {})};
    }
    static KernelConfig with_parameters(const KernelConfig& config, const ParameterMap& given) {
        refuse_removed_options(removed_options(), given);
        return {settled(with_parameters_by_table(Typed::kName, Typed::parameter_table(), own(config), given), given)};
    }

    static constexpr std::string_view name_in_kernels() {
        if constexpr (requires { Typed::kNameInKernels; }) return Typed::kNameInKernels;
        return Typed::kName;
    }

    static constexpr MathInstruction math_instruction() {
        if constexpr (requires { Typed::kMathInstruction; }) return Typed::kMathInstruction;
        return Typed::kMathUnit == MathUnit::fp32_cores ? MathInstruction::fma : MathInstruction::mma;
    }

    static constexpr FamilyServes serves() {
        if constexpr (requires { Typed::kServes; }) return Typed::kServes;
        return {};
    }

    static std::vector<std::string_view> parameter_names() {
        std::vector<std::string_view> names;
        for (const ConfigParameter<Config>& row : Typed::parameter_table()) names.push_back(row.name);
        return names;
    }

    static bool is_untimed(const KernelConfig& config) {
        if constexpr (requires { Typed::is_untimed(own(config)); }) return Typed::is_untimed(own(config));
        return false;
    }

    static SumOrder sum_order(DataType operands, const KernelConfig& config) {
        if constexpr (requires { Typed::sum_order(operands, own(config)); })
            return Typed::sum_order(operands, own(config));
        else
            return {};
    }

    static constexpr bool (*selected_by_default())(const Problem&) {
        if constexpr (requires { &Typed::selected_by_default; }) return Typed::selected_by_default;
        return nullptr;
    }

    static CostEstimate cost(const Problem& problem, const KernelConfig& config, const GpuModel& gpu) {
        const CostEstimate estimate = with_expected(problem, [&](const Problem& seen) {
            if constexpr (requires { typename Typed::Costs; })
                return Typed::cost(seen, own(config), gpu, Typed::Costs::of(gpu));
            else
                return Typed::cost(seen, own(config), gpu);
        });
        return with_reductions(estimate, problem, config, gpu);
    }
    static CostEstimate with_reductions(CostEstimate estimate, const Problem& problem, const KernelConfig& config,
                                        const GpuModel& gpu) {
        if (!has_reductions(problem.signature)) return estimate;
        const double added = reduction_us(problem, part_tile(problem.signature, config), gpu);
        estimate.overhead_us += added;
        estimate.total_us += added;
        return estimate;
    }
    static constexpr CostConstants (*cost_constants())(const GpuModel&) {
        if constexpr (requires { typename Typed::Costs; })
            return [](const GpuModel& gpu) {
                CostConstants constants;
                for (const double value : Typed::Costs::of(gpu).values())
                    constants.push_back({Typed::Costs::kSection.fields[constants.size()].name, value});
                return constants;
            };
        return nullptr;
    }
    static constexpr CostByConstants (*cost_by_constants())(const Problem&, const KernelConfig&, const GpuModel&) {
        if constexpr (requires { typename Typed::Costs; })
            return [](const Problem& problem, const KernelConfig& config, const GpuModel& gpu) -> CostByConstants {
                return [problem, config, gpu](const CostConstants& constants) {
                    std::vector<double> values;
                    for (const CostConstant& one : constants) values.push_back(one.value);
                    const CostEstimate estimate = with_expected(problem, [&](const Problem& seen) {
                        return Typed::cost(seen, own(config), gpu, typename Typed::Costs(values));
                    });
                    return with_reductions(estimate, problem, config, gpu);
                };
            };
        return nullptr;
    }

    static double compile_ms(const KernelConfig& config) {
        if constexpr (requires { Typed::compile_ms(own(config)); }) return Typed::compile_ms(own(config));
        return kUsualCompileCost.base_ms;
    }

    static std::int64_t counter_bytes(const Problem& problem, const KernelConfig& config) {
        if constexpr (requires { &Typed::counter_bytes; }) return Typed::counter_bytes(problem, own(config));
        return 0;
    }

    /// The family's own, and the one that combines the parts of reductions.
    static std::vector<KernelEntry> entries(const GemmSignature& signature, const KernelConfig& config) {
        std::vector<KernelEntry> all = Typed::entries(signature, own(config));
        if (has_reductions(signature)) add_reducing_entries(all, part_tile(signature, config));
        if (signature.batched) make_batched(all, signature);
        return all;
    }
    static PartTile part_tile(const GemmSignature& signature, const KernelConfig& config) {
        if constexpr (requires { &Typed::part_tile; }) return Typed::part_tile(signature, own(config));
        return kStoredValues;
    }

    /// The struct of arguments is printed here, from what the host passes: all entries of a kernel take the same.
    static RenderInput render_input(const GemmSignature& signature, const KernelConfig& config) {
        RenderInput input = Typed::render_input(signature, own(config));
        const std::vector<KernelEntry> all = entries(signature, config);
        input.generated["gemm_args.cuh"] = arguments_text(all.front().arguments, signature);
        if (has_reductions(signature)) add_reductions(input, signature, part_tile(signature, config));
        if (signature.epilogue) input.generated["finish_vector.cuh"] = epilogue_vector(*signature.epilogue);
        add_launch_order(input, all.front().programmatic_launch, signature.batched && !signature.grouped);
        input.generated["groups.inl"] = groups_include(signature);
        input.macros["GEMM_BATCHED"] = signature.batched;
        input.macros["GEMM_NESTED"] = signature.nested;
        input.macros["GEMM_GROUPED"] = signature.grouped;
        input.macros["GEMM_GROUPED_BY_K"] = signature.grouped_by_k;
        input.macros["GEMM_GATHERED"] = signature.gathered;
        add_rulers(input);
        return input;
    }

    /// Returns why this family does not serve the problem. Properties that few families serve are checked here, the
    /// others in the family.
    static std::vector<std::string> unsupported(const Problem& problem, const Arch& arch) {
        std::vector<std::string> reasons = unserved(Typed::kName, problem, serves());
        return reasons.empty() ? Typed::unsupported(problem, arch) : reasons;
    }
    static std::vector<std::string> violations(const Problem& problem, const KernelConfig& config, const Arch& arch) {
        std::vector<std::string> reasons = unserved(Typed::kName, problem, serves());
        if (reasons.empty()) reasons = Typed::violations(problem, own(config), arch);
        check_sum_order(reasons, problem.row_major(), sum_order(multiplied_type(problem.row_major()), config), arch);
        return reasons;
    }

    static constexpr Family row() {
        return {
            .name = Typed::kName,
            .name_in_kernels = name_in_kernels(),
            .summary = Typed::kSummary,
            .math_unit = Typed::kMathUnit,
            .math_instruction = math_instruction(),
            .selected_by_default = selected_by_default(),
            .unsupported = unsupported,
            .candidates = candidates,
            .groups = groups,
            .candidates_of = candidates_of,
            .violations = violations,
            .discouraged =
                [](const Problem& problem, const KernelConfig& config) {
                    return with_expected(problem,
                                         [&](const Problem& seen) { return Typed::discouraged(seen, own(config)); });
                },
            .is_untimed = is_untimed,
            .sum_order = sum_order,
            .anatomy = [](const Problem& problem,
                          const KernelConfig& config) { return Typed::anatomy(problem, own(config)); },
            .cost = cost,
            .cost_constants = cost_constants(),
            .cost_by_constants = cost_by_constants(),
            .compile_ms = compile_ms,
            .config_name =
                [](const KernelConfig& config) { return config_name_by_table(Typed::parameter_table(), own(config)); },
            .parse_config_name = parse_config_name,
            .parameter_names = parameter_names,
            .parameters =
                [](const KernelConfig& config) { return parameters_by_table(Typed::parameter_table(), own(config)); },
            .parameters_text =
                [](const KernelConfig& config) {
                    return parameters_text_by_table(Typed::parameter_table(), own(config));
                },
            .with_parameters = with_parameters,
            .template_file = Typed::kTemplateFile,
            .render_input = render_input,
            .entries = entries,
            .part_tile = part_tile,
            .workspace_bytes = [](const Problem& problem,
                                  const KernelConfig& config) { return Typed::workspace_bytes(problem, own(config)); },
            .counter_bytes = counter_bytes,
            .owner = [](const Problem& problem, const KernelConfig& config, std::int64_t row,
                        std::int64_t column) { return Typed::owner(problem, own(config), row, column); }};
    }
};

template <typename... Typed>
constexpr std::array<Family, sizeof...(Typed)> rows(FamilyList<Typed...> /*families*/) {
    return {Adapter<Typed>::row()...};
}

/// In the order of KernelConfig's variant, as both come from one list.
constexpr auto kFamilies = rows(AllFamilies());

}  // namespace

std::span<const Family> family_table() { return kFamilies; }

const Family& find_family(std::string_view name) {
    std::vector<std::string_view> names;
    for (const Family& family : kFamilies) {
        if (family.name == name) return family;
        names.push_back(family.name);
    }
    throw ConfigError("kernel family",
                      {fmt::format("'{}' is none of {}{}", name, join_names(names), nearest_hint(name, names))});
}

const Family& family_of(const KernelConfig& config) { return kFamilies[config.family.index()]; }

WorkspaceLayout workspace_layout(const Problem& problem, const KernelConfig& config) {
    constexpr std::size_t kBoundary = 256;  // of the counters and of parts of reductions
    const Family& family = family_of(config);
    const auto bytes = static_cast<std::size_t>(family.workspace_bytes(problem, config)) *
                       static_cast<std::size_t>(problem.row_major().batch);
    const auto counters = static_cast<std::size_t>(family.counter_bytes(problem, config));
    const bool reduces = has_reductions(problem.signature);
    const std::size_t before = reduces ? round_up(bytes, kBoundary) : bytes;
    const auto parts = reduces ? part_bytes(problem, family.part_tile(problem.signature, config)) : 0;
    const std::size_t overwritten = before + static_cast<std::size_t>(parts);
    return {.bytes = counters == 0 ? overwritten : round_up(overwritten, kBoundary) + counters,
            .counters = counters,
            .reduction_parts = before};
}

}  // namespace jitgemm
