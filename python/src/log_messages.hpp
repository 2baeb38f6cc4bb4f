#pragma once

#include "jitgemm/options.hpp"

#include <atomic>

namespace jitgemm::python {

/// Lines of the library's log wait here for a thread that leaves a function of this module. That thread hands them to
/// Python's logger "jitgemm" (_log.py), as if it had logged itself. So no thread of the library ever asks for the GIL,
/// and no lock is held while Python runs.

/// Called before a context is made with the options. Lines wait from the first call on, until the interpreter exits.
/// Unless JITGEMM_LOG names a level, all lines do: Python's loggers have levels of their own.
void follow_log(Options& options);

extern std::atomic<bool> messages_wait;
/// By the GIL's holder. An exception that is set stays set.
void deliver_messages() noexcept;

inline void deliver_waiting_messages() noexcept {
    if (messages_wait.load(std::memory_order_relaxed)) deliver_messages();
}

}  // namespace jitgemm::python
