#include "runtime/verify/emulated_time.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/roofline.hpp"
#include "runtime/context/context_state.hpp"

#include <algorithm>

namespace jitgemm {
namespace {

/// Bytes of all operands of a launch, each once.
double footprint(const GemmSpec& spec, float alpha, float beta) {
    const auto matrix = [](std::int64_t rows, std::int64_t columns, DataType type) {
        return static_cast<double>(rows) * static_cast<double>(columns) * bytes(type);
    };
    const auto [rows, columns] = size_of_d(spec);
    double sum = matrix(rows, columns, spec.d);
    if (alpha != 0.0F) sum += matrix(spec.m, spec.k, spec.a) + matrix(spec.k, spec.n, spec.b);
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
