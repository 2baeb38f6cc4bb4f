#include "runtime/verify/emulated_time.hpp"

#include "generator/base/roofline.hpp"
#include "runtime/context/context_state.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

/// Bytes of all operands of a launch, each once.
double footprint(const GemmSpec& spec, float alpha, float beta) {
    double sum = bytes_of_d(spec);
    if (alpha != 0.0F) sum += operand_bytes(spec);
    if (beta != 0.0F) sum += compulsory_bytes_of_c(spec);
    return sum;
}

int launch_count(const GemmKernel& kernel) {
    return static_cast<int>(std::ranges::count_if(state_of(kernel).entries,
                                                  [](const LoadedEntry& entry) { return entry.shape.blocks > 0; }));
}

}  // namespace

EmulatedTime estimate_time(const emulator::Counters& counters, const GemmKernel& kernel, float alpha, float beta) {
    return estimate_time(counters, state_of(kernel).device->model(), footprint(kernel.spec(), alpha, beta),
                         launch_count(kernel));
}

}  // namespace jitgemm
