#include "python/src/product.hpp"

#include "generator/base/gemm_spec_fields.hpp"
#include "generator/epilogue/epilogue_text.hpp"
#include "generator/text/nearest_name.hpp"
#include "python/src/default_device.hpp"
#include "python/src/dtype.hpp"
#include "python/src/errors.hpp"
#include "python/src/factor.hpp"
#include "python/src/interruptible.hpp"
#include "python/src/matrix_view.hpp"
#include "runtime/c_api/copied_launch.hpp"
#include "runtime/c_api/host_launch.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/support/on_miss_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace jitgemm::python {
namespace {

void read_if_given(PyObject* object, const char* name, const Product& product, Operand& operand) {
    if (object != nullptr && object != Py_None) read_operand(object, name, product.stream, operand, &product.arrays.a);
}

bool truth(PyObject* object) {
    if (object == nullptr) return false;
    const int answer = is_true(object);
    check(answer);
    return answer == 1;
}

/// A word, or nothing where there is none. Throws SpecError, which names the words, for what is no str.
std::optional<std::string> word_of(PyObject* object, const char* name, const char* words) {
    if (object == nullptr || object == Py_None) return std::nullopt;
    if (PyUnicode_Check(object) == 0)
        throw SpecError("invalid problem",
                        {fmt::format("{} is of type {}: expected one of {}", name, type_name(object), words)});
    return std::string(text_of(object, name));
}

Determinism determinism_of(PyObject* object) {
    const char* const words = "\"run_to_run\" (default), \"batch_invariant\"";
    const std::optional<std::string> word = word_of(object, "deterministic", words);
    if (!word) return Determinism::run_to_run;
    if (word->find_first_of(" \t\r\n") != std::string::npos)  // would be read as other fields
        throw SpecError("invalid problem", {fmt::format("deterministic is '{}': it must not contain blanks", *word)});
    return parse_gemm_spec("gemm-v2 m=0 n=0 k=0 deterministic=" + *word).deterministic;
}

Summation sums_of(PyObject* object) {
    const std::optional<std::string> word = word_of(object, "sums", "\"promoted\", \"fast\"");
    if (!word) return Summation::usual;
    if (*word == "promoted") return Summation::promoted;
    if (*word == "fast") return Summation::fast;
    throw SpecError("invalid problem", {fmt::format("sums is '{}': expected promoted or fast", *word)});
}

Math math_of(PyObject* object) {
    const char* const words = R"("ieee" (default), "f16x3", "bf16x3", "tf32", "bf16x6", "tf32x3")";
    const std::optional<std::string> word = word_of(object, "math", words);
    if (!word) return Math::ieee;
    if (const std::optional<Math> math = parse_math(*word)) return *math;
    throw SpecError("invalid problem", {fmt::format("math is '{}': expected {}", *word, join_names(kMathNames))});
}

/// A number that is at least 0; 0 where there is none.
std::int64_t count_of(PyObject* object, const char* name) {
    if (object == nullptr || object == Py_None) return 0;
    const long long value = PyLong_Check(object) != 0 ? PyLong_AsLongLong(object) : -1;
    if (PyErr_Occurred() != nullptr) PyErr_Clear();
    if (value < 0)
        throw SpecError("invalid problem", {fmt::format("{} is {}: expected an integer of at least 0", name,
                                                        words_of(Ref::owned(repr_of(object)).get()))});
    return value;
}

DependentLaunch dependent_launch_of(PyObject* object) {
    const std::optional<std::string> word = word_of(object, "dependent_launch", "\"auto\" (default), \"off\", \"on\"");
    if (!word || *word == "auto") return DependentLaunch::automatic;
    if (*word == "off") return DependentLaunch::off;
    if (*word == "on") return DependentLaunch::on;
    throw SpecError("invalid launch", {fmt::format("dependent_launch is '{}': expected auto, off or on", *word)});
}

void read_out_type(PyObject* dtype, Arrays& arrays) {
    arrays.out_type = data_type_of(dtype, "out_dtype");
    if (arrays.out.given() && arrays.out.type != arrays.out_type)
        throw OperandError("no product of these arrays",
                           {fmt::format("out is of type {}, and out_dtype is {}: leave one of them out",
                                        to_string(*arrays.out.type), to_string(*arrays.out_type))});
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
        const Ref text = Ref::owned(repr_of(handle));
        refuse_stream("is " + words_of(text.get()) + ": a handle is 0, or an address of 64 bits");
    }
    return reinterpret_cast<Stream>(static_cast<std::uintptr_t>(value));
}

