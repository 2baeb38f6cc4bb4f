#include "tests/support/fake_worker/fake_script.hpp"

#include "generator/base/renderer.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/heuristics.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/tuning/store/tuned_records.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>
#include <random>

namespace jitgemm::testing {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMemory = std::size_t{141} << 30U;

/// As a sweep of this very build records them, so that what it finds serves.
tuning::Versions versions_of_today(bool is_emulator) {
    tuning::Versions versions = tuning::own_versions(TemplateSet::embedded());
    versions.nvrtc = 130;
    versions.driver = is_emulator ? 0 : 130;
    return versions;
}

void refuse_unknown(const Json& json, std::initializer_list<std::string_view> known) {
    for (const auto& [key, value] : json.items()) {
        if (std::ranges::find(known, key) == known.end()) throw Error(fmt::format("a fake script has no '{}'", key));
    }
}

KernelRule rule_of(const Json& json) {
    refuse_unknown(json, {"name", "contains", "parameters", "time_us", "factor", "noise", "text", "spill_bytes",
                          "warnings", "compile", "verify", "time"});
    KernelRule rule;
    rule.name = json.value("name", "");
    rule.contains = json.value("contains", "");
    rule.parameters = json.value("parameters", "");
    if (json.contains("time_us")) rule.time_us = json.at("time_us").get<double>();
    rule.factor = json.value("factor", 1.0);
    if (json.contains("noise")) rule.noise = json.at("noise").get<double>();
    rule.text = json.value("text", "");
    rule.spill_bytes = json.value("spill_bytes", 0);
    rule.warnings = json.value("warnings", std::vector<std::string>{});
    rule.compile = json.value("compile", "");
    rule.verify = json.value("verify", "");
    rule.time = json.value("time", "");
    return rule;
}

bool has_parameters(const std::string& kernel, const std::string& wanted) {
    if (kernel == tuning::kCublasLt) return false;
    const KernelConfig config = parse_kernel_name(kernel).config;
    const ParameterMap actual = family_of(config).parameters(config);
    return std::ranges::all_of(parse_parameters(wanted), [&](const auto& parameter) {
        const auto found = actual.find(parameter.first);
        return found != actual.end() && found->second == parameter.second;
    });
}

bool matches(const KernelRule& rule, const std::string& kernel) {
    return (rule.name.empty() || rule.name == kernel) && kernel.find(rule.contains) != std::string::npos &&
           (rule.parameters.empty() || has_parameters(kernel, rule.parameters));
}

template <typename Value>
void lay_over(Value& below, const Value& above) {
    if (above != Value{}) below = above;
}

/// 64 bits that depend on the text alone.
std::uint64_t bits_of(const std::string& text) { return std::stoull(hash_hex(text).substr(0, 16), nullptr, 16); }

double predicted_us(const GemmSpec& spec, const std::string& kernel, const GpuModel& gpu) {
    const KernelConfig config =
        kernel == tuning::kCublasLt ? choose_config(problem_of(spec), gpu) : config_of_kernel(problem_of(spec), kernel);
    return family_of(config).cost(problem_of(spec), config, gpu).total_us;
}

double landscape_factor(const std::string& kernel, double spread) {
    if (kernel == tuning::kCublasLt) return 1;
    return 0.85 + spread * static_cast<double>(bits_of(kernel) % 1000) / 1000;
}

}  // namespace

KernelRule FakeScript::rule_for(const std::string& kernel) const {
    KernelRule all;
    for (const KernelRule& rule : kernels) {
        if (!matches(rule, kernel)) continue;
        lay_over(all.time_us, rule.time_us);
        all.factor *= rule.factor;
        lay_over(all.noise, rule.noise);
        lay_over(all.text, rule.text);
        lay_over(all.spill_bytes, rule.spill_bytes);
        lay_over(all.warnings, rule.warnings);
        lay_over(all.compile, rule.compile);
        lay_over(all.verify, rule.verify);
        lay_over(all.time, rule.time);
    }
    return all;
}

tuning::DeviceFacts FakeScript::facts() const {
    const bool is_emulator = !emulator.empty();
    const GpuModel& model = is_emulator ? typical_gpu(find_arch(emulator)) : find_gpu(gpu);
    return {.model = model,
            .ordinal = 0,
            .memory_bytes = kMemory,
            .emulator = is_emulator,
            .versions = versions_of_today(is_emulator)};
}

double FakeScript::time_us(const GemmSpec& spec, const std::string& kernel) const {
    const KernelRule rule = rule_for(kernel);
    const double base =
        rule.time_us ? *rule.time_us : predicted_us(spec, kernel, facts().model) * landscape_factor(kernel, spread);
    return base * rule.factor;
}

double FakeScript::noisy_time_us(const GemmSpec& spec, const std::string& kernel, int round) const {
    std::mt19937_64 random(bits_of(fmt::format("{} {} {} {}", seed, kernel, to_string(spec), round)));
    std::normal_distribution<double> normal(0.0, rule_for(kernel).noise.value_or(noise));
    return time_us(spec, kernel) * std::max(0.1, 1 + normal(random));
}

FakeScript read_fake_script(const std::string& path) {
    const std::optional<std::string> text = read_file(path);
    if (!text) throw Error("there is no script " + path);
    const Json json = Json::parse(*text);
    refuse_unknown(json, {"gpu", "emulator", "seed", "noise", "spread", "start_ms", "compile_ms", "turn_ms",
                          "timing_ms", "log", "throttle", "clock_noise_mhz", "kernels"});
    FakeScript script;
    script.gpu = json.value("gpu", script.gpu);
    script.emulator = json.value("emulator", "");
    script.seed = json.value("seed", script.seed);
    script.noise = json.value("noise", script.noise);
    script.spread = json.value("spread", script.spread);
    script.start_ms = json.value("start_ms", 0);
    script.compile_ms = json.value("compile_ms", 0);
    script.turn_ms = json.value("turn_ms", 0);
    script.timing_ms = json.value("timing_ms", script.turn_ms);
    script.log = json.value("log", "");
    const Json throttle = json.value("throttle", Json::object());
    refuse_unknown(throttle, {"rounds", "reasons"});
    script.throttled_rounds = throttle.value("rounds", 0);
    script.throttle_reasons = throttle.value("reasons", std::uint64_t{0});
    script.clock_noise_mhz = json.value("clock_noise_mhz", 0);
    for (const Json& rule : json.value("kernels", Json::array())) script.kernels.push_back(rule_of(rule));
    return script;
}

}  // namespace jitgemm::testing
