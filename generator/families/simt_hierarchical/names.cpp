#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/simt_hierarchical/family.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

bool read_copy(TextReader& reader, Config& config) {
    if (reader.take("async")) return config.copy = CopyPath::async, true;
    if (reader.take("registers")) return config.copy = CopyPath::registers, true;
    return false;
}

constexpr std::array<std::string_view, 3> kOrderNames{"left", "right", "even"};

bool read_order(TextReader& reader, Config& config) {
    for (std::size_t i = 0; i < kOrderNames.size(); ++i)
        if (reader.take(kOrderNames[i])) return config.order = static_cast<UpdateOrder>(i), true;
    return false;
}

constexpr int kUsualGroup = 8;
constexpr std::string_view kFamily = "simt_hierarchical";
constexpr std::array<ConfigParameter<Config>, 15> kParameters{{
    {"block", "block", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.block); },
     [](const Config& c) { return shape_text(c.block); }},
    {"warp", "warp", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.warp); },
     [](const Config& c) { return shape_text_2d(c.warp); }},
    {"thread", "thread", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.thread); },
     [](const Config& c) { return shape_text_2d(c.thread); }},
    {"stages", "stages", "a number", [](TextReader& r, Config& c) { return r.take_number(c.stages); },
     [](const Config& c) { return std::to_string(c.stages); }},
    {"copy", "", "async or registers", read_copy,
     [](const Config& c) { return std::string(c.copy == CopyPath::async ? "async" : "registers"); }},
    {"double_buffer", "db", "0, 1, false or true",
     [](TextReader& r, Config& c) { return r.take_flag(c.double_buffer); },
     [](const Config& c) { return flag_text(c.double_buffer); }},
    {"order", "", "left, right or even", read_order,
     [](const Config& c) { return std::string(kOrderNames[static_cast<std::size_t>(c.order)]); }},
    {"k_lanes", "kl", "a number", [](TextReader& r, Config& c) { return r.take_number(c.k_lanes); },
     [](const Config& c) { return std::to_string(c.k_lanes); }},
    {"slices", "sl", "a number", [](TextReader& r, Config& c) { return r.take_number(c.slices); },
     [](const Config& c) { return std::to_string(c.slices); }},
    {"edges", "edges", "0, 1, false or true", [](TextReader& r, Config& c) { return r.take_flag(c.edges); },
     [](const Config& c) { return flag_text(c.edges); }},
    {"resident", "res", "a number", [](TextReader& r, Config& c) { return r.take_number(c.resident); },
     [](const Config& c) { return std::to_string(c.resident); }},
    {"rasterization", "raster-", "row, column, grouped_m, grouped_n or zigzag",
     [](TextReader& r, Config& c) { return read_rasterization_name(r, c.rasterization); },
     [](const Config& c) { return std::string(rasterization_name(c.rasterization)); }},
    {"group", "group", "a number", [](TextReader& r, Config& c) { return r.take_number(c.group); },
     [](const Config& c) { return std::to_string(c.group); }},
    {"split_k", "split", "a number", [](TextReader& r, Config& c) { return r.take_number(c.split_k); },
     [](const Config& c) { return std::to_string(c.split_k); }},
    {"wave", "wave", "a number", [](TextReader& r, Config& c) { return r.take_number(c.wave); },
     [](const Config& c) { return std::to_string(c.wave); }, "0"},
}};
constexpr std::span<const ConfigParameter<Config>> kTable = kParameters;

}  // namespace

std::string SimtHierarchical::config_name(const GemmSignature&, const SimtHierarchicalConfig& config) {
    return config_name_by_table(kTable, config);
}

SimtHierarchicalConfig SimtHierarchical::parse_config_name(std::string_view name) {
    Config config = parse_config_name_by_table(kTable, name);
    config.warp.k = config.block.k;
    return {config};
}

ParameterMap SimtHierarchical::parameters(const SimtHierarchicalConfig& config) {
    return parameters_by_table(kTable, config);
}

SimtHierarchicalConfig SimtHierarchical::with_parameters(const SimtHierarchicalConfig& config,
                                                         const ParameterMap& parameters) {
    Config changed = with_parameters_by_table(kFamily, kTable, config, parameters);
    changed.warp.k = changed.block.k;
    settle_group(changed.rasterization, changed.group, kUsualGroup, parameters);
    return {changed};
}

}  // namespace jitgemm
