#include "generator/families/shared/parameter_table.hpp"
#include "generator/families/simt_long_k/family.hpp"

#include <array>

namespace jitgemm {
namespace {

constexpr std::array<ConfigParameter<SimtLongKConfig>, 7> kLongKParameters{{
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
    {"resident", "res", "a number", [](TextReader& r, SimtLongKConfig& c) { return r.take_number(c.resident); },
     [](const SimtLongKConfig& c) { return std::to_string(c.resident); }},
    {"split_k", "split", "a number", [](TextReader& r, SimtLongKConfig& c) { return r.take_number(c.split_k); },
     [](const SimtLongKConfig& c) { return std::to_string(c.split_k); }},
}};
constexpr std::span<const ConfigParameter<SimtLongKConfig>> kLongKTable = kLongKParameters;

}  // namespace

std::string SimtLongK::config_name(const GemmSignature&, const SimtLongKConfig& config) {
    return config_name_by_table(kLongKTable, config);
}

SimtLongKConfig SimtLongK::parse_config_name(std::string_view name) {
    return parse_config_name_by_table(kLongKTable, name);
}

ParameterMap SimtLongK::parameters(const SimtLongKConfig& config) { return parameters_by_table(kLongKTable, config); }

SimtLongKConfig SimtLongK::with_parameters(const SimtLongKConfig& config, const ParameterMap& parameters) {
    return with_parameters_by_table("simt_long_k", kLongKTable, config, parameters);
}

}  // namespace jitgemm
