#include "python/src/matmul.hpp"

#include "python/src/errors.hpp"
#include "python/src/interruptible.hpp"
#include "python/src/product.hpp"
#include "runtime/context/context_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>
#include <vector>

namespace jitgemm::python {
namespace {

/// The functions that multiply.
enum class Function : std::uint8_t { matmul, grouped_matmul, syrk };

/// Of all functions.
constexpr std::array kArgumentNames{
    "a",         "b",       "offs",       "expected_rows", "rows",   "out",           "alpha",
    "beta",      "c",       "accumulate", "stream",        "device", "deterministic", "dependent_launch",
    "out_dtype", "on_miss", "epilogue",   "operands",      "sums",   "math"};
constexpr std::array<std::string_view, 3> kOfGroups{"offs", "expected_rows", "rows"};
constexpr std::array<std::string_view, 4> kOfTwoFactors{"b", "beta", "c", "accumulate"};

/// The places of a function's arguments among those of all.
std::vector<std::size_t> places_of(Function function) {
    const auto is_among = [](const auto& names, std::string_view name) {
        return std::ranges::find(names, name) != names.end();
    };
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < kArgumentNames.size(); ++i) {
        const std::string_view name = kArgumentNames.at(i);
        if (function != Function::grouped_matmul && is_among(kOfGroups, name)) continue;
        if (function == Function::syrk && is_among(kOfTwoFactors, name)) continue;
        places.push_back(i);
    }
    return places;
}

struct Declared {
    std::vector<std::size_t> places;
    std::vector<Name> names;
    Signature signature;
};

Declared declared(Function function, const char* name, std::size_t required) {
    Declared all{.places = places_of(function), .names = {}, .signature = {}};
    for (const std::size_t place : all.places) all.names.emplace_back(kArgumentNames.at(place));
    all.signature = {.function = name, .names = all.names, .positional = required, .required = required};
    return all;
}

const Declared& declared(Function function) {
    static const Declared matmul = declared(Function::matmul, "matmul", 2);
    static const Declared grouped = declared(Function::grouped_matmul, "grouped_matmul", 3);
    static const Declared syrk = declared(Function::syrk, "syrk", 1);
    return function == Function::matmul ? matmul : function == Function::syrk ? syrk : grouped;
}

struct Request {
    Keywords named;  ///< operands of an epilogue
    ProductArguments product{};
    std::optional<OnMiss> on_miss;
};

const Formula* formula_given(PyObject* epilogue) {
    if (epilogue == nullptr || epilogue == Py_None) return nullptr;
    return &formula_of(text_of(epilogue, "epilogue"));
}

/// Into a new one, in place: the product refers to the keywords.
void read(Function function, PyObject* const* arguments, Py_ssize_t count, PyObject* names, Request& request) {
    const auto& [places, unused_names, signature] = declared(function);
    std::array<PyObject*, kArgumentNames.size()> given{}, values{};
    read_arguments(signature, arguments, count, names, given.data(), request.named);
    for (std::size_t i = 0; i < places.size(); ++i) values.at(places[i]) = given.at(i);
    const auto [a, b, offs, expected_rows, rows, out, alpha, beta, c, accumulate, stream, device, deterministic,
                dependent_launch, out_dtype, on_miss, epilogue, operands, sums, math] = values;
    const Formula* const formula = formula_given(epilogue);
    check_arguments(signature, given.data(), request.named, formula != nullptr);
    if (function == Function::grouped_matmul && offs == Py_None)
        throw OperandError("no product of these arrays", {"offs is None: it must hold where the groups end"});
    request.product = {a,         b,       out,           alpha,
                       beta,      c,       accumulate,    stream,
                       device,    nullptr, deterministic, dependent_launch,
                       out_dtype, formula, operands,      &request.named,
                       sums,      math,    offs,          expected_rows,
                       rows};
    request.on_miss = on_miss_of(on_miss);
}

/// Some programs use many shapes. Beyond this number all plans are forgotten, and the context's lookup serves.
constexpr std::size_t kMostPlans = 4096;

/// The rules of types, sizes and layouts, where no kernel is made.
void check_rules(Session& session, const GemmSpec& spec) {
    ContextState& context = state_of(session.context);
    static_cast<void>(
        context.tuned_choices().choose(jitgemm::problem_of(spec), context.device->model(), context.selection));
}

std::shared_ptr<const Plan> make_plan(const std::shared_ptr<Session>& session, const ProblemKey& key,
                                      const Arrays& arrays, std::optional<OnMiss> on_miss) {
    Problem problem = problem_of(arrays);
    const auto plan = std::make_shared<Plan>();
    plan->shape = std::move(problem.shape);
    plan->type = problem.type;
    plan->epilogue = problem.spec.epilogue;
    plan->launches = std::move(problem.launches);
    if (!problem.is_empty()) plan->copy_of_c = std::move(problem.copy_of_c);
    if (problem.is_empty() || plan->copy_of_c)
        check_rules(*session, problem.spec);
    else
        plan->kernel = kernel_interruptibly(session, problem.spec, on_miss);
    if (session->plans.size() >= kMostPlans) session->plans.clear();
    return session->plans.insert_or_assign(key, plan).first->second;
}

/// A caller who asked to wait or to fail gets no stand-in. All handles of the problem change with this one.
void settle(const std::shared_ptr<Session>& session, const GemmKernel& kernel, std::optional<OnMiss> on_miss) {
    if (!kernel || state_of(kernel).choice != ChoiceSource::stand_in) return;
    if (on_miss.value_or(state_of(session->context).options.on_miss) != OnMiss::serve)
        static_cast<void>(kernel_interruptibly(session, kernel.spec(), on_miss));
}

/// Held: other threads make plans, and forget them, while this one allocates and launches.
std::shared_ptr<const Plan> plan_for(const std::shared_ptr<Session>& session, const Arrays& arrays,
                                     std::optional<OnMiss> on_miss) {
    const ProblemKey key(arrays);
    const auto known = session->plans.find(key);
    if (known == session->plans.end()) return make_plan(session, key, arrays, on_miss);
    std::shared_ptr<const Plan> plan = known->second;
    settle(session, plan->kernel, on_miss);
    return plan;
}

/// Whether a text has that word.
bool names_word(std::string_view text, std::string_view word) {
    const auto is_part = [&](std::size_t at) {
        return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1))
        if (!(at > 0 && is_part(at - 1)) && !is_part(at + word.size())) return true;
    return false;
}

