#pragma once

namespace jitgemm {

/// Keeps a loaded libnvrtc from replacing the process's signal handlers. While its front end runs, NVRTC sets handlers
/// of its own for SIGINT and SIGTERM, which end the process without a word whichever thread takes the signal. Blocking
/// the signals in the thread that compiles would only hand them to the others; so the library's import of signal() is
/// pointed to a function that sets nothing, once and for all compiles. A shared library that has this code is never
/// unloaded from then on.
///
/// `function`: any function of the library. False when the library imports no signal(): nothing is changed then.
bool keep_signal_handlers(const void* function);

}  // namespace jitgemm
