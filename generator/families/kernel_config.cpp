#include "generator/families/kernel_config.hpp"

#include "generator/families/family.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

[[noreturn]] void fail_parameters(std::string_view text, const std::string& reason) {
    throw ConfigError(fmt::format("parameters '{}'", text), {reason});
}

}  // namespace

std::string_view family_name(const KernelConfig& config) { return family_of(config).name; }

ParameterMap parse_parameters(std::string_view text) {
    ParameterMap parameters;
    if (text.empty()) return parameters;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t equals = part.find('=');
        if (equals == 0 || equals == std::string_view::npos || equals + 1 == part.size()) {
            fail_parameters(text, fmt::format("'{}' is not of the form name=value", part));
        }
        const auto [entry, is_new] = parameters.emplace(part.substr(0, equals), part.substr(equals + 1));
        if (!is_new) fail_parameters(text, fmt::format("'{}' stands twice", entry->first));
    }
    return parameters;
}

KernelConfig with_parameters(const KernelConfig& config, const ParameterMap& parameters) {
    return family_of(config).with_parameters(config, parameters);
}

ParameterMap parameters_of(const KernelConfig& config) { return family_of(config).parameters(config); }

std::string parameters_text(const KernelConfig& config) { return family_of(config).parameters_text(config); }

}  // namespace jitgemm
