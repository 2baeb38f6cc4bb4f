/// \file The extension jitgemm._core.

#include "jitgemm/version.hpp"
#include "python/src/allocation.hpp"
#include "python/src/batched.hpp"
#include "python/src/default_device.hpp"
#include "python/src/dlpack.hpp"
#include "python/src/errors.hpp"
#include "python/src/interruptible.hpp"
#include "python/src/kernel_object.hpp"
#include "python/src/kernel_set_object.hpp"
#include "python/src/layout_functions.hpp"
#include "python/src/matmul.hpp"
#include "python/src/prepared_object.hpp"
#include "python/src/product.hpp"
#include "runtime/support/request_record.hpp"

namespace jitgemm::python {
namespace {

PyObject* current_gpu(PyObject* /*module*/, PyObject* /*unused*/) {
    return guarded([] {
        const std::shared_ptr<Session> session = session_of({.device = "cuda"});
        return PyLong_FromLong(session->gpu);
    });
}

PyObject* forget(PyObject* /*module*/, PyObject* /*unused*/) {
    forget_sessions();
    Py_RETURN_NONE;
}

/// From now on all requests are recorded, also those whose kernel is known already.
PyObject* record(PyObject* /*module*/, PyObject* file) {
    return guarded([&] {
        const std::string name = file == Py_None ? std::string() : std::string(text_of(file, "path"));
        const std::string before = record_requests(name);
        if (!name.empty()) forget_plans();
        return before.empty() ? Ref::borrowed(Py_None).release() : text(before).release();
    });
}

PyObject* check_options(PyObject* /*module*/, PyObject* arguments) {
    return guarded([&] {
        PyObject *device = nullptr, *deterministic = nullptr, *math = nullptr;
        if (PyArg_ParseTuple(arguments, "OOO", &device, &deterministic, &math) == 0) throw PythonError{};
        check_words(device, deterministic, math);
        return Ref::borrowed(Py_None).release();
    });
}

PyObject* name_of_type(PyObject* /*module*/, PyObject* object) {
    return guarded([&] { return text(type_name(object)).release(); });
}

PyObject* stream_handle(PyObject* /*module*/, PyObject* stream) {
    return guarded([&] { return PyLong_FromVoidPtr(stream_of(stream, {})); });
}

PyObject* read_capsule(PyObject* /*module*/, PyObject* arguments) {
    return guarded([&] { return describe_capsule(arguments).release(); });
}

PyObject* make_gpu_memory(PyObject* /*module*/, PyObject* arguments) {
    return guarded([&] { return gpu_memory(arguments).release(); });
}

PyObject* name_of_device(PyObject* /*module*/, PyObject* device) {
    return guarded([&] { return text(device_word(device)).release(); });
}

PyObject* get_default_device(PyObject* /*module*/, PyObject* /*unused*/) {
    return guarded([] {
        Ref device = default_device();
        return device.get() == nullptr ? Ref::borrowed(Py_None).release() : device.release();
    });
}

PyObject* set_default(PyObject* /*module*/, PyObject* device) {
    return guarded([&] {
        set_default_device(device);
        return Ref::borrowed(Py_None).release();
    });
}

PyObject* follow_with_blocks(PyObject* /*module*/, PyObject* get) {
    follow_blocks(get);
    Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    // NOLINT: Python's form
    {"matmul", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(matmul)), METH_FASTCALL | METH_KEYWORDS,
     kMatmulDoc},
    {"grouped_matmul", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(grouped_matmul)),
     METH_FASTCALL | METH_KEYWORDS, kGroupedMatmulDoc},
    {"batched_matmul", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(batched_matmul)),
     METH_FASTCALL | METH_KEYWORDS, kBatchedMatmulDoc},
    {"syrk", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(syrk)), METH_FASTCALL | METH_KEYWORDS,
     kSyrkDoc},
    {"layout_evaluate", layout_evaluate, METH_O, nullptr},
    {"layout_text", layout_text, METH_O, nullptr},
    {"layout_table", layout_table, METH_O, nullptr},
    {"layout_picture", layout_picture, METH_VARARGS, nullptr},
    {"read_capsule", read_capsule, METH_VARARGS, nullptr},
    {"gpu_memory", make_gpu_memory, METH_VARARGS, nullptr},
    {"stream_handle", stream_handle, METH_O, nullptr},
    {"type_name", name_of_type, METH_O, nullptr},
    {"check_words", check_options, METH_VARARGS, nullptr},
    {"device_name", name_of_device, METH_O, nullptr},
    {"default_device", get_default_device, METH_NOARGS, nullptr},
    {"set_default_device", set_default, METH_O, nullptr},
    {"follow_blocks", follow_with_blocks, METH_O, nullptr},
    {"current_gpu", current_gpu, METH_NOARGS, nullptr},
    {"forget", forget, METH_NOARGS, nullptr},
    {"record", record, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyModuleDef definition{.m_base = PyModuleDef_HEAD_INIT,
                       .m_name = "jitgemm._core",
                       .m_doc = nullptr,
                       .m_size = -1,
                       .m_methods = functions,
                       .m_slots = nullptr,
                       .m_traverse = nullptr,
                       .m_clear = nullptr,
                       .m_free = nullptr};

PyObject* make_module() {
    Ref module = Ref::owned(PyModule_Create(&definition));
    watch_forks();
    watch_exit();
    Ref kernel = make_kernel_type();
    check(PyModule_AddObject(module.get(), "Kernel", kernel.get()));
    static_cast<void>(kernel.release());  // the module's now
    Ref prepared = make_prepared_type();
    check(PyModule_AddObject(module.get(), "Prepared", prepared.get()));
    static_cast<void>(prepared.release());  // the module's now
    Ref kernel_set = make_kernel_set_type();
    check(PyModule_AddObject(module.get(), "KernelSet", kernel_set.get()));
    static_cast<void>(kernel_set.release());  // the module's now
    check(PyModule_AddStringConstant(module.get(), "version", kVersion));
    check(PyModule_AddIntConstant(module.get(), "DLPACK_CUDA", dlpack::kDLCUDA));
    check(PyModule_AddIntConstant(module.get(), "DLPACK_MANAGED", dlpack::kDLCUDAManaged));
    return module.release();
}

}  // namespace
}  // namespace jitgemm::python

// NOLINTNEXTLINE(readability-identifier-naming, bugprone-reserved-identifier): Python's name
PyMODINIT_FUNC PyInit__core() {
    return jitgemm::python::guarded([] { return jitgemm::python::make_module(); });
}
