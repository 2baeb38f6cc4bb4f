#include "generator/families/mma_multistage/family.hpp"

#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/shared/stream_k.hpp"

#include <array>

namespace jitgemm {
namespace {

using Config = MmaMultistageConfig;

constexpr int kUsualGroup = 8;
constexpr std::array<std::string_view, 4> kPackNames{"none", "a", "b", "ab"};  // by Pack's value

bool read_shared(TextReader& reader, Config& config) {
    if (reader.take("swizzle")) return config.shared_layout = SharedLayout::swizzle, true;
    if (reader.take("padding")) return config.shared_layout = SharedLayout::padding, true;
    return false;
}

bool read_store(TextReader& reader, Config& config) {
    if (reader.take("smem")) return config.store = EpilogueStore::shared, true;
    if (reader.take("reg")) return config.store = EpilogueStore::registers, true;
    return false;
}

bool read_reduction(TextReader& reader, Config& config) {
    if (reader.take("workspace")) return config.reduction = Reduction::workspace, true;
    if (reader.take("cluster")) return config.reduction = Reduction::cluster, true;
    return false;
}

bool read_pack(TextReader& reader, Config& config) {
    for (const Pack pack : {Pack::none, Pack::ab, Pack::a, Pack::b})  // "ab" before its first letter
        if (reader.take(kPackNames[static_cast<std::size_t>(pack)])) return config.pack = pack, true;
    return false;
}

constexpr std::array<ConfigParameter<Config>, 16> kParameters{{
    {"block", "", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.block); },
     [](const Config& c) { return shape_text(c.block); }},
    {"warp", "warp", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.warp); },
     [](const Config& c) { return shape_text_2d(c.warp); }},
    {"mma", "mma", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.mma); },
     [](const Config& c) { return shape_text(c.mma); }, "16x8x16"},
    {"stages", "stages", "a number", [](TextReader& r, Config& c) { return r.take_number(c.stages); },
     [](const Config& c) { return std::to_string(c.stages); }},
    {"ldsm_a", "ldsma", "1, 2 or 4", [](TextReader& r, Config& c) { return r.take_number(c.ldmatrix_a); },
     [](const Config& c) { return std::to_string(c.ldmatrix_a); }, "4"},
    {"ldsm_b", "ldsmb", "1, 2 or 4", [](TextReader& r, Config& c) { return r.take_number(c.ldmatrix_b); },
     [](const Config& c) { return std::to_string(c.ldmatrix_b); }, "4"},
    {"shared", "shared-", "swizzle or padding", read_shared,
     [](const Config& c) { return std::string(c.shared_layout == SharedLayout::swizzle ? "swizzle" : "padding"); },
     "swizzle"},
    {"double_buffer", "db", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.double_buffer); },
     [](const Config& c) { return flag_text(c.double_buffer); }, "1"},
    {"rasterization", "raster-", "row, column, grouped_m, grouped_n or zigzag",
     [](TextReader& r, Config& c) { return read_rasterization_name(r, c.rasterization); },
     [](const Config& c) { return std::string(rasterization_name(c.rasterization)); }, "grouped_m"},
    {"group", "group", "a number", [](TextReader& r, Config& c) { return r.take_number(c.group); },
     [](const Config& c) { return std::to_string(c.group); }, "8"},
    {"store", "store-", "smem or reg", read_store,
     [](const Config& c) { return std::string(c.store == EpilogueStore::shared ? "smem" : "reg"); }, "smem"},
    {"split_k", "split", "a number", [](TextReader& r, Config& c) { return r.take_number(c.split_k); },
     [](const Config& c) { return std::to_string(c.split_k); }, "1"},
    {"reduction", "", "workspace or cluster", read_reduction,
     [](const Config& c) { return std::string(c.reduction == Reduction::cluster ? "cluster" : "workspace"); },
     "workspace"},
    {"pack", "pack", "none, a, b or ab", read_pack,
     [](const Config& c) { return std::string(kPackNames[static_cast<std::size_t>(c.pack)]); }, "none"},
    stream_k_parameter<Config>(),
    dependent_launch_parameter<Config>(),
}};

}  // namespace

std::span<const ConfigParameter<Config>> MmaMultistage::parameter_table() { return kParameters; }

void MmaMultistage::settle(Config& config, const ParameterMap& given) {
    config.warp.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
}

}  // namespace jitgemm
