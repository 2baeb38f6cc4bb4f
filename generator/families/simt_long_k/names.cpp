#include "generator/families/shared/dependent_launch.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/simt_long_k/family.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr std::array<ConfigParameter<SimtLongKConfig>, 8> kLongKParameters{{
    {"thread", "thread", "<M>x<N>", [](TextReader& r, SimtLongKConfig& c) { return r.take_shape_2d(c.thread); },
     [](const SimtLongKConfig& c) { return shape_text_2d(c.thread); }},
    {"lanes", "lanes", "<M>x<N>x<K>", [](TextReader& r, SimtLongKConfig& c) { return r.take_shape(c.lanes); },
     [](const SimtLongKConfig& c) { return shape_text(c.lanes); }},
    {"block_k", "k", "a number", [](TextReader& r, SimtLongKConfig& c) { return r.take_number(c.block_k); },
     [](const SimtLongKConfig& c) { return std::to_string(c.block_k); }},
    {"warps", "warps", "a number", [](TextReader& r, SimtLongKConfig& c) { return r.take_number(c.warps); },
     [](const SimtLongKConfig& c) { return std::to_string(c.warps); }},
    {"stages", "stages", "a number", [](TextReader& r, SimtLongKConfig& c) { return r.take_number(c.stages); },
     [](const SimtLongKConfig& c) { return std::to_string(c.stages); }},
    {"min_blocks_per_sm", "occ", "a number",
     [](TextReader& r, SimtLongKConfig& c) { return r.take_number(c.min_blocks_per_sm); },
     [](const SimtLongKConfig& c) { return std::to_string(c.min_blocks_per_sm); }, "1"},
    {"split_k", "split", "a number", [](TextReader& r, SimtLongKConfig& c) { return r.take_number(c.split_k); },
     [](const SimtLongKConfig& c) { return std::to_string(c.split_k); }},
    dependent_launch_parameter<SimtLongKConfig>(),
}};

}  // namespace

std::span<const ConfigParameter<SimtLongKConfig>> SimtLongK::parameter_table() { return kLongKParameters; }

}  // namespace jitgemm
