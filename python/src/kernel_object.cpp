#include "python/src/kernel_object.hpp"

#include "generator/base/operand.hpp"
#include "generator/base/spec_text.hpp"
#include "python/src/default_device.hpp"
#include "python/src/errors.hpp"
#include "python/src/interruptible.hpp"
#include "python/src/kernel_report.hpp"
#include "python/src/prepared_object.hpp"
#include "python/src/product.hpp"
#include "runtime/context/context_state.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

namespace jitgemm::python {
namespace {

struct Loaded {
    std::shared_ptr<Session> session;
    GemmKernel kernel;
    unsigned generation = 0;
    const Formula* formula = nullptr;             ///< of the kernel's epilogue
    std::optional<ProblemKey> latest;             ///< arrays that were found to fit; guarded by the GIL
    bool latest_broadcasts_c = false;             ///< as those arrays have it
    std::vector<std::int64_t> latest_shape = {};  ///< of their result
};

struct KernelObject {
    PyObject_HEAD Loaded* loaded;  ///< null where it could not be made
};

Loaded& loaded_of(PyObject* self) {
    Loaded* const loaded = reinterpret_cast<KernelObject*>(self)->loaded;
    if (loaded == nullptr) throw Error("this kernel is empty: __init__ was not called");
    if (loaded->generation != fork_generation())
        throw Error("this kernel belongs to the parent process: after a fork, ask for it again");
    return *loaded;
}

PyTypeObject* kernel_type = nullptr;  // NOLINT: of the module that was made last

// ---- making one -----------------------------------------------------------------------------------------------------

constexpr std::size_t kInitArguments = 6;

const Signature& init_signature() {
    static const std::array<Name, kInitArguments> names{"spec", "device", "kernel", "family", "param", "on_miss"};
    static const Signature signature{.function = "Kernel", .names = names, .positional = 1, .required = 1};
    return signature;
}

std::string text_or_empty(PyObject* object, const char* name) {
    if (object == nullptr || object == Py_None) return {};
    return std::string(text_of(object, name));
}

void refuse_if_made(PyObject* self) {
    if (reinterpret_cast<KernelObject*>(self)->loaded != nullptr)
        throw Error("this kernel is made already: __init__ cannot run twice");
}

std::string device_or_default(PyObject* device) {
    if (device != nullptr && device != Py_None) return device_word(device);
    const Ref otherwise = default_device();
    return otherwise.get() == nullptr ? std::string() : words_of(otherwise.get());
}

const Formula* formula_of_kernel(const GemmKernel& kernel) {
    const EpilogueText epilogue = kernel.spec().epilogue;
    return epilogue.empty() ? nullptr : &formula_of(epilogue.text());
}

int init(PyObject* self, PyObject* positional, PyObject* named) {
    PyObject* const done = guarded([&]() -> PyObject* {
        refuse_if_made(self);
        std::array<PyObject*, kInitArguments> values{};
        read_arguments(init_signature(), positional, named, values.data());
        const auto [spec_text, device, kernel, family, parameters, on_miss] = values;
        const GemmSpec spec = parse_spec_text(text_of(spec_text, "spec"));
        std::shared_ptr<Session> session = session_of(selection_of(device, kernel, family, parameters));
        auto loaded = std::make_unique<Loaded>(
            Loaded{.session = session, .kernel = {}, .generation = fork_generation(), .latest = {}});
        loaded->kernel = kernel_interruptibly(session, spec, on_miss_of(on_miss));
        loaded->formula = formula_of_kernel(loaded->kernel);
        refuse_if_made(self);  // other threads ran meanwhile
        reinterpret_cast<KernelObject*>(self)->loaded = loaded.release();
        return Py_None;
    });
    return done == nullptr ? -1 : 0;
}

void destroy(PyObject* self) {
    auto* const kernel = reinterpret_cast<KernelObject*>(self);
    // A forked process can't give its parent's kernel back to the driver.
    if (kernel->loaded != nullptr && kernel->loaded->generation == fork_generation()) delete kernel->loaded;
    PyTypeObject* const type = Py_TYPE(self);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(self);
    Py_DECREF(type);
}

// ---- calling it -----------------------------------------------------------------------------------------------------

constexpr std::size_t kCallArguments = 11;

const Signature& call_signature() {
    static const std::array<Name, kCallArguments> names{
        "a", "b", "out", "alpha", "beta", "c", "accumulate", "stream", "workspace", "dependent_launch", "operands"};
    static const Signature signature{.function = "Kernel", .names = names, .positional = 2, .required = 2};
    return signature;
}

/// A symmetric product has no b: None stands in its place.
PyObject* b_for(const Loaded& loaded, PyObject* b) {
    return b == Py_None && loaded.kernel.spec().symmetric ? nullptr : b;
}

/// One line for each matrix of an epilogue that lies otherwise than the kernel's.
void compare_layouts(const GemmSpec& asked, const GemmSpec& made, std::vector<std::string>& found) {
    const OperandList of_kernel = gemm_operands(made);
    for (const GemmOperand& here : gemm_operands(asked)) {
        const GemmOperand* const there = of_kernel.find(here.name);
        if (here.pointer != nullptr || there == nullptr || here.lines() <= 1 || here.pitch == there->pitch) continue;
        found.push_back(
            fmt::format("{}'s leading dimension is {} here and {} in the kernel", here.name, here.pitch, there->pitch));
    }
}

/// One line for each field in which what the arrays ask differs from what the kernel was made for.
std::vector<std::string> differences(const GemmSpec& asked, const GemmSpec& made) {
    std::vector<std::string> found;
    const auto compare = [&](const char* name, const auto& here, const auto& there) {
        if (here != there) found.push_back(fmt::format("{} is {} here and {} in the kernel", name, here, there));
    };
    compare("m", asked.m, made.m);
    compare("n", asked.n, made.n);
    compare("k", asked.k, made.k);
    compare("batch", asked.batch, made.batch);
    const OuterBatch outer = asked.outer.value_or({}), made_outer = made.outer.value_or({});
    compare("batch_inner", outer.inner, made_outer.inner);
    compare("symmetric", asked.symmetric, made.symmetric);
    compare("the type of a", to_string(asked.a), to_string(made.a));
    compare("the type of b", to_string(asked.b), to_string(made.b));
    compare("the type of out", to_string(asked.d), to_string(made.d));
    compare("the layout of a and b", to_string(asked.layout), to_string(made.layout));
    compare("the order of out", to_string(asked.d_order), to_string(made.d_order));
    if (!found.empty()) return found;
    compare("a's leading dimension", asked.lda, made.lda);
    compare("b's leading dimension", asked.ldb, made.ldb);
    compare("out's leading dimension", asked.ldd, made.ldd);
    compare("a's batch stride", asked.batch_stride_a, made.batch_stride_a);
    compare("b's batch stride", asked.batch_stride_b, made.batch_stride_b);
    compare("out's batch stride", asked.batch_stride_d, made.batch_stride_d);
    compare("a's outer stride", outer.stride_a, made_outer.stride_a);
    compare("b's outer stride", outer.stride_b, made_outer.stride_b);
    compare("out's outer stride", outer.stride_d, made_outer.stride_d);
    compare_layouts(asked, made, found);
    if (!asked.c) return found;
    if (!made.c) return {"c is given, and the kernel has no C"};
    compare("the type of c", to_string(*asked.c), to_string(*made.c));
    if (made.broadcast_c && asked.ldc != made.ldc)
        found.emplace_back("c is of all rows here and one row, repeated, in the kernel");
    else
        compare("c's leading dimension", asked.ldc, made.ldc);
    compare("c's batch stride", asked.batch_stride_c, made.batch_stride_c);
    compare("c's outer stride", outer.stride_c, made_outer.stride_c);
    return found;
}

/// One row (column) has no next one: its leading dimension counts for nothing, and neither does that of a repeated C.
void take_idle_pitches(GemmSpec& asked, const GemmSpec& made) {
    for (const GemmOperand& operand : gemm_operands(asked))
        if (operand.pitch_field != nullptr && operand.lines() <= 1)
            asked.*operand.pitch_field = made.*operand.pitch_field;
    if (asked.symmetric) asked.ldb = asked.lda;
}

/// Returns the result's shape, and sets broadcast_c. A C that no kernel reads as it lies is copied first, where the
/// launch is ours.
std::vector<std::int64_t> check_fits(Loaded& loaded, Product& product, bool may_copy) {
    const Arrays& arrays = product.arrays;
    ProblemKey key(arrays);
    product.broadcast_c = loaded.latest_broadcasts_c;
    if (loaded.latest == key) return loaded.latest_shape;
    const GemmSpec& made = loaded.kernel.spec();
    Problem problem = problem_of(arrays, &made);
    if (problem.is_empty() && made.m != 0 && made.n != 0)
        throw OperandError("these arrays don't fit " + loaded.kernel.info().name, {"the product has no element"});
    if (problem.copy_of_c && !problem.is_empty()) {
        if (!may_copy && product.beta != 0) refuse_to_copy_c(product, "the copy would not outlive this call");
        copy_c(product, *problem.copy_of_c);
        return check_fits(loaded, product, may_copy);
    }
    if (!problem.launches.empty())
        throw OperandError("these arrays don't fit " + loaded.kernel.info().name,
                           {fmt::format("their {} products lie along more than the two dimensions of a kernel's batch",
                                        problem.batch)});
    GemmSpec asked = resolved(problem.spec);
    take_idle_pitches(asked, made);
    if (!arrays.out.given() && (made.d_order != asked.d_order || made.ldd != asked.ldd))
        throw OperandError("out must be given", {"the kernel's result is no packed row-major matrix"});
    if (std::vector<std::string> found = differences(asked, made); !found.empty())
        throw OperandError("these arrays don't fit " + loaded.kernel.info().name, std::move(found));
    loaded.latest = key;
    product.broadcast_c = loaded.latest_broadcasts_c = problem.spec.broadcast_c;
    return loaded.latest_shape = std::move(problem.shape);
}

void check_place(const Loaded& loaded, const Operand& operand) {
    const Place wanted = loaded.session->emulated ? Place{} : Place{.on_gpu = true, .gpu = loaded.session->gpu};
    if (operand.given() && operand.place != wanted)
        throw OperandError("arrays of another device",
                           {fmt::format("{} lies in {}, and the kernel is for {}", operand.name,
                                        to_string(operand.place), device_of(loaded.kernel))});
}

void check_places(const Loaded& loaded, const Arrays& arrays) {
    arrays.for_each([&](const Operand& operand) { check_place(loaded, operand); });
}

Operand read_room(const Loaded& loaded, PyObject* workspace, PyObject* stream) {
    if (workspace == nullptr || workspace == Py_None) return {};
    Operand room = read_workspace(workspace, stream);
    check_place(loaded, room);
    return room;
}

/// An array, or the one that a Prepared was made of.
PyObject* array_or_prepared(PyObject* object) {
    PyObject* const array = array_of_prepared(object);
    return array != nullptr ? array : object;
}

/// Arrays have no addresses of many matrices.
void refuse_pointers(const Loaded& loaded) {
    if (loaded.kernel.spec().pointers)
        throw OperandError("arrays don't fit " + loaded.kernel.info().name,
                           {"pointers is yes in the kernel: batched_matmul takes lists of arrays, and makes it"});
}

PyObject* call(PyObject* self, PyObject* positional, PyObject* named) {
    return guarded([&] {
        Loaded& loaded = loaded_of(self);
        std::array<PyObject*, kCallArguments> values{};
        Keywords others;
        read_arguments(call_signature(), positional, named, values.data(), others);
        check_arguments(call_signature(), values.data(), others, loaded.formula != nullptr);
        const auto [a, b, out, alpha, beta, c, accumulate, stream, workspace, dependent_launch, operands] = values;
        refuse_pointers(loaded);
        Product product;
        product.prepared_a = prepared_of(a);
        product.prepared_b = prepared_of(b);
        read_product(
            {array_or_prepared(a), b_for(loaded, array_or_prepared(b)), out, alpha, beta, c, accumulate, stream,
             nullptr, workspace, nullptr, dependent_launch, nullptr, loaded.formula, operands, &others},
            product);
        check_places(loaded, product.arrays);
        const std::vector<std::int64_t> shape = check_fits(loaded, product, true);
        const Operand room = read_room(loaded, workspace, product.stream);
        const GemmSpec& spec = loaded.kernel.spec();
        Result result = result_for(product, shape, spec.d);
        make_outputs(product, shape, spec.epilogue);
        const Ref held = Ref::borrowed(self);
        launch(*loaded.session, loaded.kernel, product,
               {.d = result.data, .workspace = room.data, .workspace_bytes = size_in_bytes(room)});
        if (room.given()) note_written(room);
        return finished(product, std::move(result)).release();
    });
}

// ---- preparing operands ---------------------------------------------------------------------------------------------

PyObject* prepare_operand(PyObject* self, PyObject* positional, PyObject* named, const char* function,
                          Prepared operand) {
    return guarded([&] {
        Loaded& loaded = loaded_of(self);
        static const std::array<Name, 2> names{"array", "stream"};
        const Signature signature{.function = function, .names = names, .positional = 1, .required = 1};
        std::array<PyObject*, 2> values{};
        read_arguments(signature, positional, named, values.data());
        Operand array;
        read_operand(values[0], operand == Prepared::a ? "a" : "b", values[1], array);
        check_place(loaded, array);
        return new_prepared_object(loaded.session, loaded.kernel, operand, array, values[1]).release();
    });
}

PyObject* prepare_a(PyObject* self, PyObject* positional, PyObject* named) {
    return prepare_operand(self, positional, named, "prepare_a", Prepared::a);
}
PyObject* prepare_b(PyObject* self, PyObject* positional, PyObject* named) {
    return prepare_operand(self, positional, named, "prepare_b", Prepared::b);
}

// ---- asking it ------------------------------------------------------------------------------------------------------

PyObject* name(PyObject* self, void* /*unused*/) {
    return guarded([&] { return text(loaded_of(self).kernel.info().name).release(); });
}
PyObject* source(PyObject* self, void* /*unused*/) {
    return guarded([&] { return text(loaded_of(self).kernel.source()).release(); });
}
PyObject* spec(PyObject* self, void* /*unused*/) {
    return guarded([&] { return text(to_string(loaded_of(self).kernel.spec())).release(); });
}
PyObject* workspace(PyObject* self, void* /*unused*/) {
    return guarded([&] { return PyLong_FromSize_t(loaded_of(self).kernel.workspace_bytes()); });
}
PyObject* cubin(PyObject* self, void* /*unused*/) {
    return guarded([&] {
        const std::string& binary = state_of(loaded_of(self).kernel).compiled().binary;
        return PyBytes_FromStringAndSize(binary.data(), static_cast<Py_ssize_t>(binary.size()));
    });
}
PyObject* device(PyObject* self, void* /*unused*/) {
    return guarded([&] { return text(device_of(loaded_of(self).kernel)).release(); });
}
PyObject* report(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return text(kernel_json(loaded_of(self).kernel)).release(); });
}
PyObject* launches(PyObject* self, PyObject* /*unused*/) {
    return guarded([&] { return text(launches_json(loaded_of(self).kernel)).release(); });
}

