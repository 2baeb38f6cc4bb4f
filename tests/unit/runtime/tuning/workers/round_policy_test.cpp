#include "runtime/tuning/workers/timed_round.hpp"

#include "tests/catch.hpp"

#include <deque>
#include <utility>
#include <vector>

using namespace jitgemm::tuning;

namespace {

constexpr std::uint64_t kPowerCap = 0x04;
constexpr std::uint64_t kHardwareSlowdown = 0x08;
constexpr std::uint64_t kSoftwareThermal = 0x20;

/// Plays a script of readings, two per pass through the kernels, and keeps what it is told; after the script's end
/// nothing holds the clock down.
struct ScriptedDevice final : TimingObserver {
    explicit ScriptedDevice(std::deque<std::uint64_t> script = {}) : throttle(std::move(script)) {}

    void turn(std::size_t kernel) override { turns.push_back(kernel); }
    void sample(const TimedSample& sample) override { samples.push_back(sample); }
    void round_ended(const RoundEnd& end) override { ends.push_back(end); }
    [[nodiscard]] bool stopped() override { return turns.size() >= stop_after; }

    DeviceReading read() {
        DeviceReading reading;
        if (throttle.empty()) return reading;
        reading.throttle = throttle.front();
        throttle.pop_front();
        return reading;
    }

    /// Two kernels. The first has had three rounds before. The time is the number of the turn.
    int measure(bool sustained = false) {
        TimeJob job;
        job.kernels = {"a", "b"};
        job.first_rounds = {3, 0};
        job.sustained = sustained;
        return measure_round(
            job, 0,
            {[this] { return read(); }, [this](std::size_t) { return static_cast<double>(turns.size()); },
             [this](std::size_t) { return static_cast<double>(10 * turns.size()); }, [this] { ++rests; }},
            *this);
    }

    std::deque<std::uint64_t> throttle;
    std::size_t stop_after = 1000;
    std::vector<std::size_t> turns;
    std::vector<TimedSample> samples;
    std::vector<RoundEnd> ends;
    int rests = 0;
};

}  // namespace

TEST_CASE("an undisturbed round is measured once, each turn told by itself") {
    ScriptedDevice device;
    CHECK(device.measure() == 0);
    CHECK(device.turns == std::vector<std::size_t>{0, 1});
    REQUIRE(device.samples.size() == 2);
    CHECK(device.samples[0].sample.round == 3);
    CHECK(device.samples[1].sample.round == 0);
    CHECK(device.samples[1].sample.us == 2);
    REQUIRE(device.ends.size() == 1);
    CHECK(device.ends[0].counts);
    CHECK(device.rests == 0);
}

TEST_CASE("a round of a job that wants both protocols has both times of each kernel, another one has not") {
    ScriptedDevice steady, both;
    CHECK(steady.measure() == 0);
    CHECK(both.measure(true) == 0);
    REQUIRE(both.samples.size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        CHECK(both.samples[i].sample.us == steady.samples[i].sample.us);
        CHECK(both.samples[i].sample.sustained_us == 10 * both.samples[i].sample.us);
        CHECK(steady.samples[i].sample.sustained_us == 0);
    }
}

TEST_CASE("the power cap is recorded and counts") {
    ScriptedDevice device({kPowerCap, kPowerCap});
    CHECK(device.measure() == 0);
    CHECK(device.samples.at(0).sample.before.throttle == kPowerCap);
    CHECK(device.ends.at(0).after.throttle == kPowerCap);
    CHECK(device.ends[0].counts);
}

TEST_CASE("a slowdown before or after a round spoils it") {
    ScriptedDevice device({kSoftwareThermal, 0, 0, kHardwareSlowdown | kPowerCap, 0, 0});
    CHECK(device.measure() == 2);
    CHECK(device.rests == 2);
    CHECK(device.turns.size() == 6);
    REQUIRE(device.ends.size() == 3);
    CHECK_FALSE(device.ends[0].counts);
    CHECK_FALSE(device.ends[1].counts);
    CHECK(device.ends[2].counts);
    // Nothing is told of the one that was spoilt before it began.
    REQUIRE(device.samples.size() == 4);
    CHECK(device.samples[0].sample.us == 3);
    CHECK(device.samples[2].sample.us == 5);
    CHECK(device.samples[2].sample.round == 3);
}

TEST_CASE("a slowdown that stays is accepted after three repetitions, and said") {
    ScriptedDevice device(std::deque<std::uint64_t>(100, kHardwareSlowdown));
    CHECK(device.measure() == kMostRepeats);
    CHECK(device.turns.size() == 2 * (1 + kMostRepeats));
    REQUIRE(device.samples.size() == 2);
    CHECK(device.samples[0].sample.before.throttle == kHardwareSlowdown);
    CHECK(device.ends.back().counts);
    CHECK(device.ends.back().after.throttle == kHardwareSlowdown);
}

TEST_CASE("a round that is to stop ends after the turn under way, and is not repeated") {
    ScriptedDevice device({0, kSoftwareThermal});
    device.stop_after = 1;
    CHECK(device.measure() == 1);
    CHECK(device.turns.size() == 1);
    CHECK(device.samples.size() == 1);
    REQUIRE(device.ends.size() == 1);
    CHECK_FALSE(device.ends[0].counts);
    CHECK(device.rests == 0);
}

// The bits as nvml.h numbers them, and DESIGN's choice of those that count.
TEST_CASE("thermal and hardware slowdowns spoil a round, nothing else does") {
    for (const std::uint64_t bit : {0x08U, 0x20U, 0x40U, 0x80U}) CHECK(spoils_round({.throttle = bit}));
    for (const std::uint64_t bit : {0x00U, 0x01U, 0x02U, 0x04U, 0x10U, 0x100U})
        CHECK_FALSE(spoils_round({.throttle = bit}));
}
