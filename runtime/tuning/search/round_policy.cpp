#include "runtime/tuning/search/round_policy.hpp"

#include <fmt/format.h>

#include <array>

namespace jitgemm::tuning {
namespace {

constexpr std::array kReasons{
    ClocksEventReason{0x001, "GPU idle", false},
    ClocksEventReason{0x002, "applications clocks setting", false},
    ClocksEventReason{0x004, "SW power cap", false},
    ClocksEventReason{0x008, "HW slowdown", true},
    ClocksEventReason{0x010, "sync boost", false},
    ClocksEventReason{0x020, "SW thermal slowdown", true},
    ClocksEventReason{0x040, "HW thermal slowdown", true},
    ClocksEventReason{0x080, "HW power brake slowdown", true},
    ClocksEventReason{0x100, "display clock setting", false},
};

}  // namespace

std::span<const ClocksEventReason> clocks_event_reasons() { return kReasons; }

bool spoils_round(const DeviceReading& reading) {
    for (const ClocksEventReason& reason : kReasons) {
        if (reason.spoils && (reading.throttle & reason.bit) != 0) return true;
    }
    return false;
}

std::string throttle_text(std::uint64_t throttle) {
    std::string text;
    const auto add = [&](std::string_view name) { text += fmt::format("{}{}", text.empty() ? "" : ", ", name); };
    for (const ClocksEventReason& reason : kReasons) {
        if ((throttle & reason.bit) != 0) add(reason.name);
        throttle &= ~reason.bit;
    }
    if (throttle != 0) add(fmt::format("{:#x}", throttle));
    return text;
}

bool is_thrown_away(const DeviceReading& reading, int repeats) {
    return repeats < kMostRepeats && spoils_round(reading);
}

}  // namespace jitgemm::tuning
