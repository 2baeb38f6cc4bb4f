#pragma once

#include "python/src/thread_end.hpp"

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

/// Other Python threads run meanwhile. Nothing of Python's may be touched. Where the interpreter has ended meanwhile,
/// the thread never goes on.
class WithoutGil {
public:
    WithoutGil() : state_(PyEval_SaveThread()) {}
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;
    ~WithoutGil() { take_gil(state_); }

private:
    PyThreadState* state_;
};

inline void check(int status) {
    if (status < 0) throw PythonError{};
}

/// Of a str that a caller gave; valid as long as that lives. TypeError of anything else, SpecError of a text with a
/// NUL, where texts of C end. `name`: of the argument, for messages.
[[nodiscard]] std::string_view text_of(PyObject* text, const char* name = "an argument");

/// Of a str of any origin, for messages: a NUL is written as \0.
[[nodiscard]] std::string words_of(PyObject* text);

inline Ref text(std::string_view of) {
    return Ref::owned(PyUnicode_FromStringAndSize(of.data(), static_cast<Py_ssize_t>(of.size())));
}

/// Of a function that may be code in Python; takes over the arguments, a tuple.
inline Ref called(PyObject* function, PyObject* arguments) {
    const Ref held = Ref::owned(arguments);
    return Ref::owned(call_python(function, held.get()));
}

/// Of a method.
inline Ref called_method(PyObject* object, const char* name, PyObject* arguments) {
    return called(Ref::owned(attribute_of(object, name)).get(), arguments);
}

/// Of a method without arguments.
inline Ref called_method(PyObject* object, const char* name) {
    return Ref::owned(call_python(Ref::owned(attribute_of(object, name)).get()));
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
    const Ref imported = Ref::owned(import_module((std::string("jitgemm.") + module).c_str()));
    return Ref::owned(attribute_of(imported.get(), name));
}

/// The same, kept as long as the module is the one that is imported: a program may import the package anew. For a
/// static variable that needs no initialiser: an import may let other threads run, which would wait for one, and it for
/// them.
class KeptMember {
public:
    constexpr KeptMember(const char* module, const char* name) : module_name_(module), name_(name) {}

    /// Borrowed.
    [[nodiscard]] PyObject* get();

private:
    const char* module_name_;
    const char* name_;
    PyObject* full_name_ = nullptr;
    PyObject* module_ = nullptr;
    PyObject* member_ = nullptr;
};

/// The name of a type in messages: "numpy.ndarray", "list".
std::string type_name(PyObject* object);

}  // namespace jitgemm::python
