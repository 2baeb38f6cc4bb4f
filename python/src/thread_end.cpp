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

template <typename Answer, typename Function>
Answer called_to_the_end(Function function) noexcept {
    Answer volatile answer{};
    pthread_cleanup_push(sleep_for_ever, nullptr);
    answer = function();
    pthread_cleanup_pop(0);
    return answer;
}

template <typename Function>
PyObject* made(Function function) noexcept {
    return called_to_the_end<PyObject*>(function);
}

}  // namespace

void take_gil(PyThreadState* state) noexcept {
    pthread_cleanup_push(sleep_for_ever, nullptr);
    PyEval_RestoreThread(state);
    pthread_cleanup_pop(0);
}

PyObject* call_python(PyObject* callable, PyObject* positional, PyObject* named) noexcept {
    if (positional == nullptr && named == nullptr) return made([=] { return PyObject_CallNoArgs(callable); });
    return made([=] { return PyObject_Call(callable, positional, named); });
}

PyObject* call_method(PyObject* object, PyObject* name) noexcept {
    return made([=] { return PyObject_CallMethodObjArgs(object, name, nullptr); });
}

PyObject* import_module(PyObject* name) noexcept {
    return made([=] { return PyImport_Import(name); });
}

PyObject* import_module(const char* name) noexcept {
    return made([=] { return PyImport_ImportModule(name); });
}

PyObject* attribute_of(PyObject* object, PyObject* name) noexcept {
    return made([=] { return PyObject_GetAttr(object, name); });
}

PyObject* attribute_of(PyObject* object, const char* name) noexcept {
    return made([=] { return PyObject_GetAttrString(object, name); });
}

bool has_attribute(PyObject* object, const char* name) noexcept {
    return called_to_the_end<int>([=] { return PyObject_HasAttrString(object, name); }) != 0;
}

PyObject* str_of(PyObject* object) noexcept {
    return made([=] { return PyObject_Str(object); });
}

PyObject* repr_of(PyObject* object) noexcept {
    return made([=] { return PyObject_Repr(object); });
}

int is_true(PyObject* object) noexcept {
    return called_to_the_end<int>([=] { return PyObject_IsTrue(object); });
}

void write_unraisable(PyObject* object) noexcept {
    pthread_cleanup_push(sleep_for_ever, nullptr);
    PyErr_WriteUnraisable(object);
    pthread_cleanup_pop(0);
}

}  // namespace jitgemm::python
