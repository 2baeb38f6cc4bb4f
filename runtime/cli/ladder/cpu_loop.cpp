#include "runtime/cli/ladder/cpu_loop.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

namespace jitgemm {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kWorkBetweenLooks = 1 << 20;  // multiply-adds from one look at the clock to the next
constexpr int kValues = 7;                           // inputs are -3 to 3
constexpr int kMiddle = kValues / 2;

/// From one element to the next along rows and columns.
struct Strides {
    std::int64_t row;
    std::int64_t column;
};

Strides strides(Order order, std::int64_t leading_dimension) {
    return order == Order::row ? Strides{leading_dimension, 1} : Strides{1, leading_dimension};
}

/// Left uninitialised: D is written, the others are filled.
std::unique_ptr<float[]> allocate(std::int64_t count) {  // NOLINT(modernize-avoid-c-arrays): its size is in the spec
    return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
}

void fill(float* values, std::int64_t count, int first) {
    int value = first;
    for (std::int64_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(value - kMiddle);
        value = value + 1 == kValues ? 0 : value + 1;
    }
}

void check_memory(const GemmSpec& spec) {
    const double needed = cpu_loop_bytes(spec);
    if (needed <= kCpuLoopMemory) return;
    throw Error(fmt::format("its operands take {:.1f} GiB in f32, more than the {:.0f} GiB that the CPU loop may take",
                            needed / (1LL << 30), kCpuLoopMemory / (1LL << 30)));
}

}  // namespace

double CpuLoopRun::extrapolated_microseconds(const GemmSpec& spec) const {
    const double all = static_cast<double>(spec.m) * static_cast<double>(spec.n);
    return elements == 0 ? 0 : seconds * 1e6 * all / static_cast<double>(elements);
}

CpuLoopRun run_cpu_loop(const Problem& problem, const CpuLoopOperands& operands, float alpha, float beta,
                        double limit_seconds, CpuLoopStop stop) {
    const GemmSpec& spec = problem.asked;
    const Strides a = strides(order_a(spec.layout), spec.lda);
    const Strides b = strides(order_b(spec.layout), spec.ldb);
    const Strides c = strides(spec.d_order, spec.ldc);
    const Strides d = strides(spec.d_order, spec.ldd);
    const bool reads_c = spec.c.has_value() && beta != 0.0F;
    const std::int64_t between_looks = std::max<std::int64_t>(1, kWorkBetweenLooks / std::max<std::int64_t>(1, spec.k));
    const auto start = Clock::now();
    CpuLoopRun run;
    for (std::int64_t i = 0; i < spec.m; ++i) {
        for (std::int64_t j = 0; j < spec.n; ++j) {
            float sum = 0;
            for (std::int64_t k = 0; k < spec.k; ++k)
                sum += operands.a[i * a.row + k * a.column] * operands.b[k * b.row + j * b.column];
            const float addend = reads_c ? beta * operands.c[i * c.row + j * c.column] : 0.0F;
            operands.d[i * d.row + j * d.column] = alpha * sum + addend;

            if (++run.elements % between_looks != 0) continue;
            run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
            if (run.seconds > limit_seconds || (stop != nullptr && stop())) {
                run.whole = run.elements == spec.m * spec.n;
                return run;
            }
        }
    }
    run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    run.whole = true;
    return run;
}

double cpu_loop_bytes(const GemmSpec& spec) {
    const OperandExtents extents = operand_extents(spec);
    const double c = spec.c ? static_cast<double>(extents.c) : 0;
    return sizeof(float) *
           (static_cast<double>(extents.a) + static_cast<double>(extents.b) + static_cast<double>(extents.d) + c);
}

CpuLoopRun time_cpu_loop(const GemmSpec& spec, float alpha, float beta, double limit_seconds, CpuLoopStop stop) {
    check_memory(spec);
    const OperandExtents extents = operand_extents(spec);
    const auto a = allocate(extents.a);
    const auto b = allocate(extents.b);
    const auto c = allocate(spec.c ? extents.c : 0);
    const auto d = allocate(extents.d);
    fill(a.get(), extents.a, 0);
    fill(b.get(), extents.b, 3);
    if (spec.c) fill(c.get(), extents.c, 5);
    return run_cpu_loop(problem_of(spec), {.a = a.get(), .b = b.get(), .c = c.get(), .d = d.get()}, alpha, beta,
                        limit_seconds, stop);
}

}  // namespace jitgemm
