#pragma once

#include "jitgemm/context.hpp"
#include "runtime/tuning/workers/worker_command.hpp"
#include "runtime/tuning/workers/worker_loop.hpp"

#include <memory>

namespace jitgemm::tuning {

/// What a measuring worker does on `command.options.device`, with kernels from `command.options.cache_directory` (one
/// that is not there is compiled). Throws CudaError / Error when there is no such device.
///
/// verify: exact inputs (ExactVerifier); on the emulator all its checks (verify_emulated).
/// time: interleaved rounds over operands that stay in place between calls (ProblemBenches); a round
/// spoilt by a thermal or hardware slowdown is repeated (measure_round). `cublaslt` is screened once per problem: the
/// fastest of its algorithms whose result is right. On the emulator a sample is the estimated time, the same each
/// round.
///
/// Errors that leave the device usable are `unfit`, others `crashed`: after one the device answers nothing more.
[[nodiscard]] std::unique_ptr<MeasureWork> make_measure_work(const WorkerCommand& command);

/// Of a context's device, as a measuring worker says them.
[[nodiscard]] DeviceFacts device_facts(ContextState& context);

/// What an exception of a kernel's work says of it: unfit or crashed.
[[nodiscard]] Verdict verdict_of(const std::exception& error);

}  // namespace jitgemm::tuning
