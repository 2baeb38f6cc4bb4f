#include "python/src/allocation.hpp"

#include "jitgemm/error.hpp"
#include "python/src/errors.hpp"
#include "python/src/session.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace jitgemm::python {
namespace {

dlpack::DataType dlpack_type(DataType type) {
    const auto bits = static_cast<std::uint8_t>(8 * bytes(type));
    switch (type) {
        case DataType::bf16: return {dlpack::kDLBfloat, bits, 1};
        case DataType::e4m3: return {dlpack::kDLFloat8E4m3fn, bits, 1};
        case DataType::e5m2: return {dlpack::kDLFloat8E5m2, bits, 1};
        case DataType::s8:
        case DataType::s32: return {dlpack::kDLInt, bits, 1};
        default: return {dlpack::kDLFloat, bits, 1};
    }
}

void keep_message(void* context, const char* kind, const char* message) {
    *static_cast<std::string*>(context) = fmt::format("{}: {}", kind, message);
}

Ref allocate_exchanged(const Operand& like, std::span<const std::int64_t> shape, DataType type) {
    std::array<std::int64_t, kMaxRank> extents{};
    std::ranges::copy(shape, extents.begin());
    dlpack::Tensor prototype{};
    prototype.device = {like.place.on_gpu ? dlpack::kDLCUDA : dlpack::kDLCPU, like.place.gpu};
    prototype.ndim = static_cast<std::int32_t>(shape.size());
    prototype.dtype = dlpack_type(type);
    prototype.shape = extents.data();
    dlpack::ManagedTensorVersioned* made = nullptr;
    std::string message;
    if (like.exchange->allocate(&prototype, &made, &message, keep_message) != 0)
        throw Error(fmt::format("cannot allocate {} of {} on {}: {}", shape_text(shape), to_string(type),
                                to_string(like.place), message));
    void* object = nullptr;
    if (like.exchange->object_from_managed(made, &object) != 0) throw PythonError{};
    return Ref::owned(static_cast<PyObject*>(object));
}

/// Memory on a GPU that whoever takes it out of its DLPack capsule frees.
struct GpuMemory {
    dlpack::ManagedTensor managed{};
    DeviceBuffer buffer;
    std::array<std::int64_t, kMaxRank> shape{}, strides{};
    unsigned generation = fork_generation();
};

/// By any thread, with or without the GIL. What a fork inherited can't be given back to the driver.
void free_memory(dlpack::ManagedTensor* managed) {
    auto* const memory = static_cast<GpuMemory*>(managed->owner);
    if (memory->generation == fork_generation()) delete memory;
}

void free_if_not_taken(PyObject* capsule) {
    if (PyCapsule_IsValid(capsule, dlpack::kCapsule) == 0) return;
    free_memory(static_cast<dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, dlpack::kCapsule)));
}

/// Row-major and packed.
void describe_memory(GpuMemory& memory, int gpu, PyObject* shape, DataType type) {
    dlpack::Tensor& tensor = memory.managed.tensor;
    tensor.ndim = static_cast<std::int32_t>(PyTuple_Size(shape));
    std::int64_t packed = 1;
    for (int i = tensor.ndim - 1; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        memory.shape.at(at) = PyLong_AsLongLong(PyTuple_GetItem(shape, i));
        memory.strides.at(at) = packed;
        packed *= memory.shape.at(at);
    }
    tensor.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(memory.buffer.data().address));
    tensor.device = {dlpack::kDLCUDA, gpu};
    tensor.dtype = dlpack_type(type);
    tensor.shape = memory.shape.data();
    tensor.strides = memory.strides.data();
    memory.managed.owner = &memory;
    memory.managed.deleter = free_memory;
}

std::int64_t count_of(PyObject* shape) {
    std::int64_t count = 1;
    for (Py_ssize_t i = 0; i < PyTuple_Size(shape); ++i) count *= PyLong_AsLongLong(PyTuple_GetItem(shape, i));
    return count;
}

}  // namespace

Ref allocate_like(const Operand& operand, std::span<const std::int64_t> shape, DataType type) {
    if (operand.exchange != nullptr) return allocate_exchanged(operand, shape, type);
    static KeptMember empty("_arrays", "empty");
    return called(empty.get(), Py_BuildValue("(ONs)", operand.object, tuple_of(shape).release(),
                                             std::string(to_string(type)).c_str()));
}

Ref hand_over(Ref made, const Operand& like) {
    if (like.made_by != Library::jax) return made;
    static KeptMember function("_arrays", "hand_over");
    return called(function.get(), PyTuple_Pack(2, made.get(), like.object));
}

Ref gpu_memory(PyObject* arguments) {
    int gpu = 0;
    PyObject *shape = nullptr, *word = nullptr;
    if (PyArg_ParseTuple(arguments, "iO!U", &gpu, &PyTuple_Type, &shape, &word) == 0) throw PythonError{};
    const std::optional<DataType> type = parse_data_type(text_of(word));
    if (!type || PyTuple_Size(shape) > kMaxRank) throw Error("cannot allocate an array of this type and rank");
    auto memory = std::make_unique<GpuMemory>();
    const std::shared_ptr<Session> session = session_of_gpu(gpu);
    memory->buffer = session->context.allocate(static_cast<std::size_t>(count_of(shape) * bytes(*type)));
    describe_memory(*memory, gpu, shape, *type);
    Ref capsule = Ref::owned(PyCapsule_New(&memory->managed, dlpack::kCapsule, free_if_not_taken));
    static_cast<void>(memory.release());  // the capsule's now
    return capsule;
}

}  // namespace jitgemm::python