constexpr std::size_t kPackArguments = 9;

const Signature& pack_signature() {
    static const std::array<Name, kPackArguments> names{"a", "b",          "out",       "alpha",   "beta",
                                                        "c", "accumulate", "workspace", "operands"};
    static const Signature signature{.function = "pack_arguments", .names = names, .positional = 2, .required = 3};
    return signature;
}

PyObject* pack(PyObject* self, PyObject* positional, PyObject* named) {
    return guarded([&] {
        Loaded& loaded = loaded_of(self);
        std::array<PyObject*, kPackArguments> values{};
        Keywords others;
        read_arguments(pack_signature(), positional, named, values.data(), others);
        check_arguments(pack_signature(), values.data(), others, loaded.formula != nullptr);
        const auto [a, b, out, alpha, beta, c, accumulate, workspace, operands] = values;
        refuse_pointers(loaded);
        Product product;
        read_product({array_or_prepared(a), b_for(loaded, array_or_prepared(b)), out, alpha, beta, c, accumulate,
                      nullptr, nullptr, workspace, nullptr, nullptr, nullptr, loaded.formula, operands, &others},
                     product);
        check_places(loaded, product.arrays);
        check_fits(loaded, product, false);
        const Operand room = read_room(loaded, workspace, nullptr);
        GemmArguments arguments{.a = product.arrays.a.data,
                                .b = product.arrays.b.data,
                                .c = product.arrays.accumulates ? product.arrays.out.data : product.arrays.c.data,
                                .d = product.arrays.out.data,
                                .alpha = product.alpha,
                                .beta = product.beta,
                                .workspace = room.data,
                                .workspace_bytes = size_in_bytes(room),
                                .broadcast_c = product.broadcast_c,
                                .prepared_a = prepared_of(a),
                                .prepared_b = prepared_of(b)};
        if (product.arrays.epilogue) add_operands(*product.arrays.epilogue, arguments.operands);
        const std::vector<std::string> packed = packed_arguments(loaded.kernel, arguments);
        Ref list = Ref::owned(PyList_New(0));
        for (const std::string& bytes : packed)
            check(PyList_Append(
                list.get(),
                Ref::owned(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size()))).get()));
        return list.release();
    });
}

