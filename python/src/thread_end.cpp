#include "python/src/thread_end.hpp"

#include <pthread.h>
#include <unistd.h>

// With exceptions, pthread_cleanup_push is a class, whose destructor the unwinder runs. The wheel links an unwinder of
// its own, and pthread_exit takes libgcc_s's: they don't go together. Without exceptions it is a place that glibc jumps
// to before any frame above is unwound.
#ifdef __EXCEPTIONS
#error "this file is compiled with -fno-exceptions"
#endif

namespace jitgemm::python {
namespace {

void sleep_for_ever(void* /*unused*/) {
    while (true) pause();
}

}  // namespace

void take_gil(PyThreadState* state) noexcept {
    pthread_cleanup_push(sleep_for_ever, nullptr);
    PyEval_RestoreThread(state);
    pthread_cleanup_pop(0);
}

PyObject* call_python(PyObject* callable, PyObject* positional, PyObject* named) noexcept {
    PyObject* volatile answer = nullptr;
    pthread_cleanup_push(sleep_for_ever, nullptr);
    answer = PyObject_Call(callable, positional, named);
    pthread_cleanup_pop(0);
    return answer;
}

}  // namespace jitgemm::python
