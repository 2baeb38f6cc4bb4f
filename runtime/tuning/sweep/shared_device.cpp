#include "runtime/tuning/sweep/shared_device.hpp"

#include <chrono>

namespace jitgemm::tuning {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

/// The device, its time at work counted. What it takes to replace a dead child is no work.
class SharedDevice::Counted final : public MeasureService {
    template <typename Work>
    auto counted(const Work& work) {
        revive();
        const auto start = Clock::now();
        auto result = work();
        shared_.add_busy(std::chrono::duration<double>(Clock::now() - start).count());
        return result;
    }

public:
    explicit Counted(SharedDevice& shared) : shared_(shared) {}
    [[nodiscard]] const DeviceFacts& facts() const override { return shared_.facts_; }
    void revive() override { shared_.device_.revive(); }
    [[nodiscard]] VerifyOutcome verify(const VerifyJob& job) override {
        return counted([&] { return shared_.device_.verify(job); });
    }
    [[nodiscard]] TimeOutcome time(const TimeJob& job, const TimingEvents& events) override {
        return counted([&] { return shared_.device_.time(job, events); });
    }

private:
    SharedDevice& shared_;
};

/// A place in the queue, from its end to the front and out.
class SharedDevice::Place {
public:
    explicit Place(SharedDevice& shared) : shared_(shared) {
        const std::lock_guard lock(shared_.mutex_);
        shared_.queue_.push_back(this);
    }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;
    ~Place() {
        const std::lock_guard lock(shared_.mutex_);
        std::erase(shared_.queue_, this);
        shared_.moved_.notify_all();
    }

    /// Until it is the first; false when stopped. That is asked without the lock: it is others' code.
    [[nodiscard]] bool wait(const std::function<bool()>& stopped) const {
        const auto is_first = [this] { return shared_.queue_.front() == this; };
        while (!stopped()) {
            std::unique_lock lock(shared_.mutex_);
            if (is_first()) return true;
            shared_.moved_.wait_for(lock, kLookInterval, is_first);
        }
        return false;
    }

private:
    SharedDevice& shared_;
};

SharedDevice::SharedDevice(MeasureService& device) : device_(device), facts_(device.facts()) {}

bool SharedDevice::admit(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (problems_ > 0 && bytes_ + bytes > static_cast<std::int64_t>(facts_.memory_bytes / 3)) return false;
    ++problems_;
    bytes_ += bytes;
    return true;
}

void SharedDevice::dismiss(std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    --problems_;
    bytes_ -= bytes;
}

bool SharedDevice::lend(const std::function<bool()>& stopped, const std::function<void(MeasureService&)>& use) {
    const Place place(*this);
    if (!place.wait(stopped)) return false;
    Counted device(*this);
    use(device);
    return true;
}

void SharedDevice::add_busy(double seconds) {
    const std::lock_guard lock(mutex_);
    busy_seconds_ += seconds;
}

double SharedDevice::busy_seconds() const {
    const std::lock_guard lock(mutex_);
    return busy_seconds_;
}

}  // namespace jitgemm::tuning
