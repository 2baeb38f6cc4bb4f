#include "python/src/log_messages.hpp"

#include "python/src/errors.hpp"
#include "runtime/support/log.hpp"

#include <pthread.h>

#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::python {
namespace {

/// Of programs that log more than they call: further lines are dropped.
constexpr std::size_t kMostWaiting = 1000;

struct Message {
    LogLevel level = LogLevel::info;
    std::string text;
};

/// A fork leaves those of its parent, whose mutex another thread may have held.
struct Waiting {
    std::mutex mutex;
    std::vector<Message> messages;
};

Waiting*& waiting() {
    static auto* current = new Waiting;
    return current;
}

// Guarded by the GIL, as is the level.
bool follows = false;
bool has_left = false;  ///< at the interpreter's end
std::string named_level;

void keep(LogLevel level, const std::string& text) {
    Waiting& all = *waiting();
    const std::scoped_lock lock(all.mutex);
    if (all.messages.size() == kMostWaiting) return;
    all.messages.push_back({level, text});
    messages_wait = true;
}

std::vector<Message> take_messages() {
    Waiting& all = *waiting();
    const std::scoped_lock lock(all.mutex);
    messages_wait = false;
    return std::exchange(all.messages, {});
}

void deliver(const Message& message) {
    const std::string_view level = kLogLevelNames.at(static_cast<std::size_t>(message.level));
    const Ref arguments = Ref::owned(
        Py_BuildValue("(NNN)", text(level).release(), text(message.text).release(), text(named_level).release()));
    static_cast<void>(Ref::owned(call_python(member("_log", "deliver").get(), arguments.get())));
}

/// An exception of a log handler doesn't end the product. Ctrl-C is raised again as soon as the caller can be
/// interrupted.
void pass_over_exception() {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) return write_unraisable(nullptr);
    PyErr_Clear();
    PyErr_SetInterrupt();
}

/// Before the interpreter takes itself apart: lines that follow go to stderr, as without Python.
PyObject* leave_log(PyObject* /*self*/, PyObject* /*unused*/) {
    return guarded([] {
        has_left = true;
        set_log_listener({});
        set_log_level(named_level.empty() ? "warning" : named_level);
        Py_RETURN_NONE;
    });
}

void leave_log_at_exit() {
    static PyMethodDef leave{"leave_log", leave_log, METH_NOARGS, nullptr};
    const Ref function = Ref::owned(PyCFunction_New(&leave, nullptr));
    const Ref atexit = Ref::owned(import_module("atexit"));
    static_cast<void>(called_method(atexit.get(), "register", PyTuple_Pack(1, function.get())));
}

}  // namespace

std::atomic<bool> messages_wait{false};

void follow_log(Options& options) {
    if (has_left) return;
    set_log_level(options.log_level);  // refuses what is no level
    named_level = options.log_level;
    if (options.log_level.empty()) options.log_level = "debug";
    if (std::exchange(follows, true)) return;
    leave_log_at_exit();
    const auto after_fork = [] {
        waiting() = new Waiting;
        messages_wait = false;
    };
    if (pthread_atfork(nullptr, nullptr, after_fork) != 0) throw std::bad_alloc();
    set_log_listener(keep);
}

void deliver_messages() noexcept {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    for (const Message& message : take_messages()) {
        try {
            deliver(message);
        } catch (...) {
            pass_over_exception();
        }
    }
    PyErr_Restore(type, value, trace);
}

}  // namespace jitgemm::python