PyGetSetDef properties[] = {
    // NOLINT: Python's form
    {"name", name, nullptr, "Canonical name, which `kernel=` and the tool's --kernel take.", nullptr},
    {"source", source, nullptr, "The CUDA file that was compiled, with its banner.", nullptr},
    {"spec", spec, nullptr, "The problem in full: \"gemm-v1 m=...\".", nullptr},
    {"cubin", cubin, nullptr, "What was loaded, as bytes; PTX on the emulator.", nullptr},
    {"workspace", workspace, nullptr, "Bytes of workspace that a launch needs.", nullptr},
    {"device", device, nullptr, "\"cuda:0\" or \"emulator:sm_80\".", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

const char* const kKernelDoc =
    "Kernel(spec, /, *, device=None, kernel=None, family=None, param=None, on_miss=None)\n--\n\n"
    "A kernel that is ready to launch, for one problem on one device: what jitgemm.kernel returns. Threads may share "
    "it.\n\n"
    "k(a, b) multiplies arrays of just this problem's shapes, types and strides.";

const char* const kCallDoc =
    "__call__($self, a, b, /, *, out=None, alpha=1.0, beta=None, c=None, accumulate=False, stream=None, "
    "workspace=None, dependent_launch=None, operands=None, **arrays)\n--\n\n"
    "alpha * (a @ b) + beta * c, as jitgemm.matmul does it, for arrays of just this kernel's shapes, types and "
    "strides.\n\n"
    "workspace: a writable, contiguous array of at least k.workspace bytes, apart from all operands, in place of the\n"
    "  library's own.\n"
    "The other arguments are matmul's. Raises OperandError, which says how arrays differ from the kernel's problem, "
    "SpecError, CudaError.";

PyMethodDef methods[] = {
    // NOLINT: Python's form
    // Beside Python's own wrapper of the slot, which has neither help nor signature.
    {"__call__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(call)),
     METH_VARARGS | METH_KEYWORDS | METH_COEXIST, kCallDoc},
    {"prepare_a", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(prepare_a)), METH_VARARGS | METH_KEYWORDS,
     "prepare_a($self, a, /, *, stream=None)\n--\n\nAs prepare_b, for a."},
    {"prepare_b", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(prepare_b)), METH_VARARGS | METH_KEYWORDS,
     "prepare_b($self, b, /, *, stream=None)\n--\n\n"
     "A Prepared, which calls of this kernel take in b's place: b is split, transposed or packed once. The kernel "
     "must\n"
     "have been asked for with prepared=\"b\" (or \"ab\"). b must not change as long as the Prepared is used."},
    {"_report", report, METH_NOARGS, nullptr},
    {"_launches", launches, METH_NOARGS, nullptr},
    {"pack_arguments", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(pack)), METH_VARARGS | METH_KEYWORDS,
     "pack_arguments($self, a, b, /, *, out, alpha=1.0, beta=None, c=None, accumulate=False, workspace=None, "
     "operands=None, **arrays)\n--\n\n"
     "The argument struct of each entry of launch_info for these arrays, as bytes: what a program that launches the "
     "cubin\n"
     "itself passes by value. Arrays as in a call, and workspace of k.workspace bytes, which begins as zeros."},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

