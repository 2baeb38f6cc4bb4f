#include "python/src/dtype.hpp"

#include "generator/base/served_types.hpp"
#include "generator/text/nearest_name.hpp"
#include "python/src/errors.hpp"

#include <fmt/format.h>

#include <optional>

namespace jitgemm::python {
namespace {

constexpr Py_ssize_t kMostKnown = 100;

/// dtypes that were given before, with their number. They are few, and most live as long as their library.
PyObject* known_dtypes() {
    static PyObject* const known = PyDict_New();
    if (known == nullptr) throw PythonError{};
    return known;
}

std::optional<DataType> known_type(PyObject* dtype) {
    PyObject* const number = PyDict_GetItemWithError(known_dtypes(), dtype);
    if (number == nullptr) {
        PyErr_Clear();  // of what can't be a key
        return std::nullopt;
    }
    return static_cast<DataType>(PyLong_AsLong(number));
}

void remember(PyObject* dtype, DataType type) {
    if (PyDict_Size(known_dtypes()) >= kMostKnown) PyDict_Clear(known_dtypes());
    const Ref number = Ref::owned(PyLong_FromLong(static_cast<long>(type)));
    if (PyDict_SetItem(known_dtypes(), dtype, number.get()) != 0) PyErr_Clear();
}

[[noreturn]] void refuse_dtype(std::string_view word, const char* argument) {
    std::vector<std::string_view> served;
    for (const DataType type : served_types()) served.push_back(to_string(type));
    throw SpecError("invalid problem",
                    {fmt::format("{} is '{}': a dtype or its name, one of {}", argument, word, join_names(served))});
}

}  // namespace

DataType data_type_of(PyObject* dtype, const char* argument) {
    if (const std::optional<DataType> known = known_type(dtype)) return *known;
    const Ref word = called(member("_dtypes", "word").get(), PyTuple_Pack(1, dtype));
    const std::optional<DataType> type = data_type_of_word(words_of(word.get()));
    if (!type) refuse_dtype(words_of(word.get()), argument);
    remember(dtype, *type);
    return *type;
}

}  // namespace jitgemm::python
