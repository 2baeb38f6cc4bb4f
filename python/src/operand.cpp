#include "python/src/operand.hpp"

#include "python/src/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace jitgemm::python {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& reason) {
    const std::string text = fmt::format("{} {}", name, reason);
    throw OperandError("invalid array", {text});
}

// ---- libraries with the exchange interface -----------------------------------------------------------------------------

/// What is known of a Python type.
struct ArrayType {
    const dlpack::ExchangeApi* exchange = nullptr;
    bool is_tensor = false;  ///< of PyTorch's
};

/// Of a type that stays alive; the table of the standard's major version that we know, if it has one.
const dlpack::ExchangeApi* exchange_of(PyTypeObject* type) {
    PyObject* const capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), dlpack::kExchangeAttribute);
    if (capsule == nullptr) {
        PyErr_Clear();
        return nullptr;
    }
    const Ref held = Ref::owned(capsule);
    if (PyCapsule_IsValid(capsule, dlpack::kExchangeCapsule) == 0) return nullptr;
    const auto* api = static_cast<const dlpack::ExchangeApi*>(PyCapsule_GetPointer(capsule, dlpack::kExchangeCapsule));
    while (api != nullptr && api->version.major != dlpack::kMajor) api = api->previous;
    return api != nullptr && api->borrow != nullptr ? api : nullptr;
}

/// Asked of a type once: the table keeps the types that it holds, so that no other takes their address. Guarded by the GIL.
ArrayType array_type(PyTypeObject* type) {
    static auto& known = *new std::unordered_map<PyTypeObject*, ArrayType>;
    static PyTypeObject* latest = nullptr;
    static ArrayType of_latest;
    if (type == latest) return of_latest;
    auto found = known.find(type);
    if (found == known.end()) {
        ArrayType read{.exchange = exchange_of(type)};
        const auto has = [&](const char* name) {
            return PyObject_HasAttrString(reinterpret_cast<PyObject*>(type), name) != 0;
        };
        read.is_tensor = read.exchange != nullptr && has("requires_grad") && has("is_neg");
        Py_INCREF(type);
        found = known.emplace(type, read).first;
    }
    latest = type;
    of_latest = found->second;
    return of_latest;
}

std::optional<DataType> type_of(dlpack::DataType type) {
    if (type.lanes != 1) return std::nullopt;
    switch (type.code) {
        case dlpack::kDLFloat:
            if (type.bits == 16) return DataType::f16;
            if (type.bits == 32) return DataType::f32;
            return std::nullopt;
        case dlpack::kDLBfloat: return type.bits == 16 ? std::optional(DataType::bf16) : std::nullopt;
        case dlpack::kDLFloat8E4m3fn: return DataType::e4m3;
        case dlpack::kDLFloat8E5m2: return DataType::e5m2;
        case dlpack::kDLInt:
            if (type.bits == 8) return DataType::s8;
            if (type.bits == 32) return DataType::s32;
            return std::nullopt;
        default: return std::nullopt;
    }
}

Place place_of(const Operand& operand, dlpack::Device device) {
    switch (device.type) {
        case dlpack::kDLCPU:
        case dlpack::kDLCUDAHost: return {};
        case dlpack::kDLCUDA:
        case dlpack::kDLCUDAManaged: return {.on_gpu = true, .gpu = device.id};
        default:
            refuse(operand.name,
                   fmt::format("lies on a device of DLPack's kind {}: host memory and CUDA are served", device.type));
    }
}

void check_rank(const char* name, std::int64_t rank) {
    if (rank > kMaxRank) refuse(name, fmt::format("has {} dimensions; at most {} are served", rank, kMaxRank));
}

