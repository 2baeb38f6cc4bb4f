/// Matrices of one row or column on the emulator: as lines they have the kernels of lines, from whatever order they are
/// asked in.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/kernel_checks.hpp"

#include <string>

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;
using Catch::Matchers::ContainsSubstring;

constexpr Sizes kLines[] = {{1, 72, 200}, {1, 67, 131}, {72, 1, 200}, {67, 1, 131},
                            {40, 72, 1},  {1, 1, 264},  {1, 200, 1}};

void check_lines(Context& context) {
    for (const GemmLayout layout : kLayouts)
        for (const Sizes& size : kLines)
            for (const Order d_order : {Order::row, Order::column}) {
                GemmSpec spec = spec_of(layout, size[0], size[1], size[2]);
                spec.d_order = d_order;
                INFO(shape_line(spec));
                check_chosen(context, spec);
                spec.c = DataType::f32;  // keeps D in its order
                check_chosen(context, spec);
            }
}

}  // namespace

TEST_CASE("one line: every layout and order, on Hopper") { check_lines(on_hopper()); }

TEST_CASE("one line: every layout and order, on Ampere") { check_lines(on_emulator()); }

TEST_CASE("one line: its kernel is the line's, and a launch takes the caller's operands in their order") {
    const GemmSpec spec = resolved(spec_of(GemmLayout::nt, 72, 1, 200));  // B and D of one column
    const GemmKernel kernel = check_chosen(on_hopper(), spec);
    CHECK(kernel.spec() == spec);
    CHECK_THAT(kernel.info().name, ContainsSubstring("_bf16_tt_"));  // of D^T = B^T A^T: B^T is a row, A^T a row per k
}
