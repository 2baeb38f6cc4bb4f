#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/nearest_name.hpp"
#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitgemm {

/// A cursor over the text of a kernel name or of a parameter's value; every take* either consumes or leaves it where it was.
class TextReader {
public:
    explicit TextReader(std::string_view text) : rest_(text) {}
    [[nodiscard]] bool done() const { return rest_.empty(); }
    bool take(std::string_view word);
    /// A number of at most kLargestNumber.
    bool take_number(int& value);
    /// "1" or "true", "0" or "false".
    bool take_flag(bool& flag);
    /// "128x64x16".
    bool take_shape(TileShape& shape);
    /// "128x64": K stays.
    bool take_shape_2d(TileShape& shape);
    /// What a kernel's name has up to the next underscore, which is consumed as well.
    std::string_view take_token();

    /// Of any parameter: what follows from them must not overflow.
    static constexpr int kLargestNumber = 65536;

private:
    std::string_view rest_;
};

/// One parameter of a family whose configs are described by a table: name=value in --param, token + value in kernel names.
template <typename Config>
struct ConfigParameter {
    std::string_view name;
    std::string_view token;     ///< what stands before the value in a kernel's name: "stages" for "stages3"
    std::string_view expected;  ///< of a value, for errors
    bool (*read)(TextReader&, Config&);
    std::string (*write)(const Config&);
    std::string_view omitted_default{};  ///< the value that a kernel's name leaves out, token and all; empty: none
};

/// The text of every parameter by name.
template <typename Config>
[[nodiscard]] ParameterMap parameters_by_table(std::span<const ConfigParameter<Config>> table, const Config& config) {
    ParameterMap map;
    for (const ConfigParameter<Config>& row : table) map.emplace(row.name, row.write(config));
    return map;
}

/// Sets the named parameters. Throws ConfigError with every unknown name (the nearest offered) and malformed value.
template <typename Config>
[[nodiscard]] Config with_parameters_by_table(std::string_view family, std::span<const ConfigParameter<Config>> table,
                                              Config config, const ParameterMap& parameters) {
    std::vector<std::string_view> names;
    for (const ConfigParameter<Config>& row : table) names.push_back(row.name);
    std::vector<std::string> reasons;
    for (const auto& [name, value] : parameters) {
        std::size_t i = 0;
        while (i < names.size() && names[i] != name) ++i;
        if (i == names.size()) {
            reasons.push_back(fmt::format("{} has no parameter '{}'{}; it has {}", family, name,
                                          nearest_hint(name, names), join_names(names)));
            continue;
        }
        TextReader reader(value);
        if (!table[i].read(reader, config) || !reader.done())
            reasons.push_back(fmt::format("parameter {}: '{}' is not {}", name, value, table[i].expected));
    }
    if (!reasons.empty()) throw ConfigError("parameters", std::move(reasons));
    return config;
}

/// A value inside a kernel's name, where underscores part tokens: "grouped-m" of "grouped_m", and back.
[[nodiscard]] std::string value_in_name(std::string value);
[[nodiscard]] std::string value_from_name(std::string_view text);

/// The config's part of a kernel name: token and value of each parameter, in the table's order, with underscores between.
template <typename Config>
[[nodiscard]] std::string config_name_by_table(std::span<const ConfigParameter<Config>> table, const Config& config) {
    std::string name;
    for (const ConfigParameter<Config>& row : table) {
        const std::string value = row.write(config);
        if (!row.omitted_default.empty() && value == row.omitted_default) continue;
        name += fmt::format("{}{}{}", name.empty() ? "" : "_", row.token, value_in_name(value));
    }
    return name;
}

/// Reads what config_name_by_table wrote. Throws ConfigError naming the token and what was expected there.
template <typename Config>
[[nodiscard]] Config parse_config_name_by_table(std::span<const ConfigParameter<Config>> table, std::string_view name) {
    Config config;
    TextReader rest(name);
    for (const ConfigParameter<Config>& row : table) {
        TextReader ahead = rest;
        const std::string_view token = ahead.take_token();
        const bool named = token.starts_with(row.token);
        if (!named && !row.omitted_default.empty()) continue;
        rest = ahead;
        const std::string value = value_from_name(named ? token.substr(row.token.size()) : std::string_view{});
        TextReader reader(value);
        if (!named || !row.read(reader, config) || !reader.done())
            throw ConfigError("kernel name", {fmt::format("'{}' stands where {}<{}> is expected",
                                                          token.empty() ? "nothing" : token, row.token, row.expected)});
    }
    if (!rest.done())
        throw ConfigError("kernel name", {fmt::format("'{}' follows the last token of the config", rest.take_token())});
    return config;
}

/// Texts that several families' parameters share.
[[nodiscard]] std::string shape_text(const TileShape& shape);     ///< "128x64x16"
[[nodiscard]] std::string shape_text_2d(const TileShape& shape);  ///< "128x64"
[[nodiscard]] std::string flag_text(bool flag);                   ///< "1" or "0"

/// Names of the rasterizations: "row", "column", "grouped_m", "grouped_n", "zigzag".
[[nodiscard]] std::string_view rasterization_name(Rasterization rasterization);
bool read_rasterization_name(TextReader& reader, Rasterization& rasterization);
/// A rasterization without strips has no group, and one with strips needs one: what is given decides what is not. `usual` is
/// the group of strips that nobody named.
void settle_group(Rasterization rasterization, int& group, int usual, const ParameterMap& given);

}  // namespace jitgemm
