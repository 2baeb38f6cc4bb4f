#pragma once

#include "jitgemm/error.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

/// \file Structs ⇄ JSON by a table of their fields, one table for both directions:
///
///     template <>
///     inline constexpr auto kFields<DeviceReading> = std::tuple{
///         Field{"sm_clock_mhz", &DeviceReading::sm_clock_mhz}, ...};
///
/// Reading wants every field, of its type and within its range, and ignores others: a newer program may have more to
/// say.

namespace jitgemm::tuning {

using Json = nlohmann::ordered_json;

template <typename Record, typename Value>
struct Field {
    std::string_view name;
    Value Record::*member;
};
template <typename Record, typename Value>
Field(const char*, Value Record::*) -> Field<Record, Value>;

template <typename Record>
inline constexpr auto kFields = std::tuple{};

template <typename Record>
concept HasFields = std::tuple_size_v<std::remove_cvref_t<decltype(kFields<Record>)>>
!= 0;

/// A value that is written as one word. Specialise it with `static std::string text(const T&)` and `static T
/// parse(const std::string&)`, which throws Error for an unknown word.
template <typename T>
struct WordOf;

template <typename T>
concept Worded = requires(const T& value, const std::string& word) {
    { WordOf<T>::text(value) } -> std::convertible_to<std::string>;
    { WordOf<T>::parse(word) } -> std::convertible_to<T>;
};

template <>
struct WordOf<GemmSpec> {
    static std::string text(const GemmSpec& spec) { return to_string(spec); }
    static GemmSpec parse(const std::string& word) { return parse_gemm_spec(word); }
};

// ---- writing --------------------------------------------------------------------------------------------------------

template <typename T>
[[nodiscard]] Json json_of(const std::optional<T>& value);
template <typename T>
[[nodiscard]] Json json_of(const std::vector<T>& values);

template <typename T>
[[nodiscard]] Json json_of(const T& value) {
    if constexpr (Worded<T>) {
        return WordOf<T>::text(value);
    } else if constexpr (HasFields<T>) {
        Json object = Json::object();
        const auto add = [&](const auto& field) { object[std::string(field.name)] = json_of(value.*field.member); };
        std::apply([&](const auto&... fields) { (add(fields), ...); }, kFields<T>);
        return object;
    } else {
        return value;
    }
}

template <typename T>
[[nodiscard]] Json json_of(const std::optional<T>& value) {
    return value ? json_of(*value) : Json();
}

template <typename T>
[[nodiscard]] Json json_of(const std::vector<T>& values) {
    Json array = Json::array();
    for (const T& value : values) array.push_back(json_of(value));
    return array;
}

// ---- reading: `place` is what an error calls the value, "samples[3].before.power_watts" -----------------------------

[[noreturn]] inline void throw_misfit(const std::string& place, std::string_view expected, const Json& found) {
    const std::string text = found.dump(-1, ' ', false, Json::error_handler_t::replace);
    throw Error(fmt::format("{} is {}: expected {}", place, text.substr(0, 80), expected));
}

template <typename T>
void read_json(const Json& json, const std::string& place, T& value);
template <typename T>
void read_json(const Json& json, const std::string& place, std::optional<T>& value);
template <typename T>
void read_json(const Json& json, const std::string& place, std::vector<T>& values);

template <std::integral T>
void read_number(const Json& json, const std::string& place, T& value) {
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) throw_misfit(place, "a whole number in the field's range", json);
    value = json.get<T>();
}

template <typename Record>
void read_fields(const Json& json, const std::string& place, Record& record) {
    if (!json.is_object()) throw_misfit(place.empty() ? "the record" : place, "an object", json);
    const auto read = [&](const auto& field) {
        const std::string inner = place.empty() ? std::string(field.name) : fmt::format("{}.{}", place, field.name);
        const auto found = json.find(std::string(field.name));
        if (found == json.end()) throw Error(inner + " is missing");
        read_json(*found, inner, record.*field.member);
    };
    std::apply([&](const auto&... fields) { (read(fields), ...); }, kFields<Record>);
}

template <typename T>
void read_word(const Json& json, const std::string& place, T& value) {
    if (!json.is_string()) throw_misfit(place, "text", json);
    try {
        value = WordOf<T>::parse(json.get<std::string>());
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", place, error.what()));
    }
}

template <typename T>
void read_json(const Json& json, const std::string& place, std::optional<T>& value) {
    value.reset();
    if (!json.is_null()) read_json(json, place, value.emplace());
}

template <typename T>
void read_json(const Json& json, const std::string& place, std::vector<T>& values) {
    if (!json.is_array()) throw_misfit(place, "an array", json);
    values.assign(json.size(), T{});
    for (std::size_t i = 0; i < values.size(); ++i) read_json(json[i], fmt::format("{}[{}]", place, i), values[i]);
}

template <typename T>
void read_json(const Json& json, const std::string& place, T& value) {
    if constexpr (Worded<T>) {
        read_word(json, place, value);
    } else if constexpr (HasFields<T>) {
        read_fields(json, place, value);
    } else if constexpr (std::same_as<T, bool>) {
        if (!json.is_boolean()) throw_misfit(place, "true or false", json);
        value = json.get<bool>();
    } else if constexpr (std::integral<T>) {
        read_number(json, place, value);
    } else if constexpr (std::floating_point<T>) {
        if (!json.is_number()) throw_misfit(place, "a number", json);
        value = json.get<T>();
    } else {
        static_assert(std::same_as<T, std::string>, "this type needs a table of fields or a word");
        if (!json.is_string()) throw_misfit(place, "text", json);
        value = json.get<std::string>();
    }
}

}  // namespace jitgemm::tuning
