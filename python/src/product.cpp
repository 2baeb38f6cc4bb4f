#include "python/src/product.hpp"

#include "python/src/errors.hpp"
#include "python/src/interruptible.hpp"
#include "runtime/c_api/host_launch.hpp"
#include "runtime/device/device_name.hpp"
#include "runtime/device/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace jitgemm::python {
namespace {

void read_if_given(PyObject* object, const char* name, PyObject* stream, Operand& operand) {
    if (object != nullptr && object != Py_None) read_operand(object, name, stream, operand);
}

/// A factor, which kernels take in f32: infinities and NaN as they are, but no number becomes one silently.
float number(PyObject* object, const char* name, float otherwise) {
    if (object == nullptr || object == Py_None) return otherwise;
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred() != nullptr) throw PythonError{};
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max())
        throw SpecError("invalid launch", {fmt::format("{} is {}: no f32 is so large", name, value)});
    return static_cast<float>(value);
}

bool truth(PyObject* object) {
    if (object == nullptr) return false;
    const int answer = PyObject_IsTrue(object);
    check(answer);
    return answer == 1;
}

/// A word, or nothing where there is none. Throws SpecError for what is no str.
std::optional<std::string> word_of(PyObject* object, const char* name) {
    if (object == nullptr || object == Py_None) return std::nullopt;
    if (PyUnicode_Check(object) == 0)
        throw SpecError("invalid problem", {fmt::format("{} is of type {}: a str", name, type_name(object))});
    const Ref bytes = Ref::owned(PyUnicode_AsUTF8String(object));
    return PyBytes_AsString(bytes.get());
}

Determinism determinism_of(PyObject* object) {
    const std::optional<std::string> word = word_of(object, "deterministic");
    if (!word) return Determinism::run_to_run;
    if (word->find_first_of(" \t\r\n") != std::string::npos)  // would be read as other fields
        throw SpecError("invalid problem", {fmt::format("deterministic is '{}': a word has no blanks", *word)});
    return parse_gemm_spec("gemm-v2 m=0 n=0 k=0 deterministic=" + *word).deterministic;
}

DependentLaunch dependent_launch_of(PyObject* object) {
    const std::optional<std::string> word = word_of(object, "dependent_launch");
    if (!word || *word == "auto") return DependentLaunch::automatic;
    if (*word == "off") return DependentLaunch::off;
    if (*word == "on") return DependentLaunch::on;
    throw SpecError("invalid launch", {fmt::format("dependent_launch is '{}': one of auto, off, on", *word)});
}

[[noreturn]] void refuse_stream(const std::string& reason) {
    throw OperandError("invalid stream", {"stream " + reason});
}

/// A number that is none of a pointer's, a flag, or what raises when it is asked, is no handle.
Stream as_stream(PyObject* handle) {
    if (PyLong_Check(handle) == 0 || PyBool_Check(handle) != 0)
        refuse_stream("has a handle of type " + type_name(handle) + ": an integer is one");
    const unsigned long long value = PyLong_AsUnsignedLongLong(handle);
    if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        const Ref text = Ref::owned(PyObject_Repr(handle));
        refuse_stream("is " + std::string(text_of(text.get())) + ": a handle is 0, or an address of 64 bits");
    }
    return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(value));
}

/// What a stream answers, where it does.
Ref answer_of(PyObject* stream, PyObject* answer) {
    if (answer == nullptr) refuse_stream("of type " + type_name(stream) + " gives no handle: " + take_complaint());
    return Ref::owned(answer);
}

/// (version, handle), as the protocol wants it.
Stream stream_of_protocol(PyObject* stream) {
    const Ref answer = answer_of(stream, PyObject_CallMethod(stream, "__cuda_stream__", nullptr));
    if (PyTuple_Check(answer.get()) == 0 || PyTuple_Size(answer.get()) != 2)
        refuse_stream("of type " + type_name(stream) + " answers __cuda_stream__() with no (version, handle)");
    return as_stream(PyTuple_GetItem(answer.get(), 1));
}

/// What C has where broadcast_c is set.
std::int64_t one_run_of_d(const GemmSpec& spec) { return spec.d_order == Order::row ? spec.n : spec.m; }