/// Returns a stream's answer, and refuses a stream that gives none.
Ref answer_of(PyObject* stream, PyObject* answer) {
    if (answer == nullptr) refuse_stream("of type " + type_name(stream) + " gives no handle: " + take_complaint());
    return Ref::owned(answer);
}

/// (version, handle), as the protocol wants it.
Stream stream_of_protocol(PyObject* stream) {
    const Ref protocol = answer_of(stream, attribute_of(stream, "__cuda_stream__"));
    const Ref answer = answer_of(stream, call_python(protocol.get()));
    if (PyTuple_Check(answer.get()) == 0 || PyTuple_Size(answer.get()) != 2)
        refuse_stream("of type " + type_name(stream) + " answers __cuda_stream__() with no (version, handle)");
    return as_stream(PyTuple_GetItem(answer.get(), 1));
}

/// The stream of a product on a GPU. In host memory a named one orders nothing, but is one all the same.
Stream stream_for(const Product& product) {
    const bool on_gpu = product.arrays.a.place.on_gpu;
    const Stream named = on_gpu || product.stream != nullptr ? stream_of(product.stream, product.arrays.a) : nullptr;
    return on_gpu ? named : nullptr;
}

[[noreturn]] void refuse_beside_epilogue(const std::string& reason) {
    throw OperandError("no product of these arrays", {reason});
}

/// alpha or beta: a keyword, or one of the epilogue's operands.
float scalar_for(const Product& product, const char* name, PyObject* keyword, float otherwise) {
    const EpilogueArrays* const epilogue = product.arrays.epilogue.get();
    const EpilogueArray* const given = epilogue == nullptr ? nullptr : epilogue->find(name);
    if (given == nullptr || !given->value) return factor_of(keyword, name, otherwise);
    if (keyword != nullptr && keyword != Py_None)
        refuse_beside_epilogue(fmt::format("{} is given twice: by keyword and in operands", name));
    return *given->value;
}

void read_epilogue(const ProductArguments& given, Product& product) {
    Arrays& arrays = product.arrays;
    if (given.formula == nullptr) {
        if (given.operands != nullptr && given.operands != Py_None)
            refuse_beside_epilogue("operands are given, but there is no epilogue that reads them");
        return;
    }
    if (arrays.c.given())
        refuse_beside_epilogue(
            "c is given beside an epilogue: read it in the text, as c[m,n] or c[n], and pass it in "
            "operands={\"c\": c}");
    if (arrays.accumulates)
        refuse_beside_epilogue(
            "accumulate is given beside an epilogue: read out in the text, as x[m,n], and pass x=out");
    arrays.epilogue = read_epilogue_arrays(*given.formula, *given.named, given.operands, product.stream, arrays.a);
}

bool is_immutable(Library library) { return library == Library::jax; }

/// Whether memory of the product could be used otherwise before it has ended. A stream that the caller names is the
/// caller's to order, but for a result that is handed over to a library with streams of its own.
bool must_wait(const Product& product) {
    const Arrays& arrays = product.arrays;
    if (product.stream != nullptr) return is_immutable(arrays.a.made_by) && !arrays.out.given();
    bool is_unordered = false;
    arrays.for_each([&](const Operand& operand) { is_unordered = is_unordered || operand.unordered; });
    return is_unordered;
}

