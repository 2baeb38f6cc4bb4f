#include "python/src/errors.hpp"

#include "generator/layout/int_tuple.hpp"
#include "runtime/emulator/fault.hpp"

#include <exception>
#include <new>
#include <string_view>

namespace jitgemm::python {
namespace {

using Details = std::vector<std::pair<const char*, std::string>>;

/// Raises jitgemm._errors.NAME(message, reasons, **details).
void raise(const char* name, const std::string& message, const std::vector<std::string>& reasons = {},
           const Details& details = {}) {
    const Ref type = member("_errors", name);
    const Ref listed = Ref::owned(PyTuple_New(static_cast<Py_ssize_t>(reasons.size())));
    for (std::size_t i = 0; i < reasons.size(); ++i)
        check(PyTuple_SetItem(listed.get(), static_cast<Py_ssize_t>(i), text(reasons[i]).release()));
    const Ref positional = Ref::owned(Py_BuildValue("(NO)", text(message).release(), listed.get()));
    const Ref named = Ref::owned(PyDict_New());
    for (const auto& [key, value] : details) check(PyDict_SetItemString(named.get(), key, text(value).get()));
    const Ref exception = Ref::owned(call_python(type.get(), positional.get(), named.get()));
    PyErr_SetObject(type.get(), exception.get());
}

void raise_current() {
    try {
        throw;
    } catch (const PythonError&) {
        return;  // it is set
    } catch (const OperandError& error) {
        raise("OperandError", error.what(), error.reasons());
    } catch (const SpecError& error) {
        raise("SpecError", error.what(), error.reasons());
    } catch (const ConfigError& error) {
        raise("ConfigError", error.what(), error.reasons());
    } catch (const KernelNotReady& error) {
        raise("KernelNotReady", error.what(), {}, {{"kernel", error.kernel()}});
    } catch (const CompileError& error) {
        raise("CompileError", error.what(), {}, {{"log", error.log()}});
    } catch (const RenderError& error) {
        raise("RenderError", error.what());
    } catch (const CudaError& error) {
        raise("CudaError", error.what(), {}, {{"result", error.result_name()}, {"call", error.call()}});
    } catch (const LayoutError& error) {
        raise("LayoutError", error.what());
    } catch (const emulator::EmulatorFault& error) {
        raise("EmulatorFault", error.what());
    } catch (const std::bad_alloc&) {
        PyErr_NoMemory();
    } catch (const std::exception& error) {
        raise("Error", error.what());
    }
}

}  // namespace

PyObject* set_python_exception() noexcept {
    try {
        raise_current();
    } catch (const PythonError&) {
        return nullptr;  // raising it failed: what is set says why
    } catch (...) {
        PyErr_SetString(PyExc_SystemError, "jitgemm: an exception that could not be raised");
    }
    return nullptr;
}

std::string take_complaint() {
    if (PyErr_ExceptionMatches(PyExc_Exception) == 0) throw PythonError{};
    for (PyObject* const not_the_library : {PyExc_MemoryError, PyExc_RecursionError})
        if (PyErr_ExceptionMatches(not_the_library) != 0) throw PythonError{};
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    const Ref held_type = Ref::owned(type), held_value = Ref::owned(value);
    Py_XDECREF(trace);
    const std::string words = words_of(Ref::owned(str_of(value)).get());
    return words.empty() ? type_name(value) : words.substr(0, words.find('\n'));
}

std::string_view text_of(PyObject* text, const char* name) {
    if (PyUnicode_Check(text) == 0) {
        PyErr_Format(PyExc_TypeError, "%s is %R: a str is expected", name, text);
        throw PythonError{};
    }
    Py_ssize_t size = 0;
    const char* const characters = PyUnicode_AsUTF8AndSize(text, &size);
    if (characters == nullptr && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError) != 0) {
        PyErr_Clear();
        throw SpecError(
            "invalid text",
            {fmt::format("{} is '{}': it must not contain half a character (a lone surrogate)", name, words_of(text))});
    }
    if (characters == nullptr) throw PythonError{};
    const std::string_view all(characters, static_cast<std::size_t>(size));
    if (all.find('\0') != std::string_view::npos)
        throw SpecError("invalid text", {std::string(name) + " is '" + words_of(text) + "': it must not contain NUL"});
    return all;
}

std::string words_of(PyObject* text) {
    const Ref bytes = Ref::owned(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
    char* characters = nullptr;
    Py_ssize_t size = 0;
    check(PyBytes_AsStringAndSize(bytes.get(), &characters, &size));
    std::string words;
    for (const char character : std::string_view(characters, static_cast<std::size_t>(size)))
        if (character == '\0')
            words += "\\0";
        else
            words += character;
    return words;
}

PyObject* KeptMember::get() {
    if (full_name_ == nullptr)
        full_name_ = PyUnicode_InternFromString((std::string("jitgemm.") + module_name_).c_str());
    Ref imported;
    if (PyObject* const known = PyImport_GetModule(full_name_); known != nullptr) imported = Ref::owned(known);
    if (imported.get() != nullptr && imported.get() == module_) return member_;
    Ref now = Ref::owned(import_module(full_name_));
    Ref member = Ref::owned(attribute_of(now.get(), name_));
    // The earlier object stays alive: another thread may be calling it.
    module_ = now.release();
    member_ = member.release();
    return member_;
}

std::string type_name(PyObject* object) {
    auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
    const Ref name = Ref::owned(attribute_of(type, "__name__"));
    const Ref module = Ref::owned(attribute_of(type, "__module__"));
    if (!PyUnicode_Check(module.get()) || words_of(module.get()) == "builtins") return words_of(name.get());
    return words_of(module.get()) + "." + words_of(name.get());
}

}  // namespace jitgemm::python