void fill(Operand& operand, const dlpack::Tensor& tensor) {
    check_rank(operand.name, tensor.ndim);
    operand.rank = tensor.ndim;
    operand.data = static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
    operand.type = type_of(tensor.dtype);
    operand.item = tensor.dtype.bits * tensor.dtype.lanes / 8;
    operand.place = place_of(operand, tensor.device);
    std::int64_t packed = 1;
    for (int i = tensor.ndim - 1; i >= 0; --i) {
        const auto at = static_cast<std::size_t>(i);
        operand.shape[at] = tensor.shape[i];
        operand.strides[at] = tensor.strides != nullptr ? tensor.strides[i] : packed;
        packed *= tensor.shape[i];
    }
}

/// What the exchange interface doesn't say of a torch.Tensor. A product that is not written down in the graph would silently have no
/// gradient, and of a tensor that is to be negated when it is read the sign would be wrong.
void check_tensor(const Operand& operand) {
    static PyObject* is_negated = PyUnicode_InternFromString("is_neg");
    if (Ref::owned(PyObject_CallMethodObjArgs(operand.object, is_negated, nullptr)).get() == Py_True)
        refuse(operand.name, "is a view that negates its elements (is_neg()): resolve_neg() copies it");

    static PyObject* attribute = PyUnicode_InternFromString("requires_grad");
    const Ref wanted = Ref::owned(PyObject_GetAttr(operand.object, attribute));
    if (wanted.get() == Py_False) return;
    const Ref torch = Ref::owned(PyImport_ImportModule("torch"));
    const Ref enabled = Ref::owned(PyObject_CallMethod(torch.get(), "is_grad_enabled", nullptr));
    if (enabled.get() == Py_False) return;
    refuse(operand.name,
           "requires grad, and this product would have none: jitgemm.torch.matmul has; so would detach() or "
           "torch.no_grad() do");
}

/// With the first line of what its library says.
[[noreturn]] void refuse_unexchanged(const Operand& operand) {
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    const Ref said = Ref::owned(PyObject_Str(value != nullptr ? value : type));
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    const std::string_view words = text_of(said.get());
    refuse(operand.name, fmt::format("can't be handed over by its library: {}", words.substr(0, words.find('\n'))));
}

// ---- all others: described by _arrays.py -------------------------------------------------------------------------------

std::int64_t integer(PyObject* object) {
    const long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
    return value;
}

std::uint64_t address(PyObject* object) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() != nullptr) throw PythonError{};
    return value;
}

void fill(std::array<std::int64_t, kMaxRank>& numbers, PyObject* from) {
    const Py_ssize_t count = PyTuple_Size(from);
    check(static_cast<int>(count));
    for (Py_ssize_t i = 0; i < count; ++i) numbers[static_cast<std::size_t>(i)] = integer(PyTuple_GetItem(from, i));
}

/// _arrays.Description's fields, in its order.
enum Field : Py_ssize_t { kPointer, kShape, kStrides, kType, kItem, kGpu, kReadOnly, kStream, kKeeper, kFields };

void describe(Operand& operand, PyObject* stream) {
    static PyObject* kept = nullptr;
    Ref answer = Ref::owned(PyObject_CallFunction(kept_member(kept, "_arrays", "describe"), "OsO", operand.object,
                                                  operand.name, stream == nullptr ? Py_None : stream));
    const auto field = [&](Field which) { return PyTuple_GetItem(answer.get(), which); };
    check_rank(operand.name, PyTuple_Size(field(kShape)));
    operand.rank = static_cast<int>(PyTuple_Size(field(kShape)));
    operand.data = address(field(kPointer));
    fill(operand.shape, field(kShape));
    fill(operand.strides, field(kStrides));
    operand.type = data_type_of_word(text_of(field(kType)));
    operand.item = integer(field(kItem));
    const std::int64_t gpu = integer(field(kGpu));
    operand.place = {.on_gpu = gpu >= 0, .gpu = gpu >= 0 ? static_cast<int>(gpu) : 0};
    operand.read_only = field(kReadOnly) == Py_True;
    operand.stream = reinterpret_cast<Stream>(static_cast<std::uintptr_t>(address(field(kStream))));
    operand.keeper = std::move(answer);
}

}  // namespace

