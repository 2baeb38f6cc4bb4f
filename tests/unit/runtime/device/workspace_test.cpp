#include "runtime/device/workspace.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_device.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

using namespace jitgemm;
using jitgemm::testing::FakeDevice;

namespace {

Stream stream(std::uintptr_t number) { return reinterpret_cast<Stream>(number * 64); }

// The memory alone; the turn ends at once.
DevicePointer memory_of(WorkspacePool& pool, Stream where, std::size_t bytes) {
    return pool.acquire(where, bytes).memory;
}

}  // namespace

TEST_CASE("a stream keeps its workspace, another stream has its own", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    {
        WorkspacePool pool(device);
        const DevicePointer first = memory_of(pool, stream(1), 1000);
        CHECK(memory_of(pool, stream(1), 1000) == first);
        CHECK(memory_of(pool, stream(1), 10) == first);
        CHECK_FALSE(memory_of(pool, stream(2), 1000) == first);
        CHECK(device->live_allocations() == 2);
    }
    CHECK(device->live_allocations() == 0);
}

TEST_CASE("a workspace that grew leaves the old one to work already enqueued", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    {
        WorkspacePool pool(device);
        const DevicePointer first = memory_of(pool, stream(1), 1000);
        const DevicePointer second = memory_of(pool, stream(1), 1001);
        CHECK_FALSE(first == second);
        CHECK(memory_of(pool, stream(1), 2000) == second);  // grew to twice the size
        CHECK(device->live_allocations() == 2);
    }
    CHECK(device->live_allocations() == 0);
}

TEST_CASE("each capture has its own workspace until its graph is gone", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    WorkspacePool pool(device);
    const DevicePointer eager = memory_of(pool, stream(1), 100);

    device->capture = 1;
    const DevicePointer first = memory_of(pool, stream(1), 100);
    CHECK_FALSE(first == eager);
    CHECK(memory_of(pool, stream(1), 100) == first);
    CHECK_FALSE(memory_of(pool, stream(2), 100) == first);  // a fork of the same capture runs beside it

    device->capture = 2;
    CHECK_FALSE(memory_of(pool, stream(1), 100) == first);  // the first graph still uses its own
    CHECK(device->live_allocations() == 4);

    device->graphs.erase(1);
    device->capture = 3;
    CHECK(memory_of(pool, stream(1), 100) == first);
    CHECK(device->live_allocations() == 4);

    device->capture = 0;
    CHECK(memory_of(pool, stream(1), 100) == eager);
}

TEST_CASE("of many streams the last used keep their workspaces") {
    const auto device = std::make_shared<FakeDevice>();
    WorkspacePool pool(device);
    const DevicePointer kept = memory_of(pool, stream(1), 100);
    device->capture = 1;
    const DevicePointer captured = memory_of(pool, stream(1), 100);
    device->capture = 0;
    for (std::uintptr_t number = 2; number <= 10000; ++number) {
        REQUIRE(memory_of(pool, stream(number), 100));
        REQUIRE(memory_of(pool, stream(1), 100) == kept);  // in use all the time
        REQUIRE(device->live_allocations() <= WorkspacePool::kMostStreams + 1);
    }
    device->capture = 1;
    CHECK(memory_of(pool, stream(1), 100) == captured);  // a graph's stays
}

TEST_CASE("a workspace that is in use is not taken for another stream") {
    const auto device = std::make_shared<FakeDevice>();
    WorkspacePool pool(device);
    const WorkspacePool::Lease lease = pool.acquire(stream(1), 100);
    for (std::uintptr_t number = 2; number <= 1000; ++number)
        CHECK_FALSE(memory_of(pool, stream(number), 100) == lease.memory);
}

TEST_CASE("a workspace grows to what is needed where there is no room for twice the old size") {
    const auto device = std::make_shared<FakeDevice>();
    device->memory = 3000;
    WorkspacePool pool(device);
    REQUIRE(memory_of(pool, stream(1), 1000));
    CHECK(memory_of(pool, stream(1), 1900));
    CHECK(device->live_allocations() == 2);
}

