#include "runtime/cli/output.hpp"
#include "tests/catch.hpp"
#include "tests/support/child.hpp"
#include "tests/support/ptx_run.hpp"
#include "tests/support/thread_limit.hpp"

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

/// \file Threads that only make work faster are not needed: where a limit refuses some or all of them, the others do
/// it.

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

const PtxRun kManyBlocks{.body = R"(
    mov.u32 %r1, %ctaid.x;
    mad.lo.u32 %r1, %r1, 1000, %thread;
    st.global.v4.u32 [%own_out], {%r1, %r1, %r1, %r1};)",
                         .blocks = 64,
                         .host_threads = 16};

/// Zero where no further thread can be started.
int is_refused() {
    try {
        std::thread([] {}).join();
        return 1;
    } catch (const std::system_error&) {
        return 0;
    }
}

}  // namespace

TEST_CASE("where threads are refused, a launch of the emulator goes on with those it has", "[heavy]") {
    const std::vector<std::uint32_t> expected = words(run_ptx(kManyBlocks));
    const std::size_t threads = GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{3});
    INFO(threads);
    CHECK(in_child([&] {
              allow_threads(threads);
              return words(run_ptx(kManyBlocks)) == expected ? 0 : 1;
          }) == 0);
}

TEST_CASE("where threads are refused, a verb tells its progress without one", "[heavy]") {
    CHECK(in_child([] {
              allow_threads(0);
              cli::Output output(false);
              output.progress("begins");
              output.progress("goes on");
              return is_refused() + (output.finish() ? 0 : 2);
          }) == 0);
}
