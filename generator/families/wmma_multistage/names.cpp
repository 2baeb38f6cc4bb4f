#include "generator/families/wmma_multistage/family.hpp"

#include "generator/families/shared/parameter_table.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = WmmaMultistageConfig;

constexpr int kUsualGroup = 16;

bool read_cache(TextReader& reader, Config& config) {
    if (reader.take("ca")) return config.cache = CopyCache::ca, true;
    if (reader.take("cg")) return config.cache = CopyCache::cg, true;
    return false;
}

constexpr std::array<ConfigParameter<Config>, 11> kParameters{{
    {"block", "block", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.block); },
     [](const Config& c) { return shape_text(c.block); }},
    {"warp", "warp", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.warp); },
     [](const Config& c) { return shape_text_2d(c.warp); }},
    {"mma", "mma", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.mma); },
     [](const Config& c) { return shape_text(c.mma); }},
    {"stages", "stages", "a number", [](TextReader& r, Config& c) { return r.take_number(c.stages); },
     [](const Config& c) { return std::to_string(c.stages); }},
    {"padding", "pad", "a number", [](TextReader& r, Config& c) { return r.take_number(c.padding); },
     [](const Config& c) { return std::to_string(c.padding); }},
    {"async", "async", "0, 1, false or true", [](TextReader& r, Config& c) { return r.take_flag(c.async); },
     [](const Config& c) { return flag_text(c.async); }},
    {"cache", "", "ca or cg", read_cache,
     [](const Config& c) { return std::string(c.cache == CopyCache::ca ? "ca" : "cg"); }},
    {"l2_prefetch", "l2-", "a number", [](TextReader& r, Config& c) { return r.take_number(c.l2_prefetch); },
     [](const Config& c) { return std::to_string(c.l2_prefetch); }},
    {"double_buffer", "db", "0, 1, false or true",
     [](TextReader& r, Config& c) { return r.take_flag(c.double_buffer); },
     [](const Config& c) { return flag_text(c.double_buffer); }},
    {"rasterization", "raster-", "row, column, grouped_m, grouped_n or zigzag",
     [](TextReader& r, Config& c) { return read_rasterization_name(r, c.rasterization); },
     [](const Config& c) { return std::string(rasterization_name(c.rasterization)); }},
    {"group", "group", "a number", [](TextReader& r, Config& c) { return r.take_number(c.group); },
     [](const Config& c) { return std::to_string(c.group); }},
}};
constexpr std::span<const ConfigParameter<Config>> kTable(kParameters);

}  // namespace

std::string WmmaMultistage::config_name(const GemmSignature&, const WmmaMultistageConfig& config) {
    return config_name_by_table(kTable, config);
}

WmmaMultistageConfig WmmaMultistage::parse_config_name(std::string_view name) {
    Config config = parse_config_name_by_table(kTable, name);
    config.warp.k = config.block.k;
    return {config};
}

ParameterMap WmmaMultistage::parameters(const WmmaMultistageConfig& config) {
    return parameters_by_table(kTable, config);
}

WmmaMultistageConfig WmmaMultistage::with_parameters(const WmmaMultistageConfig& config,
                                                     const ParameterMap& parameters) {
    Config changed = with_parameters_by_table("wmma_multistage", kTable, config, parameters);
    changed.warp.k = changed.block.k;
    settle_group(changed.rasterization, changed.group, kUsualGroup, parameters);
    return {changed};
}

}  // namespace jitgemm
