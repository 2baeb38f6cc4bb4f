#pragma once

namespace jitgemm {

/// Keeps a loaded libnvrtc from replacing the process's signal handlers. While its front end runs, NVRTC sets its own
/// handlers for SIGINT and SIGTERM, which end the process without a message in whichever thread takes the signal.
/// Blocking the signals in the compiling thread would only pass them to other threads. The library's import of signal()
/// is therefore pointed to a function that sets nothing, for all compiles. A shared library with this code is never
/// unloaded from then on. `function` is any function of the library. The result is false, and nothing is changed, if
/// the library does not import signal().
bool keep_signal_handlers(const void* function);

}  // namespace jitgemm
