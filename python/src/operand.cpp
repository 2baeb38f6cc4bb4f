#include "python/src/operand.hpp"

#include "python/src/errors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

namespace jitgemm::python {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& reason) {
    const std::string text = fmt::format("{} {}", name, reason);
    throw OperandError("invalid array", {text});
}

// ---- libraries with the exchange interface --------------------------------------------------------------------------

/// Facts of a Python type. Methods of tensors are called without a lookup. They are null if they are no C functions.
struct ArrayType {
    const dlpack::ExchangeApi* exchange = nullptr;
    bool is_tensor = false;  ///< of PyTorch's
    PyCFunction is_neg = nullptr;
    PyCFunction is_inference = nullptr;
};

/// Of a type that stays alive; the table of the standard's major version that we know, if it has one.
const dlpack::ExchangeApi* exchange_of(PyTypeObject* type) {
    PyObject* const capsule = attribute_of(reinterpret_cast<PyObject*>(type), dlpack::kExchangeAttribute);
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

/// A method without arguments, of an object of the type.
PyCFunction c_method(PyObject* object, const char* name) {
    const Ref bound = Ref::owned(attribute_of(object, name));
    if (PyObject_TypeCheck(bound.get(), &PyCFunction_Type) == 0) return nullptr;
    if (PyCFunction_GetSelf(bound.get()) != object || PyCFunction_GetFlags(bound.get()) != METH_NOARGS) return nullptr;
    return PyCFunction_GetFunction(bound.get());
}

/// Asked of a type once: the table keeps the types that it holds, so that no other takes their address. Guarded by the
/// GIL.
ArrayType array_type(PyObject* object) {
    PyTypeObject* const type = Py_TYPE(object);
    static auto& known = *new std::unordered_map<PyTypeObject*, ArrayType>;
    static PyTypeObject* latest = nullptr;
    static ArrayType of_latest;
    if (type == latest) return of_latest;
    auto found = known.find(type);
    if (found == known.end()) {
        ArrayType read{.exchange = exchange_of(type)};
        const auto has = [&](const char* name) { return has_attribute(reinterpret_cast<PyObject*>(type), name); };
        read.is_tensor = read.exchange != nullptr && has("requires_grad") && has("is_neg");
        if (read.is_tensor) {
            read.is_neg = c_method(object, "is_neg");
            read.is_inference = c_method(object, "is_inference");
        }
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
    if (rank < 0) refuse(name, fmt::format("has {} dimensions", rank));
    if (rank > kMaxRank) refuse(name, fmt::format("has {} dimensions; at most {} are served", rank, kMaxRank));
}

void check_extents(const Operand& operand) {
    if (std::ranges::any_of(operand.extents(), [](std::int64_t extent) { return extent < 0; }))
        refuse(operand.name, fmt::format("has shape {}: no size is negative", shape_text(operand.extents())));
}

/// Tensors that only pretend (torch's fake ones), or that wrap others, have an address of 0.
void check_memory(const Operand& operand, const void* data) {
    if (data != nullptr || std::ranges::find(operand.extents(), 0) != operand.extents().end()) return;
    refuse(operand.name, fmt::format("of type {} has no memory of its own", type_name(operand.object)));
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

/// A function of torch._C that answers with an integer and takes nothing.
class Question {
public:
    explicit Question(const char* name) : name_(name) {}
    long ask() {
        if (function_ == nullptr) {
            const Ref core = Ref::owned(import_module("torch._C"));
            function_ = Ref::owned(attribute_of(core.get(), name_)).release();
        }
        return PyLong_AsLong(Ref::owned(call_python(function_)).get());
    }

private:
    const char* name_;
    PyObject* function_ = nullptr;
};

/// Calls a method without arguments, and says whether it returned True.
bool answers_yes(PyObject* object, PyCFunction function, PyObject* name) {
    return Ref::owned(function != nullptr ? function(object, nullptr) : call_method(object, name)).get() == Py_True;
}

/// Made in inference mode: autograd keeps no version of it.
bool is_inference(PyObject* tensor) {
    static PyObject* const name = PyUnicode_InternFromString("is_inference");
    return answers_yes(tensor, array_type(tensor).is_inference, name);
}

/// torch.autograd.graph.increment_version. Throws OperandError where PyTorch is too old to have it.
PyObject* increment_version(const char* name) {
    static PyObject* kept = nullptr;
    if (kept != nullptr) return kept;
    const Ref graph = Ref::owned(import_module("torch.autograd.graph"));
    kept = attribute_of(graph.get(), "increment_version");
    if (kept != nullptr) return kept;
    PyErr_Clear();
    refuse(name, "can't be written: this PyTorch has no torch.autograd.graph.increment_version to tell autograd so");
}

/// Whether derivatives are carried forward at the moment, and the tensor has one.
bool has_tangent(PyObject* tensor) {
    static PyObject* const level_name = PyUnicode_InternFromString("_current_level");
    static PyObject* forward_ad = nullptr;
    static PyObject* names = nullptr;  // the module's
    if (forward_ad == nullptr) {
        forward_ad = Ref::owned(import_module("torch.autograd.forward_ad")).release();
        names = PyModule_GetDict(forward_ad);
    }
    PyObject* const level = PyDict_GetItemWithError(names, level_name);  // borrowed
    if (level == nullptr || PyLong_AsLong(level) < 0) return false;
    static Question is_enabled(
        "_is_fwd_grad_enabled");  // not in a torch.autograd.Function, which has a rule of its own
    if (is_enabled.ask() == 0) return false;
    const Ref unpack = Ref::owned(attribute_of(forward_ad, "unpack_dual"));
    const Ref dual = called(unpack.get(), PyTuple_Pack(1, tensor));
    return Ref::owned(attribute_of(dual.get(), "tangent")).get() != Py_None;
}

/// Checks a torch.Tensor's properties that the exchange interface doesn't pass on. A product outside of the graph
/// would silently have no gradient. A tensor that is negated when it is read would have the wrong sign.
void check_tensor(const Operand& operand, const ArrayType& type) {
    static PyObject* const is_neg = PyUnicode_InternFromString("is_neg");
    if (answers_yes(operand.object, type.is_neg, is_neg))
        refuse(operand.name, "is a view that negates its elements (is_neg()): pass its resolve_neg()");

    if (has_tangent(operand.object))
        refuse(operand.name, "has a tangent of forward-mode differentiation, which this product would lose");

    static PyObject* attribute = PyUnicode_InternFromString("requires_grad");
    const Ref wanted = Ref::owned(attribute_of(operand.object, attribute));
    if (wanted.get() == Py_False) return;
    const Ref torch = Ref::owned(import_module("torch"));
    const Ref enabled = called_method(torch.get(), "is_grad_enabled");
    if (enabled.get() == Py_False) return;
    refuse(operand.name,
           "requires grad, but this product has no gradient: use jitgemm.torch.matmul, or detach() or torch.no_grad()");
}

[[noreturn]] void refuse_unexchanged(const Operand& operand) {
    refuse(operand.name, "can't be handed over by its library: " + take_complaint());
}

// ---- all others: described by _arrays.py ----------------------------------------------------------------------------

/// Refuses a number that does not fit its width: a library's description of its arrays is not trusted.
[[noreturn]] void refuse_number(const char* name, PyObject* object) {
    PyErr_Clear();
    const Ref text = Ref::owned(repr_of(object));
    refuse(name, fmt::format("has a shape, stride or address of {}, which is no whole number of 64 bits",
                             text_of(text.get())));
}

std::int64_t integer(const char* name, PyObject* object) {
    const long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred() != nullptr) refuse_number(name, object);
    return value;
}

std::uint64_t address(const char* name, PyObject* object) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(object);
    if (PyErr_Occurred() != nullptr) refuse_number(name, object);
    return value;
}

void fill(const char* name, std::array<std::int64_t, kMaxRank>& numbers, int rank, PyObject* from) {
    const Py_ssize_t count = PyTuple_Size(from);
    check(static_cast<int>(count));
    if (count != rank) refuse(name, fmt::format("has {} dimensions and {} strides", rank, count));
    for (Py_ssize_t i = 0; i < count; ++i)
        numbers[static_cast<std::size_t>(i)] = integer(name, PyTuple_GetItem(from, i));
}

/// _arrays.Description's fields, in its order.
enum Field : Py_ssize_t {
    kPointer,
    kShape,
    kStrides,
    kType,
    kItem,
    kGpu,
    kReadOnly,
    kStream,
    kLibrary,
    kUnordered,
    kKeeper,
};

/// The stream for __dlpack__(): the caller's, else that of the array by whose library the launch is ordered.
Ref stream_to_order(PyObject* stream, const Operand* first) {
    if (stream != nullptr) return Ref::borrowed(stream);
    if (first == nullptr || !first->place.on_gpu) return Ref::borrowed(Py_None);
    return Ref::owned(PyLong_FromVoidPtr(current_stream(*first)));
}

Library library_of(PyObject* word) {
    const std::string_view name = text_of(word);
    return name == "torch" ? Library::torch : name == "jax" ? Library::jax : Library::other;
}

void describe(Operand& operand, PyObject* stream, const Operand* first) {
    static KeptMember description("_arrays", "describe");
    const Ref ordered = stream_to_order(stream, first);
    Ref answer = called(description.get(), Py_BuildValue("(OsO)", operand.object, operand.name, ordered.get()));
    const auto field = [&](Field which) { return PyTuple_GetItem(answer.get(), which); };
    check_rank(operand.name, PyTuple_Size(field(kShape)));
    operand.rank = static_cast<int>(PyTuple_Size(field(kShape)));
    operand.data = address(operand.name, field(kPointer));
    fill(operand.name, operand.shape, operand.rank, field(kShape));
    fill(operand.name, operand.strides, operand.rank, field(kStrides));
    check_extents(operand);
    check_memory(operand, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(operand.data.address)));
    operand.type = data_type_of_word(words_of(field(kType)));
    operand.item = integer(operand.name, field(kItem));
    const std::int64_t gpu = integer(operand.name, field(kGpu));
    operand.place = {.on_gpu = gpu >= 0, .gpu = gpu >= 0 ? static_cast<int>(gpu) : 0};
    operand.read_only = field(kReadOnly) == Py_True;
    operand.made_by = library_of(field(kLibrary));
    operand.unordered = field(kUnordered) == Py_True;
    operand.stream = reinterpret_cast<Stream>(static_cast<std::uintptr_t>(address(operand.name, field(kStream))));
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

void read(PyObject* object, const char* name, PyObject* stream, Operand& operand, const Operand* first) {
    operand.name = name;
    operand.object = object;
    const ArrayType type = array_type(object);
    operand.exchange = type.exchange;
    if (type.exchange == nullptr) {
        describe(operand, stream, first);
        return;
    }
    if (type.is_tensor) {
        operand.made_by = Library::torch;
        try {
            check_tensor(operand, type);
        } catch (const PythonError&) {
            refuse_unexchanged(operand);
        }
    }
    dlpack::Tensor tensor{};
    if (type.exchange->borrow(object, &tensor) != 0) refuse_unexchanged(operand);
    fill(operand, tensor);
    check_memory(operand, tensor.data);
}

/// As the array itself says it, else as its library told.
[[noreturn]] void refuse_type(const Operand& operand) {
    Ref word = operand.exchange == nullptr ? Ref::borrowed(PyTuple_GetItem(operand.keeper.get(), kType))
                                           : Ref::owned(attribute_of(operand.object, "dtype"));
    word = Ref::owned(str_of(word.get()));
    if (operand.name == std::string_view("offs"))
        refuse(operand.name, fmt::format("is of type {}: ends of groups are int32", words_of(word.get())));
    refuse(operand.name,
           fmt::format("is of type {}: kernels take float16, bfloat16 and float32", words_of(word.get())));
}

/// Whether its elements lie side by side, in whatever order of the dimensions.
bool is_one_run(const Operand& operand) {
    std::vector<std::pair<std::int64_t, std::int64_t>> dimensions;  // stride and size
    for (std::size_t i = 0; i < operand.extents().size(); ++i) {
        if (operand.shape.at(i) == 0) return true;
        if (operand.shape.at(i) > 1) dimensions.emplace_back(operand.strides.at(i), operand.shape.at(i));
    }
    std::ranges::sort(dimensions);
    std::int64_t packed = 1;
    for (const auto& [stride, size] : dimensions) {
        if (stride != packed) return false;
        packed *= size;
    }
    return true;
}

}  // namespace

