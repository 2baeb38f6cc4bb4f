#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/stream_k.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wgmma_warp_specialized/geometry.hpp"

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

using Config = WgmmaWarpSpecializedConfig;

constexpr int kUsualGroup = 8;

constexpr std::array<std::string_view, 3> kScheduleNames{"cooperative", "pingpong", "overlapped"};  // by value

constexpr std::array<std::string_view, 3> kStoreNames{"tma", "smem", "reg"};  // by value

std::string schedule_name(const Config& config) {
    return std::string(kScheduleNames[static_cast<std::size_t>(config.schedule)]);
}

bool read_schedule(TextReader& reader, Config& config) {
    for (std::size_t i = 0; i < kScheduleNames.size(); ++i)
        if (reader.take(kScheduleNames[i])) return config.schedule = static_cast<WarpgroupSchedule>(i), true;
    return false;
}

bool read_store(TextReader& reader, Config& config) {
    for (std::size_t i = 0; i < kStoreNames.size(); ++i)
        if (reader.take(kStoreNames[i])) return config.store = static_cast<OutputStore>(i), true;
    return false;
}

/// Rows of the block tile, as few as a wgmma has where consumers share them, and all its columns.
std::string usual_warpgroup(const Config& config) {
    switch (config.schedule) {
        case WarpgroupSchedule::cooperative: return shape_text_2d({kWgmmaM, config.block.n, 0});
        case WarpgroupSchedule::pingpong: return shape_text_2d(config.block);
        case WarpgroupSchedule::overlapped: return shape_text_2d({config.block.m / 2, config.block.n, 0});
    }
    std::abort();
}

constexpr std::array<std::string_view, 4> kEarlyNames{"none", "a", "b", "ab"};

std::string early_name(const Config& config) {
    return std::string(kEarlyNames[(config.early_a ? 1 : 0) + (config.early_b ? 2 : 0)]);
}

bool read_early(TextReader& reader, Config& config) {
    const auto found = std::ranges::find(kEarlyNames, reader.rest());
    if (found == kEarlyNames.end()) return false;
    config.early_a = *found == "a" || *found == "ab";
    config.early_b = *found == "b" || *found == "ab";
    return reader.take(*found);
}

constexpr std::array<ConfigParameter<Config>, 14> kParameters{{
    {"block", "", "<M>x<N>x<K>", [](TextReader& r, Config& c) { return r.take_shape(c.block); },
     [](const Config& c) { return shape_text(c.block); }},
    {"cluster", "", "<M>x<N>", [](TextReader& r, Config& c) { return r.take_shape_2d(c.cluster); },
     [](const Config& c) { return shape_text_2d(c.cluster); }, "1x1"},
    {"schedule", "", "cooperative, pingpong or overlapped", read_schedule, schedule_name, "cooperative"},
    {"warpgroup",
     "wg",
     "<M>x<N>",
     [](TextReader& r, Config& c) { return r.take_shape_2d(c.warpgroup); },
     [](const Config& c) { return shape_text_2d(c.warpgroup); },
     {},
     usual_warpgroup},
    {"swap_ab", "swapab", kFlagExpected, [](TextReader& r, Config& c) { return r.take_flag(c.swap_ab); },
     [](const Config& c) { return flag_text(c.swap_ab); }, "0"},
    {"stages", "stages", "a number", [](TextReader& r, Config& c) { return r.take_number(c.stages); },
     [](const Config& c) { return std::to_string(c.stages); }},
    {"swizzle", "swizzle", "32, 64 or 128", [](TextReader& r, Config& c) { return r.take_number(c.swizzle); },
     [](const Config& c) { return std::to_string(c.swizzle); }, "128"},
    {"rasterization", "raster-", "row, column, grouped_m, grouped_n or zigzag",
     [](TextReader& r, Config& c) { return read_rasterization_name(r, c.rasterization); },
     [](const Config& c) { return std::string(rasterization_name(c.rasterization)); }, "grouped_m"},
    {"group", "group", "a number", [](TextReader& r, Config& c) { return r.take_number(c.group); },
     [](const Config& c) { return std::to_string(c.group); }, "8"},
    {"store", "", "tma, smem or reg", read_store,
     [](const Config& c) { return std::string(kStoreNames[static_cast<std::size_t>(c.store)]); }, "tma"},
    {"slices", "slices", "a number", [](TextReader& r, Config& c) { return r.take_number(c.slices); },
     [](const Config& c) { return std::to_string(c.slices); }, "2"},
    stream_k_parameter<Config>(),
    dependent_launch_parameter<Config>("1"),
    {"early", "early", "none, a, b or ab", read_early, early_name, "none"},
}};

}  // namespace

std::span<const ConfigParameter<Config>> WgmmaWarpSpecialized::parameter_table() { return kParameters; }

void WgmmaWarpSpecialized::settle(Config& config, const ParameterMap& given) {
    config.warpgroup.k = config.block.k;
    settle_group(config.rasterization, config.group, kUsualGroup, given);
}

}  // namespace jitgemm
