#include "jitgemm/error.hpp"
#include "runtime/compiler/cubin_text.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

namespace jitgemm::fuzz {

void machine_code(std::string_view input) {
    try {
        static_cast<void>(cubin_text(input));
    } catch (const Error&) {
    }
    static_cast<void>(ptx_text(input));
}

}  // namespace jitgemm::fuzz
