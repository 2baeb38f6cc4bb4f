#pragma once

#include "generator/base/gemm_signature.hpp"
#include "generator/base/tile_shape.hpp"
#include "generator/families/shared/parameter_map.hpp"
#include "generator/families/shared/rasterization.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitgemm {

/// A cursor over the text of a kernel name or of a parameter's value. A take function consumes its text or leaves the
/// cursor where it was.
class TextReader {
public:
    explicit TextReader(std::string_view text) : rest_(text) {}
    [[nodiscard]] bool done() const { return rest_.empty(); }
    [[nodiscard]] std::string_view rest() const { return rest_; }
    bool take(std::string_view word);
    /// A number of at most kLargestNumber.
    bool take_number(int& value);
    /// "1" or "true", "0" or "false".
    bool take_flag(bool& flag);
    /// "128x64x16".
    bool take_shape(TileShape& shape);
    /// "128x64": K stays.
    bool take_shape_2d(TileShape& shape);
    /// The longest of these names that stands here, as the value at its position.
    template <typename Enumeration, std::size_t kCount>
    bool take_one_of(const std::array<std::string_view, kCount>& names, Enumeration& value) {
        std::size_t longest = kCount;
        for (std::size_t i = 0; i < kCount; ++i)
            if (rest_.starts_with(names[i]) && (longest == kCount || names[i].size() > names[longest].size()))
                longest = i;
        if (longest == kCount) return false;
        value = static_cast<Enumeration>(longest);
        return take(names[longest]);
    }
    /// The name's text up to the next underscore, which is consumed as well.
    std::string_view take_token();

    /// The largest value of any parameter, so that products do not overflow. number_parameter's `expected` names it.
    static constexpr int kLargestNumber = 65536;

private:
    std::string_view rest_;
};

/// The expected values of a flag. In a kernel's name, its token alone means that it is set.
inline constexpr std::string_view kFlagExpected = "0, 1, false or true";

[[nodiscard]] std::string flag_text(bool flag);                   ///< "1" or "0"
[[nodiscard]] std::string shape_text(const TileShape& shape);     ///< "128x64x16"
[[nodiscard]] std::string shape_text_2d(const TileShape& shape);  ///< "128x64"

/// One parameter of a family whose configs are described by a table: name=value in --param, token + value in kernel
/// names.
template <typename Config>
struct ConfigParameter {
    std::string_view name;
    std::string_view token;     ///< the text before the value in a kernel's name: "stages" for "stages3"
    std::string_view expected;  ///< the values that are expected, for errors
    bool (*read)(TextReader&, Config&);
    std::string (*write)(const Config&);
    /// The published default: a kernel's name leaves the token and this value out. It never changes. Empty: there is
    /// none.
    std::string_view omitted_default{};
    /// Replaces omitted_default if the value that is left out follows from parameters of earlier rows.
    std::string (*derived_default)(const Config&) = nullptr;
};

// ---- rows for a member of the config --------------------------------------------------------------------------------

template <auto kMember>
struct MemberOf;
template <typename Owner, typename Value, Value Owner::*kMember>
struct MemberOf<kMember> {
    using Config = Owner;
};
template <auto kMember>
using RowOf = ConfigParameter<typename MemberOf<kMember>::Config>;

template <auto kMember>
[[nodiscard]] constexpr RowOf<kMember> number_parameter(std::string_view name, std::string_view token,
                                                        std::string_view omitted = {},
                                                        std::string_view expected = "a number up to 65536") {
    return {name,
            token,
            expected,
            [](TextReader& reader, auto& config) { return reader.take_number(config.*kMember); },
            [](const auto& config) { return std::to_string(config.*kMember); },
            omitted};
}

template <auto kMember>
[[nodiscard]] constexpr RowOf<kMember> flag_parameter(std::string_view name, std::string_view token,
                                                      std::string_view omitted) {
    return {name,
            token,
            kFlagExpected,
            [](TextReader& reader, auto& config) { return reader.take_flag(config.*kMember); },
            [](const auto& config) { return flag_text(config.*kMember); },
            omitted};
}

template <auto kMember>
[[nodiscard]] constexpr RowOf<kMember> shape_parameter(std::string_view name, std::string_view token,
                                                       std::string_view omitted = {}) {
    return {name,
            token,
            "<M>x<N>x<K>",
            [](TextReader& reader, auto& config) { return reader.take_shape(config.*kMember); },
            [](const auto& config) { return shape_text(config.*kMember); },
            omitted};
}

/// M by N. K stays as it is.
template <auto kMember>
[[nodiscard]] constexpr RowOf<kMember> shape_2d_parameter(std::string_view name, std::string_view token,
                                                          std::string_view omitted = {}) {
    return {name,
            token,
            "<M>x<N>",
            [](TextReader& reader, auto& config) { return reader.take_shape_2d(config.*kMember); },
            [](const auto& config) { return shape_text_2d(config.*kMember); },
            omitted};
}

/// An enumeration with the names of its values, in its order.
template <auto kMember, const auto& kNames>
[[nodiscard]] constexpr RowOf<kMember> word_parameter(std::string_view name, std::string_view token,
                                                      std::string_view expected, std::string_view omitted) {
    return {name,
            token,
            expected,
            [](TextReader& reader, auto& config) { return reader.take_one_of(kNames, config.*kMember); },
            [](const auto& config) { return std::string(kNames[static_cast<std::size_t>(config.*kMember)]); },
            omitted};
}

// ---- what a table makes of a config ---------------------------------------------------------------------------------

template <typename Config>
[[nodiscard]] bool may_be_omitted(const ConfigParameter<Config>& row) {
    return !row.omitted_default.empty() || row.derived_default != nullptr;
}