/// Whether scales are given without a text that names them. `named`: the values of the keywords `names`.
bool has_scales(PyObject* names, PyObject* const* named) {
    bool found = false;
    for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_Size(names); ++i) {
        const std::string_view name = text_of(PyTuple_GetItem(names, i));
        const bool is_text = name == "epilogue" && PyUnicode_Check(named[i]) != 0;
        if (is_text && (names_word(text_of(named[i]), "scale_a") || names_word(text_of(named[i]), "scale_b")))
            return false;
        found = found || name == "scale_a" || name == "scale_b";
    }
    return found;
}

/// Calls a function in Python with the same arguments, as a tuple and a dict.
Ref called_again(PyObject* callee, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    Ref positional = Ref::owned(PyTuple_New(count)), named = Ref::owned(PyDict_New());
    for (Py_ssize_t i = 0; i < count; ++i)
        check(PyTuple_SetItem(positional.get(), i, Ref::borrowed(arguments[i]).release()));
    for (Py_ssize_t i = 0; names != nullptr && i < PyTuple_Size(names); ++i)
        check(PyDict_SetItem(named.get(), PyTuple_GetItem(names, i), arguments[count + i]));
    return called(callee, Py_BuildValue("(NN)", positional.release(), named.release()));
}

/// Calls this function again, with a text for the scales.
PyObject* scaled(PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    static KeptMember scaled_groups("_scaled", "scaled_groups");
    return called_again(scaled_groups.get(), arguments, count, names).release();
}

/// Two products, where no kernel serves a text's pairs of columns. None where they don't serve it either.
Ref multiplied_by_halves(PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    static KeptMember by_halves("_pairs", "by_halves");
    return called_again(by_halves.get(), arguments, count, names);
}

