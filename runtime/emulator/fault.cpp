#include "runtime/emulator/fault.hpp"

#include <array>

namespace jitgemm::emulator {

std::string_view to_string(FaultKind kind) {
    constexpr std::array<std::string_view, 26> kNames{"out of range",
                                                      "misaligned",
                                                      "read-only",
                                                      "guard band",
                                                      "never-written shared memory",
                                                      "never-written global memory",
                                                      "never-written register",
                                                      "access before the wait",
                                                      "second store",
                                                      "shared-memory race",
                                                      "global-memory race",
                                                      "copy in flight",
                                                      "barrier divergence",
                                                      "barrier count",
                                                      "barrier order",
                                                      "ended block",
                                                      "mbarrier",
                                                      "tensor map",
                                                      "missing proxy fence",
                                                      "wgmma registers",
                                                      "counters",
                                                      "illegal instruction",
                                                      "deadlock",
                                                      "trap",
                                                      "unsupported",
                                                      "work limit"};
    return kNames.at(static_cast<std::size_t>(kind));
}

}  // namespace jitgemm::emulator
