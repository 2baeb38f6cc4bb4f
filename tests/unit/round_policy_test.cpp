#include "runtime/tuning/round_policy.hpp"

#include "tests/catch.hpp"

#include <deque>

using namespace jitgemm::tuning;

namespace {

constexpr std::uint64_t kPowerCap = 0x04;
constexpr std::uint64_t kHardwareSlowdown = 0x08;
constexpr std::uint64_t kSoftwareThermal = 0x20;

/// Plays a script of readings, two a turn, and counts what is done; after its end nothing holds the clock down.
struct ScriptedDevice {
    std::deque<std::uint64_t> throttle;
    int turns = 0;
    int rests = 0;

    Round measure() {
        const auto read = [this] {
            DeviceReading reading;
            if (throttle.empty()) return reading;
            reading.throttle = throttle.front();
            throttle.pop_front();
            return reading;
        };
        return unspoilt_round(
            read, [this] { return std::vector<double>{static_cast<double>(++turns)}; }, [this] { ++rests; });
    }
};

}  // namespace

TEST_CASE("an undisturbed round is measured once") {
    ScriptedDevice device;
    const Round round = device.measure();
    CHECK(round.us == std::vector<double>{1});
    CHECK(round.thrown_away == 0);
    CHECK(device.rests == 0);
}

TEST_CASE("the power cap is recorded and counts") {
    ScriptedDevice device{{kPowerCap, kPowerCap}};
    const Round round = device.measure();
    CHECK(round.thrown_away == 0);
    CHECK(round.before.throttle == kPowerCap);
    CHECK(round.after.throttle == kPowerCap);
}

TEST_CASE("a slowdown before or after a turn spoils it") {
    ScriptedDevice device{{kSoftwareThermal, 0, 0, kHardwareSlowdown | kPowerCap, 0, 0}};
    const Round round = device.measure();
    CHECK(round.thrown_away == 2);
    CHECK(round.us == std::vector<double>{3});
    CHECK(round.before.throttle == 0);
    CHECK(device.rests == 2);
}

TEST_CASE("a slowdown that stays is accepted after three repetitions, and said") {
    ScriptedDevice device{std::deque<std::uint64_t>(100, kHardwareSlowdown)};
    const Round round = device.measure();
    CHECK(round.thrown_away == kMostRepeats);
    CHECK(device.turns == 1 + kMostRepeats);
    CHECK(round.after.throttle == kHardwareSlowdown);
}

// The bits as nvml.h numbers them, and DESIGN's choice of those that count.
TEST_CASE("thermal and hardware slowdowns spoil a round, nothing else does") {
    for (const std::uint64_t bit : {0x08U, 0x20U, 0x40U, 0x80U}) CHECK(spoils_round({.throttle = bit}));
    for (const std::uint64_t bit : {0x00U, 0x01U, 0x02U, 0x04U, 0x10U, 0x100U})
        CHECK_FALSE(spoils_round({.throttle = bit}));
}

TEST_CASE("throttle reasons have names") {
    CHECK(throttle_text(0).empty());
    CHECK(throttle_text(0x44) == "SW power cap, HW thermal slowdown");
    CHECK(throttle_text(0x8000) == "0x8000");
}
