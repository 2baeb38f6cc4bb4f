/// The launch model on the emulator: a kernel that copies a matrix through tensor maps, persistent blocks that take
/// tiles from counters, a launch that may overlap the one before.

#include "runtime/compiler/compiler.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "tests/catch.hpp"
#include "tests/support/tensor_map_copy_checks.hpp"

#include <memory>
#include <thread>

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::Equals;

namespace {

/// A context on the emulator, without a cache.
struct EmulatorContext {
    EmulatorContext()
        : state(Options::from_environment(), std::make_shared<EmulatorDevice>(find_arch("sm_90a"), 0),
                make_nvrtc_compiler(Options::from_environment(), 0, "")) {}
    ContextState state;
};

}  // namespace

TEST_CASE("a matrix copied through tensor maps arrives whole, with every residue and swizzle") {
    EmulatorContext context;
    for (const TensorMapSwizzle swizzle :
         {TensorMapSwizzle::none, TensorMapSwizzle::span32, TensorMapSwizzle::span64, TensorMapSwizzle::span128}) {
        const TensorMapCopy copy(context.state, swizzle, 8);
        for (std::int64_t columns = 1; columns <= copy.box_columns() + 1; ++columns)
            REQUIRE_THAT(copy_problem(context.state, copy, {columns % 17 + 1, columns}), Equals(""));
        for (std::int64_t rows = 1; rows <= 2 * copy.box_rows() + 1; ++rows)
            REQUIRE_THAT(copy_problem(context.state, copy, {rows, 2 * copy.box_columns() + 3}), Equals(""));
    }
}

TEST_CASE("eight threads launch one kernel with tensor maps of changing matrices") {
    EmulatorContext context;
    const TensorMapCopy copy(context.state, TensorMapSwizzle::span64, 16);
    std::vector<std::string> problems(8);
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < problems.size(); ++thread) {
        threads.emplace_back([&, thread] {
            for (std::int64_t i = 0; i < 5 && problems[thread].empty(); ++i)
                problems[thread] = copy_problem(context.state, copy, {20 + i, 40 + static_cast<std::int64_t>(thread)});
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::string& problem : problems) CHECK_THAT(problem, Equals(""));
}
