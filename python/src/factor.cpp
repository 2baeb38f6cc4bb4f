#include "python/src/factor.hpp"

#include "python/src/errors.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

namespace jitgemm::python {
namespace {

[[noreturn]] void refuse_large_factor(const char* name, const std::string& value) {
    throw SpecError("invalid launch", {fmt::format("{} is {}: it must fit into f32", name, value)});
}

/// Where it is none, says which argument it is; what else was raised (by a __float__) is raised as it is.
[[noreturn]] void refuse_factor(PyObject* object, const char* name) {
    if (PyLong_Check(object) != 0 && PyErr_ExceptionMatches(PyExc_OverflowError) != 0) {
        PyErr_Clear();
        refuse_large_factor(name, "an integer of more than 1024 bits");
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError) != 0)
        PyErr_Format(PyExc_TypeError, "%s is of type %s: a real number is expected", name, type_name(object).c_str());
    throw PythonError{};
}

/// A number of Python's has no derivative. A factor of another kind may, which the product would lose.
void check_factor(PyObject* object, const char* name) {
    if (PyFloat_Check(object) != 0 || PyLong_Check(object) != 0) return;
    static KeptMember function("_arrays", "check_factor");
    static_cast<void>(called(function.get(), Py_BuildValue("(Os)", object, name)));
}

}  // namespace

float factor_of(PyObject* object, const char* name, float otherwise) {
    if (object == nullptr || object == Py_None) return otherwise;
    check_factor(object, name);
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr) refuse_factor(object, name);
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
        refuse_large_factor(name, fmt::format("{}", value));
    return static_cast<float>(value);
}

}  // namespace jitgemm::python