/// Whether a copy of C that its library makes now is there when the kernel reads it, and stays as long.
bool is_ordered(const Product& product) {
    const Operand& c = product.arrays.c;
    if (!c.place.on_gpu) return true;
    return c.unordered ? product.stream == nullptr : stream_for(product) == current_stream(c);
}

}  // namespace

void read_product(const ProductArguments& given, Product& product) {
    product.stream = given.stream == Py_None ? nullptr : given.stream;
    Arrays& arrays = product.arrays;
    read_operand(given.a, "a", product.stream, arrays.a);
    refuse_if_traced(arrays.a);
    arrays.is_symmetric = given.b == nullptr;
    if (!arrays.is_symmetric) read_operand(given.b, "b", product.stream, arrays.b, &arrays.a);
    read_if_given(given.c, "c", product, arrays.c);
    read_if_given(given.out, "out", product, arrays.out);
    read_if_given(given.offsets, "offs", product, arrays.offsets);
    read_if_given(given.rows, "rows", product, arrays.rows);
    arrays.expected_rows = count_of(given.expected_rows, "expected_rows");
    arrays.accumulates = truth(given.accumulate);
    arrays.deterministic = determinism_of(given.deterministic);
    arrays.sums = sums_of(given.sums);
    arrays.math = math_of(given.math);
    if (given.out_dtype != nullptr && given.out_dtype != Py_None) read_out_type(given.out_dtype, arrays);
    if (arrays.out.given()) check_writable(arrays.out);
    if (arrays.accumulates && !arrays.out.given())
        throw OperandError("no product of these arrays", {"accumulate adds to out, but out is missing: pass out"});
    if (arrays.accumulates && arrays.c.given())
        throw OperandError("no product of these arrays",
                           {"accumulate uses out as C, but c is given: leave one of them out"});
    product.dependent_launch = dependent_launch_of(given.dependent_launch);
    if (given.formula != nullptr || given.operands != nullptr) read_epilogue(given, product);
    product.alpha = scalar_for(product, "alpha", given.alpha, 1);
    product.beta = scalar_for(product, "beta", given.beta, arrays.has_c() ? 1.0F : 0.0F);
}

std::optional<OnMiss> on_miss_of(PyObject* object) {
    const std::optional<std::string> word = word_of(object, "on_miss", "\"wait\", \"serve\", \"fail\"");
    if (!word) return std::nullopt;
    if (const std::optional<OnMiss> known = parse_on_miss(*word)) return known;
    throw SpecError("invalid request", {fmt::format("on_miss is '{}': expected wait, serve or fail", *word)});
}

void check_words(PyObject* device, PyObject* deterministic, PyObject* math) {
    if (device != Py_None) static_cast<void>(device_word(device));
    static_cast<void>(determinism_of(deterministic));
    static_cast<void>(math_of(math));
}

