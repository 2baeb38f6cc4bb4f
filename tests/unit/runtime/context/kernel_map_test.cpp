#include "runtime/context/kernel_map.hpp"
#include "runtime/context/context_state.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include <malloc.h>

using namespace jitgemm;

namespace {

constexpr std::uint64_t kA = 0x100000000;
constexpr std::uint64_t kB = 0x200000000;
constexpr std::uint64_t kD = 0x400000000;

GemmSpec rows(std::int64_t m) { return {.m = m, .n = 64, .k = 64}; }

GemmKernel new_kernel() { return KernelAccess::make(std::make_shared<KernelState>()); }

void add(KernelMap& map, std::int64_t m) { static_cast<void>(map.add(rows(m), resolved(rows(m)), new_kernel())); }

bool knows(const KernelMap& map, std::int64_t m) { return map.find(rows(m)).has_value(); }

}  // namespace

TEST_CASE("the problems used least recently are forgotten, in all their words") {
    KernelMap map(32);
    for (int m = 1; m <= 32; ++m) add(map, m);
    CHECK(map.problems() == 32);
    CHECK(knows(map, 1));
    CHECK(map.find(resolved(rows(2))).has_value());
    add(map, 33);
    CHECK(map.problems() <= 32);
    CHECK(knows(map, 1));
    CHECK(knows(map, 2));
    CHECK(knows(map, 33));
    CHECK_FALSE(knows(map, 3));
    CHECK_FALSE(map.find(resolved(rows(3))).has_value());
}

TEST_CASE("a problem whose handle is in use is not forgotten, and its handles stay one") {
    KernelMap map(16);
    std::vector<GemmKernel> held;
    for (int m = 1; m <= 40; ++m) held.push_back(map.add(rows(m), resolved(rows(m)), new_kernel()).kernel);
    CHECK(map.problems() == 40);
    for (int m = 1; m <= 40; ++m) {
        const KernelMap::Added again = map.add(rows(m), resolved(rows(m)), new_kernel());
        CHECK_FALSE(again.is_new);
        CHECK(&state_of(again.kernel) == &state_of(held[static_cast<std::size_t>(m - 1)]));
    }
    const std::weak_ptr<const KernelState> state = KernelAccess::shared_state(held.front());
    held.clear();
    for (int m = 100; m < 200; ++m) add(map, m);
    CHECK(map.problems() <= 17);
    CHECK(state.expired());
}

TEST_CASE("a problem that was seen and launched costs less than 1 KB beside its kernel") {
    Options options;
    options.remembered_problems = 0;
    options.kernel = "wgmma_bf16_tn_128x256x64_2x1_stages4";
    const auto device = std::make_shared<testing::FakeDevice>();
    device->record = false;
    ContextState context(options, device, std::make_shared<testing::FakeCompiler>());
    const auto see = [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t m = first; m < end; ++m)
            context.kernel({.m = m, .n = 4096, .k = 4096}).launch({.a = kA, .b = kB, .d = kD});
    };
    const auto in_use = [] { return ::mallinfo2().uordblks; };
    see(1, 200);
    const std::size_t before = in_use();
    if (before == 0) SKIP_TEST("a sanitizer allocates");
    constexpr std::int64_t kProblems = 2000;
    see(200, 200 + kProblems);
    const std::size_t bytes = (in_use() - before) / kProblems;
    INFO(bytes << " bytes per problem");
    CHECK(bytes < 1024);
    std::cout << bytes << " bytes per problem\n";
}

TEST_CASE("requests for known problems take less than 2 us, 99 of 100") {
#ifndef NDEBUG
    SKIP_TEST("timings are held against optimised builds only");
#else
    ContextState context({}, std::make_shared<testing::FakeDevice>(), std::make_shared<testing::FakeCompiler>());
    constexpr std::size_t kRequests = 20000;
    constexpr std::int64_t kProblems = 200;
    std::vector<GemmKernel> made;
    for (std::int64_t i = 0; i < kProblems; ++i) made.push_back(context.kernel({.m = 1 + 37 * i, .n = 4096, .k = 512}));
    made.clear();
    const auto at = [](const std::vector<double>& sorted, double part) {
        return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
    };
    std::vector<double> best;
    for (int round = 0; round < 20; ++round) {
        std::vector<double> us;
        std::uint64_t random = 1;
        for (std::size_t i = 0; i < kRequests; ++i) {
            random = random * 6364136223846793005ULL + 1442695040888963407ULL;
            const std::int64_t m = 1 + 37 * static_cast<std::int64_t>((random >> 33) % kProblems);
            const auto start = std::chrono::steady_clock::now();
            const GemmKernel kernel = context.kernel({.m = m, .n = 4096, .k = 512});
            us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
        }
        std::ranges::sort(us);
        if (best.empty() || at(us, 0.999) < at(best, 0.999)) best = std::move(us);
    }
    CHECK(at(best, 0.99) < 2.0);
    std::cout << "known requests: median " << at(best, 0.5) << " us, 99.9 % " << at(best, 0.999) << " us, 99.99 % "
              << at(best, 0.9999) << " us, worst " << best.back() << " us\n";
#endif
}

TEST_CASE("a limit of 0 is none") {
    KernelMap map(0);
    for (int m = 1; m <= 1000; ++m) add(map, m);
    CHECK(map.problems() == 1000);
}

TEST_CASE("threads find and forget problems at once", "[threads]") {
    KernelMap map(64);
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&map, t] {
            for (int i = 0; i < 2000; ++i) {
                const std::int64_t m = 1 + (i * 7 + t * 13) % 300;
                const std::optional<GemmKernel> known = map.find(rows(m));
                if (!known) add(map, m);
            }
        });
    for (std::thread& thread : threads) thread.join();
    // While threads have handles, there may be more than 64. A sixteenth more come before the next search.
    for (int m = 1000; m <= 1000 + 64 / 16; ++m) add(map, m);
    CHECK(map.problems() <= 64);
}