void read_operand(PyObject* object, const char* name, PyObject* stream, Operand& operand, const Operand* first) {
    read(object, name, stream, operand, first);
    if (!operand.type) refuse_type(operand);
}

void check_readable_type(const Operand& operand) {
    if (!is_half(*operand.type) && operand.type != DataType::f32) refuse_type(operand);
}

namespace {

/// Whether make_fx records operations on real tensors. It is one of the modes on the stack.
bool is_recorded_by_a_mode() {
    static Question depth("_len_torch_dispatch_stack");
    if (depth.ask() == 0) return false;
    const Ref core = Ref::owned(import_module("torch._C"));
    const Ref keys = Ref::owned(attribute_of(core.get(), "_TorchDispatchModeKey"));
    const Ref key = Ref::owned(attribute_of(keys.get(), "PROXY"));
    return called_method(core.get(), "_get_dispatch_mode", PyTuple_Pack(1, key.get())).get() != Py_None;
}

}  // namespace

void refuse_if_traced(const Operand& operand) {
    if (operand.exchange == nullptr || !array_type(operand.object).is_tensor) return;
    static Question is_tracing("_is_tracing");
    if (is_tracing.ask() == 0 && !is_recorded_by_a_mode()) return;
    refuse(operand.name,
           "is traced: the trace would keep this product as a constant; jitgemm.torch.matmul and "
           "jitgemm.torch.linear can be traced");
}

