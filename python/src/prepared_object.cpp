#include "python/src/prepared_object.hpp"

#include "generator/base/operand.hpp"
#include "python/src/errors.hpp"
#include "python/src/product.hpp"
#include "runtime/c_api/copied_operand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm::python {
namespace {

struct Made {
    PreparedOperand prepared;
    Ref array;
    unsigned generation = 0;
};

struct PreparedObject {
    PyObject_HEAD Made* made;
};

PyTypeObject* prepared_type = nullptr;  // NOLINT: of the module that was made last

Made& made_of(PyObject* self) {
    Made* const made = reinterpret_cast<PreparedObject*>(self)->made;
    if (made == nullptr) throw Error("this Prepared is empty: prepare_a() and prepare_b() of a Kernel make one");
    if (made->generation != fork_generation())
        throw Error("this Prepared belongs to the parent process: after a fork, prepare the array again");
    return *made;
}

void destroy_prepared(PyObject* self) {
    auto* const object = reinterpret_cast<PreparedObject*>(self);
    // A forked process can't give its parent's memory back to the driver.
    if (object->made != nullptr && object->made->generation == fork_generation()) delete object->made;
    PyTypeObject* const type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

/// One line for each fact in which the array differs from the kernel's operand.
std::vector<std::string> misfits(const Operand& array, const GemmOperand& operand) {
    std::vector<std::string> found;
    const std::array shape{operand.rows, operand.columns};
    if (array.type != operand.type)
        found.push_back(fmt::format("{} is of type {} here and {} in the kernel", operand.name,
                                    array.type ? to_string(*array.type) : "?", to_string(operand.type)));
    if (!std::ranges::equal(array.extents(), shape)) {
        found.push_back(fmt::format("{} has shape {} here and {} in the kernel", operand.name,
                                    shape_text(array.extents()), shape_text(shape)));
        return found;
    }
    const bool by_row = operand.order == Order::row;
    const std::array strides{by_row ? operand.leading_dimension() : 1, by_row ? 1 : operand.leading_dimension()};
    for (std::size_t i = 0; i < shape.size(); ++i)
        if (shape[i] > 1 && array.steps()[i] != strides[i]) {
            found.push_back(fmt::format("{} has strides {} here and {} in the kernel, in elements", operand.name,
                                        shape_text(array.steps()), shape_text(strides)));
            break;
        }
    return found;
}

PyObject* form_of_prepared(PyObject* self, void* /*unused*/) {
    return guarded([&] { return text(made_of(self).prepared.form()).release(); });
}
PyObject* bytes_of_copy(PyObject* self, void* /*unused*/) {
    return guarded([&] { return PyLong_FromSize_t(made_of(self).prepared.bytes()); });
}
PyObject* array_kept(PyObject* self, void* /*unused*/) {
    return guarded([&] { return Ref::borrowed(made_of(self).array.get()).release(); });
}
PyObject* prepared_words(PyObject* self) {
    return guarded(
        [&] { return text(fmt::format("<jitgemm.Prepared: {}>", made_of(self).prepared.form())).release(); });
}

PyGetSetDef prepared_properties[] = {
    // NOLINT: Python's form
    {"form", form_of_prepared, nullptr, "What kernels read: \"e4m3, 4096 lines of k=7168, K contiguous, pitch 7168\".",
     nullptr},
    {"nbytes", bytes_of_copy, nullptr, "Bytes of the copy; 0 where kernels read the array as it lies.", nullptr},
    {"array", array_kept, nullptr, "The array that it was made of.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char* const kPreparedDoc =
    "An operand that is split, transposed or packed once: what k.prepare_b(b) returns, and k(a, prepared) takes in\n"
    "b's place. It keeps the array, which must not change. Every kernel takes it that reads the same form.";

}  // namespace

Ref make_prepared_type() {
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>(kPreparedDoc)},  // NOLINT: Python's form
        {Py_tp_dealloc, reinterpret_cast<void*>(destroy_prepared)},
        {Py_tp_repr, reinterpret_cast<void*>(prepared_words)},
        {Py_tp_getset, prepared_properties},
        {0, nullptr},
    };
    PyType_Spec spec{.name = "jitgemm.Prepared",
                     .basicsize = sizeof(PreparedObject),
                     .itemsize = 0,
                     .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                     .slots = slots};
    Ref type = Ref::owned(PyType_FromSpec(&spec));
    prepared_type = reinterpret_cast<PyTypeObject*>(type.get());
    return type;
}

Ref new_prepared_object(const std::shared_ptr<Session>& session, const GemmKernel& kernel, Prepared operand,
                        const Operand& array, PyObject* stream) {
    const OperandList operands = gemm_operands(kernel.spec());
    if (std::vector<std::string> found = misfits(array, *operands.find(to_string(operand))); !found.empty())
        throw OperandError("this array doesn't fit " + kernel.info().name, std::move(found));
    const Stream on = array.place.on_gpu ? stream_of(stream, array) : nullptr;
    auto made = std::make_unique<Made>();
    made->generation = fork_generation();
    made->array = Ref::borrowed(array.object);
    if (session->emulated)
        made->prepared = c_api::prepare_copied(kernel, operand, array.data);
    else
        made->prepared = operand == Prepared::a ? kernel.prepare_a(array.data, on) : kernel.prepare_b(array.data, on);
    Ref object = Ref::owned(PyType_GenericAlloc(prepared_type, 0));
    reinterpret_cast<PreparedObject*>(object.get())->made = made.release();
    return object;
}

PyObject* array_of_prepared(PyObject* object) {
    if (object == nullptr || Py_TYPE(object) != prepared_type) return nullptr;
    return made_of(object).array.get();
}

const PreparedOperand* prepared_of(PyObject* object) {
    if (object == nullptr || Py_TYPE(object) != prepared_type) return nullptr;
    return &made_of(object).prepared;
}

}  // namespace jitgemm::python
