/// Matrices of one row or column on a GPU, in every order they can be asked in.

#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/kernel_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

}  // namespace

TEST_CASE("one line: every layout, order and type") {
    REQUIRE_GPU();
    for (const Sizes& size : {Sizes{1, 5200, 792}, Sizes{1, 1003, 4099}, Sizes{5880, 1, 1312}, Sizes{777, 1, 1001},
                              Sizes{1000, 264, 1}, Sizes{1, 1, 70000}, Sizes{1, 9000, 1}})
        for (const GemmLayout layout : kLayouts)
            for (const Order d_order : {Order::row, Order::column})
                for (const DataType type : {DataType::bf16, DataType::f16, DataType::f32}) {
                    GemmSpec spec = spec_of(layout, size[0], size[1], size[2], type);
                    spec.d_order = d_order;
                    INFO(shape_line(spec));
                    check_chosen(context(), spec);
                    spec.c = type;  // keeps D in its order
                    check_chosen(context(), spec);
                }
}
