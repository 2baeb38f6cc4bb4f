#include "python/src/kernel_set_object.hpp"

#include "generator/base/spec_text.hpp"
#include "python/src/arguments.hpp"
#include "python/src/errors.hpp"
#include "python/src/interruptible.hpp"
#include "python/src/kernel_object.hpp"
#include "python/src/session.hpp"

#include <array>
#include <memory>
#include <string>

namespace jitgemm::python {
namespace {

struct LoadedSet {
    std::shared_ptr<Session> session;
    GemmKernelSet set;
    unsigned generation = 0;
};

struct KernelSetObject {
    PyObject_HEAD LoadedSet* loaded;  ///< null where it could not be made
};

LoadedSet& loaded_set(PyObject* self) {
    LoadedSet* const loaded = reinterpret_cast<KernelSetObject*>(self)->loaded;
    if (loaded == nullptr) throw Error("this kernel set is empty: __init__ was not called");
    if (loaded->generation != fork_generation())
        throw Error("this kernel set belongs to the parent process: after a fork, ask for it again");
    return *loaded;
}

constexpr std::size_t kSetArguments = 6;

const Signature& set_signature() {
    static const std::array<Name, kSetArguments> names{"spec", "first_m", "last_m", "device", "family", "param"};
    static const Signature signature{.function = "KernelSet", .names = names, .positional = 3, .required = 3};
    return signature;
}

std::int64_t rows_of(PyObject* number) {
    const long long rows = PyLong_AsLongLong(number);
    if (rows == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
    return rows;
}

int init_set(PyObject* self, PyObject* positional, PyObject* named) {
    PyObject* const done = guarded([&]() -> PyObject* {
        std::array<PyObject*, kSetArguments> values{};
        read_arguments(set_signature(), positional, named, values.data());
        const auto [spec_text, first_m, last_m, device, family, parameters] = values;
        const GemmSpec spec = parse_spec_text(text_of(spec_text, "spec"));
        auto loaded = std::make_unique<LoadedSet>();
        loaded->session = session_of(selection_of(device, nullptr, family, parameters));
        loaded->generation = fork_generation();
        loaded->set = kernels_interruptibly(loaded->session, spec, rows_of(first_m), rows_of(last_m));
        auto* const object = reinterpret_cast<KernelSetObject*>(self);
        if (object->loaded != nullptr) throw Error("this kernel set is made already: __init__ cannot run twice");
        object->loaded = loaded.release();
        return Py_None;
    });
    return done == nullptr ? -1 : 0;
}

void destroy_set(PyObject* self) {
    auto* const object = reinterpret_cast<KernelSetObject*>(self);
    // A forked process can't give its parent's kernels back to the driver.
    if (object->loaded != nullptr && object->loaded->generation == fork_generation()) delete object->loaded;
    PyTypeObject* const type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

PyObject* kernel_of_rows(PyObject* self, PyObject* m) {
    return guarded([&] {
        const LoadedSet& loaded = loaded_set(self);
        return new_kernel_object(loaded.session, loaded.set.kernel(rows_of(m))).release();
    });
}

PyObject* set_json(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return text(loaded_set(self).set.json()).release(); });
}
PyObject* set_text(PyObject* self) {
    return guarded([&] { return text(loaded_set(self).set.text()).release(); });
}
PyObject* first_row(PyObject* self, void* /*unused*/) {
    return guarded([&] { return PyLong_FromLongLong(loaded_set(self).set.first_m()); });
}
PyObject* last_row(PyObject* self, void* /*unused*/) {
    return guarded([&] { return PyLong_FromLongLong(loaded_set(self).set.last_m()); });
}
PyObject* kernel_names(PyObject* self, void* /*unused*/) {
    return guarded([&] {
        Ref list = Ref::owned(PyList_New(0));
        for (const std::string& name : loaded_set(self).set.kernels())
            check(PyList_Append(list.get(), text(name).get()));
        return list.release();
    });
}

PyGetSetDef set_properties[] = {
    // NOLINT: Python's form
    {"first_m", first_row, nullptr, "The least m that the set serves.", nullptr},
    {"last_m", last_row, nullptr, "The largest m that the set serves.", nullptr},
    {"names", kernel_names, nullptr, "Canonical names of the set's kernels.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef set_methods[] = {
    // NOLINT: Python's form
    {"kernel", kernel_of_rows, METH_O,
     "kernel($self, m, /)\n--\n\nThe Kernel for m rows: a look-up, never a compile. Raises SpecError for an m "
     "outside."},
    {"_report", set_json, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

const char* const kSetDoc =
    "KernelSet(spec, first_m, last_m, /, *, device=None, family=None, param=None)\n--\n\n"
    "A few kernels that serve a problem for each m of a range: what jitgemm.kernels returns. Threads may share it.";

}  // namespace

Ref make_kernel_set_type() {
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>(kSetDoc)},  // NOLINT: Python's form
        {Py_tp_init, reinterpret_cast<void*>(init_set)},
        {Py_tp_dealloc, reinterpret_cast<void*>(destroy_set)},
        {Py_tp_str, reinterpret_cast<void*>(set_text)},
        {Py_tp_getset, set_properties},
        {Py_tp_methods, set_methods},
        {0, nullptr},
    };
    PyType_Spec spec{.name = "jitgemm.KernelSet",
                     .basicsize = sizeof(KernelSetObject),
                     .itemsize = 0,
                     .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                     .slots = slots};
    const Ref bases = Ref::owned(PyTuple_Pack(1, member("_kernel_set", "KernelSetText").get()));
    return Ref::owned(PyType_FromSpecWithBases(&spec, bases.get()));
}

}  // namespace jitgemm::python
