#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/simt_hierarchical/family.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = SimtHierarchicalConfig;

bool read_copy(TextReader& reader, Config& config) {
    if (reader.take("async")) return config.copy = CopyPath::async, true;
    if (reader.take("reg")) return config.copy = CopyPath::registers, true;
    return false;
}

constexpr std::array<std::string_view, 3> kOrderNames{"left", "right", "even"};

bool read_order(TextReader& reader, Config& config) {
    for (std::size_t i = 0; i < kOrderNames.size(); ++i)
        if (reader.take(kOrderNames[i])) return config.order = static_cast<UpdateOrder>(i), true;
    return false;
}

bool read_store(TextReader& reader, Config& config) {
    if (reader.take("smem")) return config.store = EpilogueStore::shared, true;
    if (reader.take("reg")) return config.store = EpilogueStore::registers, true;
    return false;
}

constexpr int kUsualGroup = 8;
constexpr std::array<ConfigParameter<Config>, 17> kParameters{{
    {"block", "", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.block); },
     [](const Config& c) { return shape_text(c.block); }},
    {"warp", "", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.warp); },
     [](const Config& c) { return shape_text_2d(c.warp); }},
    {"thread", "", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.thread); },
     [](const Config& c) { return shape_text_2d(c.thread); }},
    {"stages", "stages", "a number", [](TextReader& r, Config& c) { return r.take_number(c.stages); },
     [](const Config& c) { return std::to_string(c.stages); }},
    {"copy", "", "async or reg", read_copy,
     [](const Config& c) { return std::string(c.copy == CopyPath::async ? "async" : "reg"); }, "async"},
    {"double_buffer", "db", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.double_buffer); },
     [](const Config& c) { return flag_text(c.double_buffer); }, "1"},
    {"order", "", "left, right or even", read_order,
     [](const Config& c) { return std::string(kOrderNames[static_cast<std::size_t>(c.order)]); }, "left"},
    {"k_lanes", "kl", "a number", [](TextReader& r, Config& c) { return r.take_number(c.k_lanes); },
     [](const Config& c) { return std::to_string(c.k_lanes); }, "8"},
    {"copy_slices", "sl", "a number", [](TextReader& r, Config& c) { return r.take_number(c.copy_slices); },
     [](const Config& c) { return std::to_string(c.copy_slices); }, "8"},
    {"predicated", "pred", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.predicated); },
     [](const Config& c) { return flag_text(c.predicated); }, "1"},
    {"min_blocks_per_sm", "occ", "a number",
     [](TextReader& r, Config& c) { return r.take_number(c.min_blocks_per_sm); },
     [](const Config& c) { return std::to_string(c.min_blocks_per_sm); }, "1"},
    {"store", "store-", "smem or reg", read_store,
     [](const Config& c) { return std::string(c.store == EpilogueStore::shared ? "smem" : "reg"); }, "reg"},
    {"rasterization", "raster-", "row, column, grouped_m, grouped_n or zigzag",
     [](TextReader& r, Config& c) { return read_rasterization_name(r, c.rasterization); },
     [](const Config& c) { return std::string(rasterization_name(c.rasterization)); }, "grouped_m"},
    {"group", "group", "a number", [](TextReader& r, Config& c) { return r.take_number(c.group); },
     [](const Config& c) { return std::to_string(c.group); }, "8"},
    {"split_k", "split", "a number", [](TextReader& r, Config& c) { return r.take_number(c.split_k); },
     [](const Config& c) { return std::to_string(c.split_k); }, "1"},
    {"blocks_per_wave", "wave", "a number", [](TextReader& r, Config& c) { return r.take_number(c.blocks_per_wave); },
     [](const Config& c) { return std::to_string(c.blocks_per_wave); }, "0"},
    dependent_launch_parameter<Config>(),
}};

}  // namespace

std::span<const ConfigParameter<Config>> SimtHierarchical::parameter_table() { return kParameters; }

void SimtHierarchical::settle(Config& config, const ParameterMap& given) {
    config.warp.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
}

}  // namespace jitgemm
