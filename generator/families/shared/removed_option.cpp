#include "generator/families/shared/removed_option.hpp"

#include "generator/families/shared/parameter_table.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

std::string gone(const RemovedOption& option, std::string_view value) {
    return fmt::format("{}={} is gone: this version has no such option", option.parameter, value);
}

bool is_number(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

bool is_removed_value(const RemovedOption& option, std::string_view value) {
    return option.value.empty() ? is_number(value) : value == option.value;
}

}  // namespace

void refuse_removed_options(std::span<const RemovedOption> removed, std::string_view config_name) {
    TextReader reader(config_name);
    while (!reader.done()) {
        const std::string_view token = reader.take_token();
        for (const RemovedOption& option : removed) {
            if (!token.starts_with(option.token)) continue;
            const std::string value = value_from_name(token.substr(option.token.size()));
            if (is_removed_value(option, value)) throw ConfigError("kernel name", {gone(option, value)});
        }
    }
}

void refuse_removed_options(std::span<const RemovedOption> removed, const ParameterMap& given) {
    std::vector<std::string> reasons;
    for (const RemovedOption& option : removed) {
        const auto found = given.find(option.parameter);
        if (found != given.end() && (option.value.empty() || found->second == option.value))
            reasons.push_back(gone(option, found->second));
    }
    if (!reasons.empty()) throw ConfigError("parameters", std::move(reasons));
}

}  // namespace jitgemm