PyObject* multiplied(Function function, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return guarded([&] {
        if (function == Function::grouped_matmul && has_scales(names, arguments + count))
            return scaled(arguments, count, names);
        Request request;
        read(function, arguments, count, names, request);
        Product product;
        read_product(request.product, product);
        const std::shared_ptr<Session> session = session_for(product.arrays, request.product.device);
        std::shared_ptr<const Plan> plan;
        try {
            plan = plan_for(session, product.arrays, request.on_miss);
        } catch (const ConfigError&) {
            const Formula* const formula = request.product.formula;
            if (function != Function::matmul || formula == nullptr || !formula->has_pairs) throw;
            Ref result = multiplied_by_halves(arguments, count, names);
            if (result.get() == Py_None) throw;
            return result.release();
        }
        if (plan->copy_of_c) {
            copy_c(product, *plan->copy_of_c);
            plan = plan_for(session, product.arrays, request.on_miss);
        }
        Result result = result_for(product, plan->shape, plan->type);
        make_outputs(product, plan->shape, plan->epilogue);
        if (plan->kernel) launch(*session, plan->kernel, product, {.d = result.data, .launches = plan->launches});
        return finished(product, std::move(result)).release();
    });
}

}  // namespace

PyObject* matmul(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return multiplied(Function::matmul, arguments, count, names);
}

PyObject* grouped_matmul(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return multiplied(Function::grouped_matmul, arguments, count, names);
}

PyObject* syrk(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return multiplied(Function::syrk, arguments, count, names);
}

const char* const kMatmulDoc =
    "matmul($module, a, b, /, *, out=None, alpha=1.0, beta=None, c=None, accumulate=False, stream=None, device=None, "
    "deterministic=None, dependent_launch=None, out_dtype=None, on_miss=None, epilogue=None, operands=None, "
    "sums=None,\n"
    "math=None, **arrays)\n"
    "--\n\n"
    "alpha * (a @ b) + beta * c, by a kernel that is made for these shapes, types and strides.\n\n"
    "a, b: arrays of shape (..., m, k) and (..., k, n); of one dimension a is a row, b a column, as in numpy. Of "
    "PyTorch,\n"
    "  CuPy, JAX (anything that speaks DLPack) on a GPU, or in host memory, numpy's included, where `device` is "
    "named.\n"
    "  Strides are read, and nothing is copied: transposed and sliced views are served, others refused with the "
    "reason.\n"
    "out: where the result goes, (..., m, n); else a new row-major array of a's library. Its type is the result's "
    "(default:\n"
    "  a's). No part of it may be a's or b's. JAX's arrays are immutable, and no out.\n"
    "out_dtype: the type of a new result: a dtype of numpy, PyTorch, JAX or ml_dtypes, or its name (default: a's).\n"
    "c: what beta multiplies, of the result's shape or one that is repeated to it by numpy's rules: a bias of shape "
    "(n,);\n"
    "  may be out itself. What no kernel reads as it lies is copied first. beta: 1 unless given, 0 without a c.\n"
    "accumulate: c is out, which is added to.\n"
    "stream: a handle, torch.cuda.Stream, cupy.cuda.Stream, or what has __cuda_stream__ (default: the current one of "
    "a's\n"
    "  library, else the legacy default stream). May be capturing a graph.\n"
    "device: \"cuda\", \"cuda:1\", \"emulator\", \"emulator:sm_90a\" for arrays in host memory (default: that of "
    "set_device).\n"
    "  They are copied to the GPU and back, and the result is there when the call returns.\n"
    "deterministic: \"run_to_run\" (default), or \"batch_invariant\": a row of the result has the same bits whatever "
    "the "
    "number\n"
    "  of rows is and whatever the others hold.\n"
    "dependent_launch: whether it may begin while the launch before it in the stream ends: \"auto\" (default: where "
    "the "
    "kernel was\n"
    "  made for it), \"off\", or \"on\", a SpecError from a kernel that was not. Right in any case.\n\n"
    "on_miss: what happens if the kernel is not loaded: \"wait\" for it (default, or JITGEMM_ON_MISS), \"serve\" at "
    "once by\n"
    "  another loaded kernel until it has been compiled in the background, which may change the result's bits then, or "
    "\"fail\".\n"
    "epilogue: what is stored of each sum `acc`, as text: \"d = silu(acc + bias[n]) * up[m,n]\". Operands of the text "
    "are\n"
    "  keywords: bias=bias, up=up. Their types and strides are those of the arrays. [n] and [m] are contiguous "
    "vectors, "
    "[0]\n"
    "  one element, [m,n] a matrix of the result's shape that lies in its order. A scalar of the launch is a number.\n"
    "  Outputs beside d, as pre in \"t = acc + bias[n]; pre[m,n] = t; d = gelu(t)\", are new arrays, unless a keyword "
    "says\n"
    "  where one goes: pre=buffer. The call then returns a tuple of all outputs, in the order of the text.\n"
    "operands: a dict of such operands, for names that are arguments here: c, out, alpha.\n"
    "sums: \"promoted\" (default of 8-bit floats: partial sums of 128 of k are added in f32), or \"fast\".\n"
    "math: how f32 is multiplied: \"ieee\" (default, or JITGEMM_MATH), or on tensor cores: \"f16x3\" (in parts of 16 "
    "bits,\n"
    "  about as accurate), \"bf16x6\" and \"tf32x3\" (of f32's range, about as accurate, half as fast), \"bf16x3\" "
    "(errors\n"
    "  of 1e-5) or \"tf32\" (errors of 1e-3).\n\n"
    "The first call with new shapes, types or strides chooses a kernel and compiles it, or finds it in the cache on "
    "disk.\n\n"
    "Raises OperandError (arrays), SpecError, ConfigError (no kernel serves it), CompileError, CudaError, "
    "KernelNotReady;\n"
    "each has `reasons`, "
    "and nothing was launched. Any thread may call it; on a GPU the product goes on after it has returned, in its "
    "stream.";

