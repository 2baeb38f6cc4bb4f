#include "runtime/cli/device_choice.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/target.hpp"
#include "runtime/device/device_hint.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/support/default_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

namespace jitgemm::cli {
namespace {

constexpr std::array<std::string_view, 3> kKinds{"auto", "cuda", "emulator"};

void check_kind(std::string_view device) {
    const std::string_view kind = device.substr(0, device.find(':'));
    if (device == "auto" || kind == "cuda" || kind == "emulator") return;
    throw UsageError(fmt::format("--device is '{}': expected auto, cuda, cuda:N, emulator or emulator:ARCH{}", device,
                                 device_hint(kind, kKinds)));
}

/// The emulator with an architecture, whoever names it. `said_by` is the option or variable that names the emulator.
std::string emulator_of(DeviceName name, std::string_view said_by, const ProblemOptions& options,
                        const Arch* banner_arch) {
    const auto asked = options.text("arch");
    const std::string arch = asked ? std::string(find_arch(*asked).name) : std::string();
    if (!arch.empty() && !name.arch.empty() && arch != name.arch) {
        throw UsageError(
            fmt::format("{} {} and --arch {} contradict each other: leave one out", said_by, to_string(name), *asked));
    }
    if (name.arch.empty()) name.arch = arch;
    if (name.arch.empty()) name.arch = banner_arch != nullptr ? banner_arch->name : kEmulatorDefaultArch;
    return to_string(name);
}

[[noreturn]] void refuse_arch() {
    throw UsageError(
        "--arch sets the emulator's architecture, but this runs on a GPU: add --device "
        "emulator, or leave --arch out");
}

/// Why there is no GPU, without the list of places that were looked at.
std::string on_one_line(std::string reason) {
    reason.erase(std::min(reason.size(), reason.find(';')));
    for (std::size_t end = 0; (end = reason.find("\n  ")) != std::string::npos;) reason.replace(end, 3, ": ");
    return reason;
}

/// A GPU where there is one, else the emulator.
std::string automatic_device(const ProblemOptions& options, const Arch* banner_arch, Output& output) {
    std::string reason;
    if (first_gpu(reason)) {
        if (options.given("arch")) refuse_arch();
        return "cuda";
    }
    const DeviceName any_emulator{.kind = DeviceKind::emulator, .ordinal = {}, .arch = {}};
    const std::string emulator = emulator_of(any_emulator, "--device", options, banner_arch);
    output.note(fmt::format("jitgemm: no GPU here ({}): running on {}, which is far slower; its times are estimates",
                            on_one_line(reason), emulator));
    return emulator;
}

}  // namespace

std::string choose_device(const ProblemOptions& options, const Arch* banner_arch, Output& output) {
    const std::optional<std::string> named = options.text("device");
    std::string device = named ? *named : device_from_environment().value_or("auto");
    if (named) check_kind(device);
    if (device == "auto") return automatic_device(options, banner_arch, output);
    const DeviceName name = parse_device_name(device);
    if (name.kind == DeviceKind::emulator)
        return emulator_of(name, named ? "--device" : "JITGEMM_DEVICE", options, banner_arch);
    if (options.given("arch")) refuse_arch();
    return device;
}

double emulator_limit(const ProblemOptions& options, double otherwise) {
    const auto text = options.text("emulator-limit");
    if (!text) return otherwise;
    char* stop = nullptr;
    const double limit = std::strtod(text->c_str(), &stop);
    const bool whole = !text->empty() && stop == text->c_str() + text->size();
    if (whole && std::isfinite(limit) && limit >= 0) return limit;
    throw UsageError(fmt::format("--emulator-limit is '{}': expected GFLOP, 0 for no limit", *text));
}

}  // namespace jitgemm::cli