Ref make_kernel_type() {
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char*>(kKernelDoc)},  // NOLINT: Python's form
        {Py_tp_init, reinterpret_cast<void*>(init)},
        {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
        {Py_tp_call, reinterpret_cast<void*>(call)},
        {Py_tp_getset, properties},
        {Py_tp_methods, methods},
        {0, nullptr},
    };
    PyType_Spec spec{.name = "jitgemm.Kernel",
                     .basicsize = sizeof(KernelObject),
                     .itemsize = 0,
                     .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                     .slots = slots};
    const Ref bases = Ref::owned(PyTuple_Pack(1, member("_kernel_text", "KernelText").get()));
    Ref type = Ref::owned(PyType_FromSpecWithBases(&spec, bases.get()));
    kernel_type = reinterpret_cast<PyTypeObject*>(type.get());
    return type;
}

Ref new_kernel_object(const std::shared_ptr<Session>& session, GemmKernel kernel) {
    Ref object = Ref::owned(PyType_GenericAlloc(kernel_type, 0));
    auto loaded = std::make_unique<Loaded>(
        Loaded{.session = session, .kernel = std::move(kernel), .generation = fork_generation(), .latest = {}});
    loaded->formula = formula_of_kernel(loaded->kernel);
    reinterpret_cast<KernelObject*>(object.get())->loaded = loaded.release();
    return object;
}

Selection selection_of(PyObject* device, PyObject* kernel, PyObject* family, PyObject* parameters) {
    return {.device = device_or_default(device),
            .kernel = text_or_empty(kernel, "kernel"),
            .family = text_or_empty(family, "family"),
            .parameters = text_or_empty(parameters, "param")};
}

}  // namespace jitgemm::python
