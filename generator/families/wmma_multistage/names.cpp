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
    {"block", "", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.block); },
     [](const Config& c) { return shape_text(c.block); }},
    {"warp", "warp", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.warp); },
     [](const Config& c) { return shape_text_2d(c.warp); }},
    {"mma", "mma", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.mma); },
     [](const Config& c) { return shape_text(c.mma); }, "16x16x16"},
    {"stages", "stages", "a number", [](TextReader& r, Config& c) { return r.take_number(c.stages); },
     [](const Config& c) { return std::to_string(c.stages); }},
    {"padding", "pad", "a number", [](TextReader& r, Config& c) { return r.take_number(c.padding); },
     [](const Config& c) { return std::to_string(c.padding); }, "8"},
    {"async", "async", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.async); },
     [](const Config& c) { return flag_text(c.async); }, "1"},
    {"cache", "cache-", "ca or cg", read_cache,
     [](const Config& c) { return std::string(c.cache == CopyCache::ca ? "ca" : "cg"); }, "cg"},
    {"l2_prefetch", "l2-", "a number", [](TextReader& r, Config& c) { return r.take_number(c.l2_prefetch); },
     [](const Config& c) { return std::to_string(c.l2_prefetch); }, "128"},
    {"double_buffer", "db", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.double_buffer); },
     [](const Config& c) { return flag_text(c.double_buffer); }, "1"},
    {"rasterization", "raster-", "row, column, grouped_m, grouped_n or zigzag",
     [](TextReader& r, Config& c) { return read_rasterization_name(r, c.rasterization); },
     [](const Config& c) { return std::string(rasterization_name(c.rasterization)); }, "zigzag"},
    {"group", "group", "a number", [](TextReader& r, Config& c) { return r.take_number(c.group); },
     [](const Config& c) { return std::to_string(c.group); }, "16"},
}};

}  // namespace

std::span<const ConfigParameter<Config>> WmmaMultistage::parameter_table() { return kParameters; }

void WmmaMultistage::settle(Config& config, const ParameterMap& given) {
    config.warp.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
}

}  // namespace jitgemm
