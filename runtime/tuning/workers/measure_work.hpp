#pragma once

#include "jitgemm/context.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"

#include <memory>

namespace jitgemm::tuning {

/// The work of a measuring worker on `command.options.device`, with kernels from `command.options.cache_directory` (a
/// missing one is compiled). Throws CudaError or Error if there is no such device. verify: exact inputs
/// (ExactVerifier); on the emulator all its checks (verify_emulated). time: interleaved rounds over operands that stay
/// between calls (ProblemBenches). A round spoilt by a thermal or hardware slowdown is repeated (measure_round).
/// `cublaslt` is screened once per problem: its fastest algorithm with a right result is timed. On the emulator a
/// sample is the estimated time, the same in each round. Errors after which the device is usable are `unfit`, and
/// others `crashed`: the device then answers nothing more.
[[nodiscard]] std::unique_ptr<MeasureWork> make_measure_work(const WorkerCommand& command);

/// The facts of a context's device, as a measuring worker reports them.
[[nodiscard]] DeviceFacts device_facts(ContextState& context);

/// The verdict on a kernel whose work threw this exception: unfit or crashed.
[[nodiscard]] Verdict verdict_of(const std::exception& error);

}  // namespace jitgemm::tuning
