#include "python/src/default_device.hpp"

#include "runtime/device/device_name.hpp"
#include "runtime/support/default_device.hpp"

#include <optional>
#include <utility>

namespace jitgemm::python {
namespace {

/// Guarded by the GIL; its objects are the process's.
struct Defaults {
    PyObject* of_process = nullptr;  ///< a str, or null: none
    bool is_known = false;           ///< of_process is, JITGEMM_DEVICE included
    PyObject* of_block = nullptr;    ///< asks the context variable; null until there is a block
};
Defaults defaults;

Ref of_environment() {
    const std::optional<std::string> name = device_from_environment();
    return name ? text(*name) : Ref();
}

Ref of_process() {
    if (!defaults.is_known) {
        defaults.of_process = of_environment().release();
        defaults.is_known = true;
    }
    return defaults.of_process == nullptr ? Ref() : Ref::borrowed(defaults.of_process);
}

}  // namespace

std::string device_word(PyObject* device) {
    const bool has_no_name = device == Py_None || PyLong_Check(device) != 0;  // their texts would read as wrong names
    const Ref name = has_no_name ? Ref::borrowed(device) : Ref::owned(str_of(device));
    return to_string(parse_device_name(text_of(name.get(), "device")));
}

Ref default_device() {
    if (defaults.of_block != nullptr) {
        const Ref block = Ref::owned(call_python(defaults.of_block));
        if (block.get() != Py_None) return Ref::borrowed(PyTuple_GetItem(block.get(), 0));
    }
    return of_process();
}

void set_default_device(PyObject* device) {
    Ref name = device == Py_None ? of_environment() : text(device_word(device));
    Py_XDECREF(std::exchange(defaults.of_process, name.release()));
    defaults.is_known = true;
}

void follow_blocks(PyObject* get) {
    if (defaults.of_block == nullptr) defaults.of_block = Ref::borrowed(get).release();
}

}  // namespace jitgemm::python
