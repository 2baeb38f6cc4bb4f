/// A GPU test of the same name has to catch these mutants without seeing every access. The emulator sees all of them.

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/memory_mutants.hpp"

using namespace jitgemm::testing;

TEST_CASE("kernels that touch memory as they must not are caught on the emulator, also by the tuner's verifier") {
    check_memory_mutants(on_emulator());
}
