#include "runtime/tuning/store/tuned_records.hpp"

#include "generator/base/renderer.hpp"
#include "generator/families/family.hpp"
#include "generator/generator_hash.hpp"
#include "jitgemm/version.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/cuda/driver.hpp"
#include "runtime/device/device.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/store.hpp"
#include "runtime/tuning/store/wisdom.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace jitgemm::tuning {
namespace {

/// The templates, and the C++ that fills them, decide a kernel's text.
std::string hash_of(const TemplateSet& templates) {
    std::string all(generator_hash());
    for (const auto& [name, text] : templates.files()) all += name + '\0' + text + '\0';
    return hash_hex(all);
}

/// All but the versions.
DeviceFacts facts_of(const Device& device) {
    return {.model = device.model(),
            .ordinal = device.ordinal(),
            .memory_bytes = device.total_memory(),
            .emulator = device.kind() == DeviceKind::emulator};
}

Wisdom wisdom_of(const Options& options) {
    if (options.wisdom.empty()) return {};
    try {
        return read_wisdom(options.wisdom);
    } catch (const WisdomError& error) {
        return {{}, {error.what()}};
    }
}

StoredWinners store_of(const Options& options) {
    return options.tuning_directory.empty() ? StoredWinners{} : stored_winners(options.tuning_directory);
}

void add_serving(const std::vector<Winner>& winners, const ClassFilter& serves, std::vector<Winner>& into) {
    std::ranges::copy_if(winners, std::back_inserter(into),
                         [&](const Winner& winner) { return serves(winner.device_class); });
}

/// Of any memory size: what they tell of kernels does not hang on it. A process waits for them before its first launch,
/// so that no more is read than lines that name the beaten kernel.
InstalledWinners installed_winners(const Options& options, const GpuModel& gpu) {
    if (!options.installed_wisdom) return {};
    return [gpu](const KernelConfig& beaten) {
        std::vector<Winner> winners;
        add_serving(
            installed_wisdom(family_of(beaten).config_name(beaten)).winners,
            [&](std::string_view name) { return may_be_of_class(gpu, name); }, winners);
        return winners;
    };
}

}  // namespace

std::vector<Winner> tuned_winners(const Options& options, const ClassFilter& serves) {
    const Wisdom wisdom = wisdom_of(options);
    const StoredWinners stored = store_of(options);
    for (const std::string& problem : wisdom.problems) log().warn("wisdom: {}", problem);
    for (const std::string& problem : stored.problems) log().warn("{}", problem);
    std::vector<Winner> winners;
    add_serving(wisdom.winners, serves, winners);
    add_serving(stored.winners, serves, winners);
    return winners;
}

Versions own_versions(const TemplateSet& templates) { return {.jitgemm = kVersion, .templates = hash_of(templates)}; }

DeviceFacts device_facts(const Device& device, const TemplateSet& templates, Compiler& compiler) {
    DeviceFacts facts = facts_of(device);
    facts.versions = own_versions(templates);
    if (const std::string build = compiler.nvrtc_build(); !build.empty()) facts.versions.templates += '-' + build;
    facts.versions.nvrtc = compiler.nvrtc_version();
    facts.versions.driver = facts.emulator ? 0 : driver_version();
    return facts;
}

TunedChoices tuned_choices(const Options& options, const Device& device, const TemplateSet& templates,
                           Compiler& compiler) {
    const DeviceFacts facts = facts_of(device);
    const std::string own = device_class(facts);
    const std::vector<Winner> winners = tuned_winners(options, [&](std::string_view name) { return name == own; });
    const InstalledWinners installed = facts.emulator ? InstalledWinners() : installed_winners(options, facts.model);
    if (winners.empty()) return {winners, {}, installed};  // the versions cost a look at NVRTC
    return {winners, device_facts(device, templates, compiler).versions, installed};
}

TunedChoices tuned_choices(const Options& options, const GpuModel& gpu, const TemplateSet& templates) {
    const auto serves = [&](std::string_view name) { return may_be_of_class(gpu, name); };
    const std::vector<Winner> winners = tuned_winners(options, serves);
    return {winners, own_versions(templates), installed_winners(options, gpu)};
}

}  // namespace jitgemm::tuning