std::string to_string(const Place& place) {
    return place.on_gpu ? fmt::format("cuda:{}", place.gpu) : std::string("host memory");
}

std::string shape_text(std::span<const std::int64_t> shape) {
    return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

namespace {

Operand read(PyObject* object, const char* name, PyObject* stream) {
    Operand operand;
    operand.name = name;
    operand.object = object;
    const ArrayType type = array_type(Py_TYPE(object));
    operand.exchange = type.exchange;
    if (type.exchange == nullptr) {
        describe(operand, stream);
        return operand;
    }
    if (type.is_tensor) check_tensor(operand);
    dlpack::Tensor tensor{};
    if (type.exchange->borrow(object, &tensor) != 0) refuse_unexchanged(operand);
    fill(operand, tensor);
    return operand;
}

/// As the array itself says it, else as its library told.
[[noreturn]] void refuse_type(const Operand& operand) {
    Ref word = operand.exchange == nullptr ? Ref::borrowed(PyTuple_GetItem(operand.keeper.get(), kType))
                                           : Ref::owned(PyObject_GetAttrString(operand.object, "dtype"));
    word = Ref::owned(PyObject_Str(word.get()));
    refuse(operand.name, fmt::format("is of type {}, which no kernel takes", text_of(word.get())));
}

}  // namespace

Operand read_operand(PyObject* object, const char* name, PyObject* stream) {
    Operand operand = read(object, name, stream);
    if (!operand.type) refuse_type(operand);
    return operand;
}

Operand read_workspace(PyObject* object, PyObject* stream) { return read(object, "workspace", stream); }

Stream current_stream(const Operand& operand) {
    if (operand.exchange == nullptr || !operand.place.on_gpu) return operand.stream;
    void* stream = nullptr;
    if (operand.exchange->current_stream(dlpack::kDLCUDA, operand.place.gpu, &stream) != 0) throw PythonError{};
    return stream;
}

namespace {

std::string dlpack_type_name(dlpack::DataType type) {
    constexpr std::array kNames{"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
    const std::string name =
        type.code < kNames.size() ? kNames[type.code] : fmt::format("DLPack's kind {}, ", type.code);
    return fmt::format("{}{}{}", name, type.bits, type.lanes == 1 ? "" : fmt::format("x{}", type.lanes));
}

}  // namespace

Ref describe_capsule(PyObject* arguments) {
    PyObject* capsule = nullptr;
    const char* name = nullptr;
    if (PyArg_ParseTuple(arguments, "Os", &capsule, &name) == 0) throw PythonError{};
    const dlpack::Tensor* tensor = nullptr;
    bool read_only = false;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
        const auto* managed =
            static_cast<const dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        if (managed->version.major != dlpack::kMajor)
            refuse(name,
                   fmt::format("speaks DLPack {}, of which {} is known here", managed->version.major, dlpack::kMajor));
        tensor = &managed->tensor;
        read_only = (managed->flags & dlpack::kReadOnly) != 0;
    } else {
        auto* const managed = static_cast<const dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
        if (managed == nullptr) throw PythonError{};
        tensor = &managed->tensor;
    }
    Operand operand;
    operand.name = name;
    fill(operand, *tensor);
    const std::string type = operand.type ? std::string(to_string(*operand.type)) : dlpack_type_name(tensor->dtype);
    const std::span strides(operand.strides.data(), static_cast<std::size_t>(operand.rank));
    return Ref::owned(Py_BuildValue("KNNsiiO", static_cast<unsigned long long>(operand.data.address),
                                    tuple_of(operand.extents()).release(), tuple_of(strides).release(), type.c_str(),
                                    static_cast<int>(operand.item), operand.place.on_gpu ? operand.place.gpu : -1,
                                    read_only ? Py_True : Py_False));
}

}  // namespace jitgemm::python
