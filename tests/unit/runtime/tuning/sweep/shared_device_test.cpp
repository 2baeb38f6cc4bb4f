#include "runtime/tuning/sweep/shared_device.hpp"

#include "tests/catch.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::tuning;
using namespace std::chrono_literals;

namespace {

bool never() { return false; }

/// A device that takes its time to come back to life and to work.
class SlowMeasureService final : public MeasureService {
public:
    SlowMeasureService() { facts_.memory_bytes = std::size_t{1536} << 20U; }
    [[nodiscard]] const DeviceFacts& facts() const override { return facts_; }
    void revive() override { std::this_thread::sleep_for(200ms); }
    [[nodiscard]] VerifyOutcome verify(const VerifyJob&) override {
        std::this_thread::sleep_for(20ms);
        return {};
    }
    [[nodiscard]] TimeOutcome time(const TimeJob&, const TimingEvents&) override {
        std::this_thread::sleep_for(30ms);
        return {};
    }

private:
    DeviceFacts facts_;
};

/// Somebody who waits for the device in a thread of their own.
struct Waiter {
    Waiter(SharedDevice& device, int number, std::vector<int>& served)
        : thread([&, number] {
              lent = device.lend(
                  [this] {
                      queued.store(true);
                      return stop.load();
                  },
                  [&](MeasureService&) { served.push_back(number); });
          }) {
        while (!queued) std::this_thread::yield();  // it is asked to stop only once it stands in the queue
    }

    std::atomic<bool> queued = false;
    std::atomic<bool> stop = false;
    std::atomic<bool> lent = false;
    std::jthread thread;  // last: begins when all else is there
};

}  // namespace

TEST_CASE("a shared device serves one at a time", "[threads]") {
    SlowMeasureService measuring;
    SharedDevice device(measuring);
    std::atomic<int> inside = 0;
    int served = 0;  // guarded by the device itself
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < 8; ++i) {
            threads.emplace_back([&] {
                for (int job = 0; job < 50; ++job) {
                    device.lend(never, [&](MeasureService&) {
                        if (inside.fetch_add(1) == 0) ++served;
                        inside.fetch_sub(1);
                    });
                }
            });
        }
    }
    CHECK(served == 8 * 50);
}

TEST_CASE("a shared device serves in the order asked, and passes over who gave up", "[threads]") {
    SlowMeasureService measuring;
    SharedDevice device(measuring);
    std::vector<int> served;
    std::vector<std::unique_ptr<Waiter>> waiters;
    device.lend(never, [&](MeasureService&) {
        for (int i = 0; i < 3; ++i) waiters.push_back(std::make_unique<Waiter>(device, i, served));
        waiters[1]->stop = true;
        waiters[1]->thread.join();
        CHECK(served.empty());
    });
    waiters[0]->thread.join();
    waiters[2]->thread.join();
    CHECK(served == std::vector<int>{0, 2});
    CHECK_FALSE(waiters[1]->lent);
    CHECK(waiters[2]->lent);
}

TEST_CASE("a shared device is not lent to who is stopped already, and comes back from who throws", "[threads]") {
    SlowMeasureService measuring;
    SharedDevice device(measuring);
    CHECK_FALSE(device.lend([] { return true; }, [](MeasureService&) { FAIL("lent all the same"); }));
    CHECK_THROWS_AS(device.lend(never, [](MeasureService&) { throw std::runtime_error("fell off the bus"); }),
                    std::runtime_error);
    CHECK(device.lend(never, [](MeasureService&) {}));
}

TEST_CASE("a shared device is busy while it verifies and times, not while it comes back to life") {
    SlowMeasureService measuring;
    SharedDevice device(measuring);
    const auto begin = std::chrono::steady_clock::now();
    device.lend(never, [](MeasureService& mine) {
        static_cast<void>(mine.verify({}));
        static_cast<void>(mine.time({}, {}));
        std::this_thread::sleep_for(200ms);
    });
    const std::chrono::duration<double> lent = std::chrono::steady_clock::now() - begin;
    CHECK(device.busy_seconds() >= 0.05);
    CHECK(device.busy_seconds() <= lent.count() - 0.2);
}

TEST_CASE("problems begin on a shared device as long as they fit into a third of its memory") {
    SlowMeasureService measuring;  // with 1.5 GB
    SharedDevice device(measuring);
    CHECK(device.admit(400 << 20));
    CHECK(device.admit(100 << 20));
    CHECK_FALSE(device.admit(100 << 20));
    device.dismiss(400 << 20);
    CHECK(device.admit(100 << 20));
    device.dismiss(100 << 20);
    device.dismiss(100 << 20);
    CHECK(device.admit(2000 << 20));  // alone, whatever it holds
    CHECK_FALSE(device.admit(1));
}