const char* const kGroupedMatmulDoc =
    "grouped_matmul($module, a, b, /, offs, *, expected_rows=None, rows=None, out=None, alpha=1.0, beta=None,\n"
    "c=None, accumulate=False, stream=None, device=None, deterministic=None, dependent_launch=None, out_dtype=None,\n"
    "on_miss=None, epilogue=None, operands=None, sums=None, math=None, **arrays)\n"
    "--\n\n"
    "Rows of a in groups, each multiplied by its own matrix of b, as torch.nn.functional.grouped_mm does it.\n\n"
    "a: (m, k). b: (groups, k, n); the transpose of weights (groups, n, k) is the fastest. The result is (m, n).\n"
    "  Or a has room for a number of rows in each group, (groups, rows, k). Then offs has the rows of each group, "
    "which\n"
    "  come first in its room, and the result is (groups, rows, n).\n"
    "offs: (groups,) of int32, in rising order, on the device of a. Group i ends before row offs[i], and begins where\n"
    "  the previous one ends; the first begins at row 0. A group may be empty, and may begin at any row. Rows of the\n"
    "  result outside the groups stay as they are (in a new result, they are undefined). The host never reads offs,\n"
    "  so that a CUDA graph may replay the call with other ends. Wrong ends give wrong results, but no other memory "
    "is\n"
    "  touched.\n"
    "  Or b is one matrix, (k, n). The groups are then parts of k, which offs cuts, and the result is (groups, m, n).\n"
    "  The transpose of an array (k, m) is the fastest a. A group of no k gives zeros.\n"
    "expected_rows: of a group, for which a kernel is chosen (default: m / groups, or k / groups). Every number gives\n"
    "  right results.\n"
    "rows: (m,) of int32, on the device of a, where a is (source rows, k) and the result (m, n). Row i of the result "
    "is\n"
    "  made of row rows[i] of a. Where a has no such row, -1 for example, it is made of zeros.\n"
    "epilogue: in its text, b is the group, and m counts the rows of all groups: \"d = w[m] * silu(acc + "
    "bias[b,n])\".\n"
    "scale_a, scale_b, bias: those of scaled_matmul, also with a text, whose acc is then the scaled product. scale_b "
    "has\n"
    "  the groups first: (array, \"128x128\") of shape (groups, ceil(k / 128), ceil(n / 128)). A text that names "
    "scale_a\n"
    "  or scale_b reads them as its own operands.\n"
    "All other arguments and errors are those of matmul. Kernels are fastest on a GPU with wgmma (sm_90a), if lines\n"
    "and matrices of a and b begin at multiples of 16 bytes. rows= needs both.";

const char* const kSyrkDoc =
    "syrk($module, a, /, *, out=None, alpha=1.0, stream=None, device=None, deterministic=None, dependent_launch=None,\n"
    "out_dtype=None, on_miss=None, epilogue=None, operands=None, sums=None, math=None, **scalars)\n"
    "--\n\n"
    "alpha * (a @ a.mT), at about half of matmul's work. All of it is stored, and equals its transpose bit for bit.\n\n"
    "a: (..., m, k). syrk(a.mT) is a.mT @ a, and copies nothing. The result is (..., m, m).\n"
    "epilogue: a text that reads scalars alone, and stores d alone: \"d = relu(alpha * acc)\".\n"
    "math: \"ieee\" or \"tf32\".\n\n"
    "All else is as in matmul.";

}  // namespace jitgemm::python
