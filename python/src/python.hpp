#pragma once

// CPython's stable ABI of 3.10: one module for every later version.
#define PY_SSIZE_T_CLEAN
// Weak: the program jitgemm loads the extension for the tool in it, without an interpreter.
#define PyAPI_FUNC(type) __attribute__((visibility("default"), weak)) type
#define PyAPI_DATA(type) extern __attribute__((visibility("default"), weak)) type
#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace jitgemm::python {

/// Thrown where a Python exception is set.
struct PythonError {};

/// An owned reference, or none.
class Ref {
public:
    Ref() = default;
    /// Takes over a new reference; throws PythonError for the null that says an exception is set.
    static Ref owned(PyObject* object) {
        if (object == nullptr) throw PythonError{};
        Ref ref;
        ref.object_ = object;
        return ref;
    }
    static Ref borrowed(PyObject* object) {
        Py_INCREF(object);
        return owned(object);
    }
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    Ref& operator=(Ref&& other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }
    Ref(const Ref&) = delete;
    Ref& operator=(const Ref&) = delete;
    ~Ref() { Py_XDECREF(object_); }

    [[nodiscard]] PyObject* get() const { return object_; }
    [[nodiscard]] PyObject* release() { return std::exchange(object_, nullptr); }

private:
    PyObject* object_ = nullptr;
};

/// Other Python threads run meanwhile. Nothing of Python's may be touched.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;
    ~WithoutGil() { PyEval_RestoreThread(state_); }

private:
    PyThreadState* state_;
};

inline void check(int status) {
    if (status < 0) throw PythonError{};
}

/// Of a str; valid as long as that lives. TypeError of anything else.
inline std::string_view text_of(PyObject* text) {
    if (PyUnicode_Check(text) == 0) {
        PyErr_Format(PyExc_TypeError, "expected a str, got %R", text);
        throw PythonError{};
    }
    Py_ssize_t size = 0;
    const char* const characters = PyUnicode_AsUTF8AndSize(text, &size);
    if (characters == nullptr) throw PythonError{};
    return {characters, static_cast<std::size_t>(size)};
}

inline Ref text(std::string_view of) {
    return Ref::owned(PyUnicode_FromStringAndSize(of.data(), static_cast<Py_ssize_t>(of.size())));
}

/// Of integers.
inline Ref tuple_of(std::span<const std::int64_t> values) {
    Ref tuple = Ref::owned(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
    for (std::size_t i = 0; i < values.size(); ++i)
        check(PyTuple_SetItem(tuple.get(), static_cast<Py_ssize_t>(i),
                              Ref::owned(PyLong_FromLongLong(values[i])).release()));
    return tuple;
}

/// A member of a module of this package, which is imported if it was not: of("_arrays", "describe").
inline Ref member(const char* module, const char* name) {
    const Ref imported = Ref::owned(PyImport_ImportModule((std::string("jitgemm.") + module).c_str()));
    return Ref::owned(PyObject_GetAttrString(imported.get(), name));
}

/// The same, kept in a static variable. An import may let other threads run: a static initialiser would then wait for them, and they for it.
inline PyObject* kept_member(PyObject*& kept, const char* module, const char* name) {
    if (kept == nullptr) kept = member(module, name).release();
    return kept;
}

/// What a type is called in messages: "numpy.ndarray", "list".
std::string type_name(PyObject* object);

}  // namespace jitgemm::python