/// In host memory, for a GPU: copied there and D back. The rules of a launch are those of the arrays, which copies would hide.
void launch_on_copies(Session& session, const GemmKernel& kernel, GemmArguments arguments) {
    const GemmSpec& spec = kernel.spec();
    if (auto problems = launch_problems(spec, arguments, 0); !problems.empty())
        throw SpecError("cannot launch " + kernel.info().name, std::move(problems));
    const OperandExtents extents = operand_extents(spec);
    const auto host = [](DevicePointer pointer) {
        return reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer.address));
    };
    const auto copied = [&](DevicePointer& pointer, std::int64_t elements, DataType type) {
        if (elements == 0) return DeviceBuffer();
        DeviceBuffer buffer = session.context.allocate(static_cast<std::size_t>(elements * bytes(type)));
        buffer.copy_from_host(host(pointer), buffer.size_bytes());
        pointer = buffer.data();
        return buffer;
    };
    const DevicePointer d = arguments.d;
    const bool accumulates = arguments.c == d;
    const DeviceBuffer a = copied(arguments.a, extents.a, spec.a), b = copied(arguments.b, extents.b, spec.b);
    const DeviceBuffer result = copied(arguments.d, extents.d, spec.d);  // what lies between its rows stays, too
    DeviceBuffer c;
    if (accumulates)
        arguments.c = arguments.d;
    else if (arguments.c)
        c = copied(arguments.c, arguments.broadcast_c ? one_run_of_d(spec) : extents.c, spec.c.value_or(spec.d));
    kernel.launch(arguments);
    result.copy_to_host(host(d), result.size_bytes());
}

}  // namespace

void read_product(const ProductArguments& given, Product& product) {
    product.stream = given.stream == Py_None ? nullptr : given.stream;
    Arrays& arrays = product.arrays;
    read_operand(given.a, "a", product.stream, arrays.a);
    refuse_if_traced(arrays.a);
    read_operand(given.b, "b", product.stream, arrays.b);
    read_if_given(given.c, "c", product.stream, arrays.c);
    read_if_given(given.out, "out", product.stream, arrays.out);
    arrays.accumulates = truth(given.accumulate);
    arrays.deterministic = determinism_of(given.deterministic);
    if (arrays.out.read_only) throw OperandError("invalid array", {"out is read-only"});
    if (arrays.accumulates && !arrays.out.given())
        throw OperandError("no product of these arrays", {"accumulate adds to out, which is not given"});
    if (arrays.accumulates && arrays.c.given())
        throw OperandError("no product of these arrays", {"accumulate adds to out, and c is given: one of them is C"});
    product.dependent_launch = dependent_launch_of(given.dependent_launch);
    product.alpha = number(given.alpha, "alpha", 1);
    product.beta = number(given.beta, "beta", arrays.has_c() ? 1.0F : 0.0F);
}

void check_words(PyObject* device, PyObject* deterministic) {
    if (const std::optional<std::string> word = word_of(device, "device")) static_cast<void>(parse_device_name(*word));
    static_cast<void>(determinism_of(deterministic));
}

Stream stream_of(PyObject* stream, const Operand& a) {
    if (stream == nullptr) return current_stream(a);
    if (PyBool_Check(stream) == 0 && PyLong_Check(stream) != 0) return as_stream(stream);
    for (const char* const attribute : {"cuda_stream", "ptr"}) {
        if (PyObject_HasAttrString(stream, attribute) == 0) continue;
        return as_stream(answer_of(stream, PyObject_GetAttrString(stream, attribute)).get());
    }
    if (PyObject_HasAttrString(stream, "__cuda_stream__") != 0) return stream_of_protocol(stream);
    refuse_stream("is of type " + type_name(stream) +
                  ": a handle is an integer, torch.cuda.Stream, cupy.cuda.Stream, or what has __cuda_stream__");
}

Result result_for(const Product& product, std::span<const std::int64_t> shape, DataType type) {
    const Operand& out = product.arrays.out;
    if (out.given()) return {Ref::borrowed(out.object), out.data, {}};
    Ref made = allocate_like(product.arrays.a, shape, type);
    if (std::ranges::find(shape, 0) != shape.end()) return {std::move(made), {}, {}};
    Operand operand;
    read_operand(made.get(), "out", product.stream, operand);
    return {std::move(made), operand.data, std::move(operand.keeper)};
}

void launch(Session& session, const GemmKernel& kernel, const Product& product, DevicePointer d,
            DevicePointer workspace, std::size_t workspace_bytes) {
    const Arrays& arrays = product.arrays;
    const GemmArguments arguments{.a = arrays.a.data,
                                  .b = arrays.b.data,
                                  .c = arrays.accumulates ? d : arrays.c.data,
                                  .d = d,
                                  .alpha = product.alpha,
                                  .beta = product.beta,
                                  .workspace = workspace,
                                  .workspace_bytes = workspace_bytes,
                                  .dependent_launch = product.dependent_launch,
                                  .broadcast_c = product.broadcast_c};
    // In host memory a named one orders nothing, but is one all the same.
    const Stream named =
        arrays.a.place.on_gpu || product.stream != nullptr ? stream_of(product.stream, arrays.a) : nullptr;
    const Stream stream = arrays.a.place.on_gpu ? named : nullptr;
    if (session.emulated) return launch_interruptibly([&] { c_api::launch_on_host(kernel, arguments); });
    const WithoutGil released;
    if (arrays.a.place.on_gpu)
        kernel.launch(arguments, stream);
    else
        launch_on_copies(session, kernel, arguments);
}

}  // namespace jitgemm::python
