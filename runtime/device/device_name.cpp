#include "runtime/device/device_name.hpp"

#include "generator/base/arch.hpp"
#include "generator/text/nearest_name.hpp"
#include "generator/text/parse_number.hpp"
#include "jitgemm/error.hpp"
#include "runtime/device/device_hint.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::array<std::string_view, 2> kKinds{"cuda", "emulator"};  // in the order of the enumeration

/// Other libraries' words for a device, and the kind that is meant.
constexpr std::array<std::pair<std::string_view, DeviceKind>, 4> kOtherWords{{
    {"cpu", DeviceKind::emulator},
    {"host", DeviceKind::emulator},
    {"gpu", DeviceKind::cuda},
    {"nvidia", DeviceKind::cuda},
}};

[[noreturn]] void throw_unknown(std::string_view device, std::string_view kind) {
    throw SpecError(fmt::format("unknown device '{}'", device),
                    {fmt::format("expected cuda, cuda:N, emulator or emulator:ARCH{}", device_hint(kind, kKinds))});
}

int parse_ordinal(std::string_view device, std::string_view text) {
    if (const auto ordinal = parse_number<int>(text); ordinal && *ordinal >= 0) return *ordinal;
    throw SpecError(fmt::format("unknown device '{}'", device),
                    {fmt::format("'{}' is not a GPU's number: expected cuda:N with N from 0", text)});
}

}  // namespace

std::string device_hint(std::string_view kind, std::span<const std::string_view> known) {
    for (const auto& [word, meant] : kOtherWords)
        if (kind == word)
            return fmt::format("; the device that runs on the {} is '{}'",
                               meant == DeviceKind::emulator ? "CPU" : "GPU", to_string(meant));
    return nearest_hint(kind, known);
}

std::string_view to_string(DeviceKind kind) { return kKinds.at(static_cast<std::size_t>(kind)); }

DeviceName parse_device_name(std::string_view text) {
    const std::size_t colon = text.find(':');
    const std::string_view kind = text.substr(0, colon);
    const bool has_suffix = colon != std::string_view::npos;
    const std::string_view suffix = has_suffix ? text.substr(colon + 1) : std::string_view{};
    DeviceName name;
    if (kind == to_string(DeviceKind::cuda)) {
        if (has_suffix) name.ordinal = parse_ordinal(text, suffix);
        return name;
    }
    if (kind != to_string(DeviceKind::emulator)) throw_unknown(text, kind);
    name.kind = DeviceKind::emulator;
    if (has_suffix) name.arch = find_arch(suffix).name;
    return name;
}

std::string to_string(const DeviceName& name) {
    std::string text(to_string(name.kind));
    if (name.ordinal) text += fmt::format(":{}", *name.ordinal);
    if (!name.arch.empty()) text += ":" + name.arch;
    return text;
}

}  // namespace jitgemm