void check_writable(const Operand& operand) {
    if (operand.read_only) refuse(operand.name, "is read-only");
    if (operand.made_by != Library::torch) return;
    static_cast<void>(increment_version(operand.name));
    if (!is_inference(operand.object)) return;
    const Ref torch = Ref::owned(import_module("torch"));
    const Ref enabled = called_method(torch.get(), "is_inference_mode_enabled");
    if (enabled.get() != Py_True)
        refuse(operand.name,
               "was made in inference mode, and is written only there: clone() makes a tensor of it that is not");
}

void note_written(const Operand& operand) {
    if (operand.made_by != Library::torch || is_inference(operand.object)) return;
    static_cast<void>(called(increment_version(operand.name), PyTuple_Pack(1, operand.object)));
}

Operand read_workspace(PyObject* object, PyObject* stream) {
    Operand operand;
    read(object, "workspace", stream, operand, nullptr);
    check_writable(operand);
    if (!is_one_run(operand))
        refuse(operand.name, fmt::format("of shape {} and strides {} is no single run of bytes: a contiguous array is",
                                         shape_text(operand.extents()), shape_text(operand.steps())));
    return operand;
}

std::size_t size_in_bytes(const Operand& operand) {
    std::int64_t count = operand.item;
    for (const std::int64_t extent : operand.extents()) count *= extent;
    return static_cast<std::size_t>(count);
}

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