Stream stream_of(PyObject* stream, const Operand& a) {
    if (stream == nullptr) return current_stream(a);
    if (PyBool_Check(stream) == 0 && PyLong_Check(stream) != 0) return as_stream(stream);
    for (const char* const attribute : {"cuda_stream", "ptr"}) {
        if (!has_attribute(stream, attribute)) continue;
        return as_stream(answer_of(stream, attribute_of(stream, attribute)).get());
    }
    if (has_attribute(stream, "__cuda_stream__")) return stream_of_protocol(stream);
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

namespace {

/// The shape of an output, where D has `shape`. A reduction lacks D's rows or its columns, or has one element. One over
/// blocks has fewer columns.
std::vector<std::int64_t> shape_of(const EpilogueOutput& output, const Product& product,
                                   std::span<const std::int64_t> shape) {
    const std::size_t columns = product.arrays.b.rank > 1 ? 1 : 0;
    const std::span<const std::int64_t> of_rows = shape.first(shape.size() - columns);
    if (!output.reduction) return {shape.begin(), shape.end()};
    std::vector<std::int64_t> rows(of_rows.begin(), of_rows.end());
    if (output.index.is_over_blocks() && columns != 0) {
        const std::int64_t over = output.index.column->over;
        rows.push_back((shape.back() + over - 1) / over);
    }
    if (output.index.row) return rows;
    if (!output.index.column) return {1};
    return {columns == 0 ? 1 : shape.back()};
}

struct Addresses {
    std::uint64_t first, behind;
};

Addresses addresses_of(const Operand& operand) {
    std::int64_t first = 0, behind = 1;  // in elements
    for (const auto& [size, stride] : dimensions(operand)) {
        if (size == 0) return {};
        (stride < 0 ? first : behind) += (size - 1) * stride;
    }
    const auto address = [&](std::int64_t element) {
        return operand.data.address + static_cast<std::uint64_t>(element * bytes(*operand.type));
    };
    return {address(first), address(behind)};
}

/// A launch compares its own matrices alone, so a later one could read what an earlier one has stored.
void check_launches(const Product& product) {
    const Arrays& arrays = product.arrays;
    if (!arrays.out.given()) return;
    const auto is_out = [&](const Operand& c) {
        return c.data.address == arrays.out.data.address && c.type == arrays.out.type &&
               std::ranges::equal(c.extents(), arrays.out.extents()) &&
               std::ranges::equal(c.steps(), arrays.out.steps());
    };
    const Addresses out = addresses_of(arrays.out);
    for (const Operand* const operand : {&arrays.a, &arrays.b, &arrays.c}) {
        if (!operand->given() || (operand == &arrays.c && (product.beta == 0 || is_out(*operand)))) continue;
        const Addresses of = addresses_of(*operand);
        if (of.first < out.behind && out.first < of.behind)
            throw OperandError("no product of these arrays",
                               {fmt::format("{} and {}: they overlap, and the batch takes several launches",
                                            with_strides(arrays.out), with_strides(*operand))});
    }
}

/// Calls `launch` once for each index of all dimensions.
template <typename Launch>
void launch_each(const GemmKernel& kernel, const GemmArguments& first, std::span<const LaunchDimension> dimensions,
                 const Launch& launch) {
    if (dimensions.empty()) return launch(kernel, first);
    const GemmSpec& spec = kernel.spec();
    const auto moved = [](DevicePointer pointer, std::int64_t elements, DataType type) {
        return DevicePointer(pointer.address + static_cast<std::uint64_t>(elements * bytes(type)));
    };
    const std::array<std::int64_t, 4>& strides = dimensions.front().strides;
    GemmArguments arguments = first;
    for (std::int64_t i = 0; i < dimensions.front().size; ++i) {
        arguments.a = moved(first.a, i * strides[0], spec.a);
        arguments.b = moved(first.b, i * strides[1], spec.b);
        if (first.c) arguments.c = moved(first.c, i * strides[2], spec.c.value_or(spec.d));
        arguments.d = moved(first.d, i * strides[3], spec.d);
        launch_each(kernel, arguments, dimensions.subspan(1), launch);
    }
}

}  // namespace

void make_outputs(Product& product, std::span<const std::int64_t> shape, EpilogueText epilogue) {
    EpilogueArrays* const arrays = product.arrays.epilogue.get();
    if (arrays == nullptr || arrays->outputs.size() == 1) return;
    const Epilogue meaning = *meaning_of(epilogue, DataType::bf16);  // types are declared in a problem's text
    for (std::size_t i = 0; i < arrays->outputs.size(); ++i) {
        const EpilogueOutput& output = meaning.parts().outputs[i];
        EpilogueArray& array = arrays->outputs[i];
        if (output.reduction && std::ranges::find(shape, 0) != shape.end())
            throw OperandError("no product of these arrays",
                               {fmt::format("{} is a reduction, but the product has no elements", output.name)});
        if (!is_beside_d(output) || array.array.given()) continue;
        array.held = allocate_like(product.arrays.a, shape_of(output, product, shape), *output.type);
        array.is_made = true;
        if (std::ranges::find(shape, 0) == shape.end())
            read_operand(array.held.get(), arrays->formula->outputs[i].name.c_str(), product.stream, array.array);
    }
}

Ref finished(const Product& product, Result result) {
    const auto given_back = [&](Ref array, bool is_given) {
        return is_given ? std::move(array) : hand_over(std::move(array), product.arrays.a);
    };
    Ref d = given_back(std::move(result.array), product.arrays.out.given());
    const EpilogueArrays* const epilogue = product.arrays.epilogue.get();
    if (epilogue == nullptr || epilogue->outputs.size() == 1) return d;
    Ref all = Ref::owned(PyTuple_New(static_cast<Py_ssize_t>(epilogue->outputs.size())));
    for (std::size_t i = 0; i < epilogue->outputs.size(); ++i) {
        const EpilogueArray& output = epilogue->outputs[i];
        Ref array = is_beside_d(epilogue->formula->outputs[i])
                        ? given_back(Ref::borrowed(output.held.get()), !output.is_made)
                        : Ref::borrowed(d.get());
        check(PyTuple_SetItem(all.get(), static_cast<Py_ssize_t>(i), array.release()));
    }
    return all;
}

void refuse_to_copy_c(const Product& product, const std::string& reason) {
    const Operand& c = product.arrays.c;
    throw OperandError(
        "no product of these arrays",
        {fmt::format(
            "c has shape {}, strides {} in elements, and no kernel reads such a matrix: it must be copied, but {}; "
            "np.broadcast_to(c, shape).copy() makes a c that is read as it lies",
            shape_text(c.extents()), shape_text({c.strides.data(), static_cast<std::size_t>(c.rank)}), reason)});
}

void copy_c(Product& product, const CopyOfC& copy) {
    Operand& c = product.arrays.c;
    if (product.beta == 0) {
        c = {};
        return;
    }
    if (!is_ordered(product))
        refuse_to_copy_c(product, "its library would do that on another stream than the product's");
    static KeptMember repeated("_arrays", "repeated");
    product.copied_c = called(repeated.get(), Py_BuildValue("(ONO)", c.object, tuple_of(copy.shape).release(),
                                                            copy.by_column ? Py_True : Py_False));
    c = {};
    read_operand(product.copied_c.get(), "c", product.stream, c, &product.arrays.a);
}

void launch(Session& session, const GemmKernel& kernel, const Product& product, const LaunchPlace& place) {
    const Arrays& arrays = product.arrays;
    if (!place.launches.empty()) check_launches(product);
    GemmArguments arguments{.a = arrays.a.data,
                            .b = arrays.b.data,
                            .c = arrays.accumulates ? place.d : arrays.c.data,
                            .d = place.d,
                            .alpha = product.alpha,
                            .beta = product.beta,
                            .workspace = place.workspace,
                            .workspace_bytes = place.workspace_bytes,
                            .dependent_launch = product.dependent_launch,
                            .broadcast_c = product.broadcast_c,
                            .offsets = arrays.offsets.data,
                            .row_index = arrays.rows.data,
                            .prepared_a = product.prepared_a,
                            .prepared_b = product.prepared_b};
    if (arrays.epilogue) add_operands(*arrays.epilogue, arguments.operands);
    const Stream stream = stream_for(product);
    if (session.emulated)
        launch_interruptibly([&] { launch_each(kernel, arguments, place.launches, c_api::launch_on_host); });
    else if (const WithoutGil released; arrays.a.place.on_gpu) {
        launch_each(kernel, arguments, place.launches,
                    [stream](const GemmKernel& one, const GemmArguments& of) { one.launch(of, stream); });
        if (must_wait(product)) session.context.synchronize(stream);
    } else {
        launch_each(kernel, arguments, place.launches, c_api::launch_on_copies);
    }
    if (arrays.out.given()) note_written(arrays.out);
    if (!arrays.epilogue) return;
    for (const EpilogueArray& output : arrays.epilogue->outputs)
        if (output.array.given() && !output.is_made) note_written(output.array);
}

}  // namespace jitgemm::python