/// The value of a parameter that a name leaves out; earlier parameters are the config's. Empty: no name may leave it
/// out.
template <typename Config>
[[nodiscard]] std::string value_when_omitted(const ConfigParameter<Config>& row, const Config& config) {
    return row.derived_default != nullptr ? row.derived_default(config) : std::string(row.omitted_default);
}

/// The text of every parameter by name.
template <typename Config>
[[nodiscard]] ParameterMap parameters_by_table(std::span<const ConfigParameter<Config>> table, const Config& config) {
    ParameterMap map;
    for (const ConfigParameter<Config>& row : table) map.emplace(row.name, row.write(config));
    return map;
}

/// The same in the table's order: "block=128x128x32,warp=64x64,..."
template <typename Config>
[[nodiscard]] std::string parameters_text_by_table(std::span<const ConfigParameter<Config>> table,
                                                   const Config& config) {
    std::string text;
    for (const ConfigParameter<Config>& row : table)
        text += fmt::format("{}{}={}", text.empty() ? "" : ",", row.name, row.write(config));
    return text;
}

/// Sets the named parameters. Throws ConfigError with every unknown name (and the nearest one) and every malformed
/// value.
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

/// A value inside a kernel's name, where underscores separate tokens: "grouped-m" for "grouped_m", and back.
[[nodiscard]] std::string value_in_name(std::string value);
[[nodiscard]] std::string value_from_name(std::string_view text);

/// The config's part of a kernel name: token and value of each parameter, in the table's order, with underscores
/// between.
template <typename Config>
[[nodiscard]] std::string config_name_by_table(std::span<const ConfigParameter<Config>> table, const Config& config) {
    std::string name;
    for (const ConfigParameter<Config>& row : table) {
        const std::string value = row.write(config);
        if (may_be_omitted(row) && value == value_when_omitted(row, config)) continue;
        const bool is_set_flag = row.expected == kFlagExpected && value == flag_text(true);
        name += fmt::format("{}{}{}", name.empty() ? "" : "_", row.token,
                            is_set_flag ? std::string() : value_in_name(value));
    }
    return name;
}

/// The text for a parameter in error messages about names: "warp<M>x<N>", "stages<a number up to 65536>".
template <typename Config>
[[nodiscard]] std::string token_text(const ConfigParameter<Config>& row) {
    const bool framed = row.expected.starts_with('<');
    return fmt::format("{}{}{}{}", row.token, framed ? "" : "<", row.expected, framed ? "" : ">");
}

/// All of them in order, with brackets around the ones that a name may leave out.
template <typename Config>
[[nodiscard]] std::string tokens_text(std::span<const ConfigParameter<Config>> table) {
    std::string text;
    for (const ConfigParameter<Config>& row : table)
        text += fmt::format(fmt::runtime(may_be_omitted(row) ? "{}[{}]" : "{}{}"), text.empty() ? "" : ", ",
                            token_text(row));
    return text;
}

template <typename Config>
[[nodiscard]] bool read_value(const ConfigParameter<Config>& row, const std::string& value, Config& config) {
    TextReader reader(value);
    return row.read(reader, config) && reader.done();
}

/// The value after a row's token; empty if the token belongs to another row.
template <typename Config>
[[nodiscard]] std::string value_in_token(const ConfigParameter<Config>& row, std::string_view token) {
    if (row.expected == kFlagExpected && token == row.token) return flag_text(true);
    return token.starts_with(row.token) ? value_from_name(token.substr(row.token.size())) : std::string();
}

/// Whether a token of a name belongs to a row: by its beginning, or by its value if values stand alone.
template <typename Config>
[[nodiscard]] bool is_token_of(const ConfigParameter<Config>& row, std::string_view token) {
    Config any;
    return !token.empty() && token.starts_with(row.token) &&
           (!row.token.empty() || read_value(row, value_from_name(token), any));
}

/// Reads the text of config_name_by_table. Throws ConfigError with the token and the expected text.
template <typename Config>
[[nodiscard]] Config parse_config_name_by_table(std::span<const ConfigParameter<Config>> table, std::string_view name) {
    Config config;
    TextReader rest(name);
    for (const ConfigParameter<Config>& row : table) {
        TextReader ahead = rest;
        const std::string_view token = ahead.take_token();
        const bool omitted = may_be_omitted(row) && !is_token_of(row, token);
        if (!omitted) rest = ahead;
        if (!read_value(row, omitted ? value_when_omitted(row, config) : value_in_token(row, token), config))
            throw ConfigError("kernel name", {fmt::format("'{}' stands where {} is expected",
                                                          token.empty() ? "nothing" : token, token_text(row))});
    }
    if (!rest.done())
        throw ConfigError("kernel name", {fmt::format("'{}' is no token that may stand there; in this order: {}",
                                                      rest.take_token(), tokens_text(table))});
    return config;
}

inline constexpr std::array<std::string_view, 5> kRasterizationNames{"row", "column", "grouped_m", "grouped_n",
                                                                     "zigzag"};
template <auto kMember>
[[nodiscard]] constexpr RowOf<kMember> rasterization_parameter(std::string_view omitted) {
    return word_parameter<kMember, kRasterizationNames>("rasterization", "raster-",
                                                        "row, column, grouped_m, grouped_n or zigzag", omitted);
}
/// A rasterization without groups has no `group`, and one with groups needs it. Sets the parameter that is not given
/// from the one that is. `usual` is the group of a rasterization that was not named.
void settle_group(Rasterization rasterization, int& group, int usual, const ParameterMap& given);

}  // namespace jitgemm