TEST_CASE("a workspace that finds no room takes that of other streams, and its own") {
    const auto device = std::make_shared<FakeDevice>();
    device->memory = 3000;
    WorkspacePool pool(device);
    for (std::uintptr_t number = 1; number <= 3; ++number) REQUIRE(memory_of(pool, stream(number), 1000));
    CHECK(memory_of(pool, stream(1), 3000));
    CHECK(device->live_allocations() == 1);
    CHECK_THROWS_AS(memory_of(pool, stream(1), 3001), CudaError);
    CHECK(memory_of(pool, stream(2), 3000));  // and what was refused leaves nothing behind
    CHECK(device->live_allocations() == 1);
}

TEST_CASE("a captured launch that finds no room leaves its graph what it has") {
    const auto device = std::make_shared<FakeDevice>();
    device->memory = 3000;
    WorkspacePool pool(device);
    REQUIRE(memory_of(pool, stream(1), 1000));
    device->capture = 1;
    const DevicePointer first = memory_of(pool, stream(1), 1000);
    CHECK_FALSE(memory_of(pool, stream(1), 2000) == first);
    CHECK(device->live_allocations() == 2);  // the old one, which the graph has, and the new one
}

TEST_CASE("streams come and go while others launch", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    WorkspacePool pool(device);
    std::atomic<bool> met = false;
    std::atomic<int> inside = 0;
    const auto launch_on_many = [&](std::uintptr_t first) {
        for (std::uintptr_t number = first; number < first + 400; ++number) {
            static_cast<void>(memory_of(pool, stream(number), 64));
            const WorkspacePool::Lease lease = pool.acquire(stream(1), 64);
            if (++inside != 1) met = true;
            --inside;
        }
    };
    std::thread other(launch_on_many, 1000);
    launch_on_many(2000);
    other.join();
    CHECK_FALSE(met);
}

TEST_CASE("launches that share a workspace take turns", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    WorkspacePool pool(device);
    std::atomic<int> inside = 0;
    std::atomic<bool> met = false;
    const auto launch_often = [&] {
        for (int i = 0; i < 200; ++i) {
            const WorkspacePool::Lease lease = pool.acquire(stream(1), 64);
            if (++inside != 1) met = true;
            std::this_thread::yield();
            --inside;
        }
    };
    std::thread other(launch_often);
    launch_often();
    other.join();
    CHECK_FALSE(met);
}

TEST_CASE("counters are zeros when they are first lent, apart from the workspace, and stay a stream's", "[threads]") {
    const auto device = std::make_shared<FakeDevice>();
    {
        WorkspacePool pool(device);
        const auto counters_of = [&](Stream where, std::size_t bytes) {
            return pool.acquire(where, 100, bytes).counters;
        };
        const DevicePointer first = counters_of(stream(1), 64);
        REQUIRE(first);
        CHECK_FALSE(first == memory_of(pool, stream(1), 100));
        std::array<unsigned char, 64> bytes{};
        bytes.fill(1);
        device->copy_to_host(bytes.data(), first, bytes.size());
        CHECK(std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0; }));
        CHECK(counters_of(stream(1), 8) == first);
        CHECK_FALSE(counters_of(stream(2), 64) == first);
        const DevicePointer grown = counters_of(stream(1), 65);
        CHECK_FALSE(grown == first);
        CHECK(counters_of(stream(1), 128) == grown);
        device->capture = 7;
        CHECK_FALSE(counters_of(stream(1), 8) == grown);  // two graphs may be replayed at once
        device->capture = 0;
        CHECK_FALSE(static_cast<bool>(pool.acquire(stream(3), 100).counters));
    }
    CHECK(device->live_allocations() == 0);
}