namespace {

struct Capsule {
    const dlpack::Tensor* tensor = nullptr;
    PyObject* read_only = Py_None;  ///< None of a capsule without a version, which can't say
};

/// Whoever takes a tensor out of its capsule renames that.
bool is_consumed(PyObject* capsule) {
    return PyCapsule_IsValid(capsule, "used_dltensor") != 0 ||
           PyCapsule_IsValid(capsule, "used_dltensor_versioned") != 0;
}

Capsule open_capsule(PyObject* capsule, const char* name) {
    if (PyCapsule_IsValid(capsule, "dltensor_versioned") != 0) {
        const auto* managed =
            static_cast<const dlpack::ManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
        if (managed->version.major != dlpack::kMajor)
            refuse(name, fmt::format("speaks DLPack {}, but jitgemm knows {}", managed->version.major, dlpack::kMajor));
        return {&managed->tensor, (managed->flags & dlpack::kReadOnly) != 0 ? Py_True : Py_False};
    }
    if (PyCapsule_IsValid(capsule, "dltensor") != 0)
        return {&static_cast<const dlpack::ManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"))->tensor};
    if (is_consumed(capsule))
        refuse(name, "hands out a DLPack capsule whose tensor somebody has taken: each __dlpack__() makes a new one");
    refuse(name, fmt::format("answers __dlpack__() with a {} that is no DLPack capsule", type_name(capsule)));
}

}  // namespace

Ref describe_capsule(PyObject* arguments) {
    PyObject* capsule = nullptr;
    const char* name = nullptr;
    if (PyArg_ParseTuple(arguments, "Os", &capsule, &name) == 0) throw PythonError{};
    const auto [tensor, read_only] = open_capsule(capsule, name);
    if (tensor->ndim > 0 && tensor->shape == nullptr)
        refuse(name, fmt::format("has {} dimensions and no shape", tensor->ndim));
    Operand operand;
    operand.name = name;
    fill(operand, *tensor);
    check_extents(operand);
    const std::string type = operand.type ? std::string(to_string(*operand.type)) : dlpack_type_name(tensor->dtype);
    const std::span strides(operand.strides.data(), static_cast<std::size_t>(operand.rank));
    return Ref::owned(Py_BuildValue("KNNsiiO", static_cast<unsigned long long>(operand.data.address),
                                    tuple_of(operand.extents()).release(), tuple_of(strides).release(), type.c_str(),
                                    static_cast<int>(operand.item), operand.place.on_gpu ? operand.place.gpu : -1,
                                    read_only));
}

}  // namespace jitgemm::python
