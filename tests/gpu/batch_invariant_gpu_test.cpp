/// deterministic=batch_invariant on a GPU: equal rows have equal bits whatever m is and whatever the other rows hold.

#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/batch_rows.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

}  // namespace

TEST_CASE("batch-invariant: on the GPU, a row's bits are the same for every m and beside rows of NaN") {
    REQUIRE_GPU();
    using enum GemmLayout;
    GemmSpec with_c = spec_of(nn, 0, 777, 1001);
    with_c.c = with_c.d = DataType::f32;
    GemmSpec by_columns = spec_of(tn, 0, 520, 1032);
    by_columns.d_order = Order::column;
    for (GemmSpec spec :
         {spec_of(tn, 0, 1536, 7168), spec_of(tn, 0, 6144, 1024), with_c, spec_of(nt, 0, 264, 4104, DataType::f16),
          by_columns, spec_of(tt, 0, 333, 555, DataType::f32)}) {
        INFO(shape_line(spec));
        spec.deterministic = Determinism::batch_invariant;
        CHECK(check_batch_invariance(context(), spec) > 1);
    }
}
