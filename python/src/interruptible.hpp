#pragma once

#include "jitgemm/context.hpp"
#include "python/src/session.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace jitgemm::python {

/// \file Work of seconds and minutes that Ctrl-C ends. It runs on a thread of its own, without the GIL, while the
/// calling one looks whether a signal has come whose handler raises: that is done by Python's main thread alone, in
/// others nothing interrupts.

/// An emulated launch: within a moment it has ended, its results unwritten, and PythonError is thrown. Throws what
/// `launch` does.
void launch_interruptibly(const std::function<void()>& launch);

/// The kernel for a spec. No compiler can be stopped: PythonError is thrown at once, and the kernel made nevertheless,
/// for whoever asks next. `on_miss`: unset where the context's options decide.
[[nodiscard]] GemmKernel kernel_interruptibly(const std::shared_ptr<Session>& session, const GemmSpec& spec,
                                              std::optional<OnMiss> on_miss);

/// The same of a set of kernels.
[[nodiscard]] GemmKernelSet kernels_interruptibly(const std::shared_ptr<Session>& session, const GemmSpec& spec,
                                                  std::int64_t first_m, std::int64_t last_m);

/// Once, before the first kernel: the process's end stops launches, and waits for compilers that are still at work.
void watch_exit();

}  // namespace jitgemm::python
