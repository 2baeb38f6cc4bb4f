#include "runtime/c_api/options_text.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "generator/base/trim.hpp"
#include "generator/text/nearest_name.hpp"
#include "generator/text/parse_number.hpp"
#include "runtime/c_api/find_row.hpp"
#include "runtime/c_api/status.hpp"
#include "runtime/support/absolute_name.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/on_miss_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace jitgemm::c_api {
namespace {

template <auto Member>
constexpr OptionKey word(std::string_view key) {
    return {key, [](Options& options, std::string_view value) { options.*Member = value; }};
}

template <auto Member>
constexpr OptionKey path(std::string_view key) {
    return {key, [](Options& options, std::string_view value) {
                options.*Member = absolute_path(with_home(std::string(value)));
            }};
}

/// A program or a library, which may be named without a path.
template <auto Member>
constexpr OptionKey name_or_path(std::string_view key) {
    return {key, [](Options& options, std::string_view value) {
                options.*Member = absolute_unless_bare(with_home(std::string(value)));
            }};
}

template <auto Member>
constexpr OptionKey number(std::string_view key) {
    return {key, [](Options& options, std::string_view value) {
                const auto read = parse_number<double>(value);
                if (!read || !std::isfinite(*read) || *read < 0)
                    throw InvalidArgument("expected a number from 0, where 0 is no limit");
                options.*Member = *read;
            }};
}

void read_log_level(Options& options, std::string_view value) {
    if (std::ranges::find(kLogLevelNames, value) == kLogLevelNames.end())
        throw InvalidArgument(expected_one_of(value, kLogLevelNames));
    options.log_level = value;
}

void read_switch(Options& options, std::string_view value) {
    if (value != "0" && value != "1") throw InvalidArgument("expected 0 or 1");
    options.installed_wisdom = value == "1";
}

void read_on_miss(Options& options, std::string_view value) {
    if (const std::optional<OnMiss> read = parse_on_miss(value)) {
        options.on_miss = *read;
        return;
    }
    throw InvalidArgument(expected_one_of(value, kOnMissNames));
}

void read_math(Options& options, std::string_view value) {
    const std::optional<Math> read = parse_math(value);
    if (!read) throw InvalidArgument(expected_one_of(value, kMathNames));
    options.math = *read;
}

/// From 0.
template <auto Member>
constexpr OptionKey count(std::string_view key) {
    return {key, [](Options& options, std::string_view value) {
                const auto read = parse_number<std::int32_t>(value);
                if (!read || *read < 0) throw InvalidArgument("expected a whole number from 0");
                options.*Member = static_cast<std::remove_reference_t<decltype(options.*Member)>>(*read);
            }};
}

constexpr std::array kKeys{
    word<&Options::device>("device"),
    path<&Options::cache_directory>("cache-dir"),
    path<&Options::readonly_cache_directory>("cache-readonly"),
    name_or_path<&Options::nvrtc_library>("nvrtc"),
    path<&Options::cuda_path>("cuda-path"),
    path<&Options::wheel_directory>("wheels"),
    path<&Options::template_directory>("templates"),
    OptionKey{"log", read_log_level},
    path<&Options::tuning_directory>("tuning-dir"),
    name_or_path<&Options::tool>("tool"),
    number<&Options::tuning_seconds>("tuning-seconds"),
    path<&Options::wisdom>("wisdom"),
    OptionKey{"installed-wisdom", read_switch},
    OptionKey{"on-miss", read_on_miss},
    OptionKey{"math", read_math},
    count<&Options::background_threads>("background-threads"),
    count<&Options::remembered_problems>("remembered-problems"),
    word<&Options::kernel>("kernel"),
    word<&Options::family>("family"),
    word<&Options::parameters>("param"),
    number<&Options::emulator_gflop>("emulator-limit"),
};

constexpr std::string_view kBlanks = " \t\r\n";

void read_option(Options& options, std::string_view part) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos)
        throw InvalidArgument(fmt::format("option '{}' is not of the form key=value", part));
    const OptionKey& option = find_row(kKeys, &OptionKey::key, "option", trim(part.substr(0, equals), kBlanks));
    const std::string_view value = trim(part.substr(equals + 1), kBlanks);
    try {
        option.read(options, value);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("option {} is '{}': {}", option.key, value, error.what()));
    }
}

}  // namespace

std::span<const OptionKey> option_keys() { return kKeys; }

void read_options(Options& options, std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        if (const std::string_view part = trim(text.substr(0, end), kBlanks); !part.empty()) read_option(options, part);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

}  // namespace jitgemm::c_api
