/// The plain SIMT families on a GPU: the emulator's tests on larger shapes, and grids no CPU has time for.

#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/kernel_checks.hpp"
#include "tests/support/simt_checks.hpp"

namespace {

using namespace jitgemm;
using namespace jitgemm::testing;

Context& context() {
    static Context shared;
    return shared;
}

}  // namespace

TEST_CASE("SIMT families: every variant over odd shapes and layouts") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        check_simt_variants(context(), layout,
                            {{1, 1, 1}, {1, 4096, 513}, {513, 1, 129}, {97, 131, 75}, {41, 55, 1000}, {509, 521, 503}});
}

TEST_CASE("SIMT families: the chosen kernels, against the CPU too") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts)
        for (const auto& [m, n, k] : {Sizes{1, 1, 1}, {7, 1, 129}, {41, 55, 1000}, {300, 200, 1}})
            check_simt_families(context(), spec_of(layout, m, n, k, DataType::f32), {.use_cpu = true});
}

TEST_CASE("SIMT families: alpha of 0 and K of 0 read no operands, beta of 0 no C") {
    REQUIRE_GPU();
    check_unread_operands(
        spec_of(GemmLayout::tt, 190, 400, 330, DataType::f32),
        [](const GemmSpec& spec, const VerifyOptions& options) { check_simt_families(context(), spec, options); });
}

TEST_CASE("SIMT families: long grids") {
    REQUIRE_GPU();
    for (const GemmLayout layout : {GemmLayout::tn, GemmLayout::nt}) {
        check_simt_families(context(), spec_of(layout, 5'000'000, 8, 8, DataType::f32));
        check_simt_families(context(), spec_of(layout, 8, 5'000'000, 8, DataType::f32));
    }
}

TEST_CASE("SIMT families: matrices of more than 2^31 elements", "[memory]") {
    REQUIRE_GPU();
    const std::size_t needed = 5ULL << 32;
    if (state_of(context()).device->free_memory() < needed)
        SKIP_TEST("less than 20 GiB of free device memory: large matrices are not tested");
    check_simt_families(context(), spec_of(GemmLayout::tt, 70'000, 40'000, 16, DataType::f32));
    GemmSpec far = spec_of(GemmLayout::nn, 40, 60, 100, DataType::f32);
    far.lda = 30'000'000;  // columns of A lie 120 MB apart
    check_simt_families(context(), far);
}

TEST_CASE("SIMT families: sanitizer set", "[.][sanitizer]") {
    REQUIRE_GPU();
    for (const GemmLayout layout : kLayouts) check_simt_variants(context(), layout, {{1, 1, 1}, {97, 131, 75}});
}
