/// Kernels that change their inputs, leave parts of D or of the workspace unwritten, take what an earlier launch left,
/// or store D twice: verification on a GPU has only what lies in memory afterwards, and has to find each of them.

#include "tests/catch.hpp"
#include "tests/gpu/gpu.hpp"
#include "tests/support/memory_mutants.hpp"

using namespace jitgemm;
using namespace jitgemm::testing;

TEST_CASE("kernels that touch memory as they must not are caught on a GPU, also by the tuner's verifier") {
    REQUIRE_GPU();
    Context context;
    check_memory_mutants(context);
}
