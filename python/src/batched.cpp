#include "python/src/batched.hpp"

#include "python/src/errors.hpp"
#include "python/src/interruptible.hpp"
#include "python/src/matrix_view.hpp"
#include "python/src/product.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::python {
namespace {

constexpr std::size_t kArguments = 12;

const Signature& signature() {
    static const std::array<Name, kArguments> names{
        "a", "b", "out", "alpha", "beta", "c", "accumulate", "device", "deterministic", "out_dtype", "on_miss", "math"};
    static const Signature signature{.function = "batched_matmul", .names = names, .positional = 2, .required = 2};
    return signature;
}

[[noreturn]] void refuse(std::string reason) { throw OperandError("no product of these arrays", {std::move(reason)}); }

/// The arrays of one argument, one for each product.
struct ArrayList {
    const char* name;
    std::vector<Ref> objects{};
    std::vector<Operand> operands{};  ///< those behind the first
    int alignment = 0;                ///< of all, in bytes; 0: the usual

    [[nodiscard]] PyObject* first() const { return objects.empty() ? nullptr : objects.front().get(); }
};

ArrayList list_of(PyObject* object, const char* name) {
    ArrayList list{.name = name};
    if (object == nullptr || object == Py_None) return list;
    const bool is_list = PyList_Check(object) != 0;
    if (!is_list && PyTuple_Check(object) == 0)
        refuse(
            fmt::format("{} is of type {}: expected a list with an array for each product", name, type_name(object)));
    const Py_ssize_t count = is_list ? PyList_Size(object) : PyTuple_Size(object);
    for (Py_ssize_t i = 0; i < count; ++i)
        list.objects.push_back(Ref::borrowed(is_list ? PyList_GetItem(object, i) : PyTuple_GetItem(object, i)));
    return list;
}

void check_count(const ArrayList& list, const ArrayList& a) {
    if (list.objects.size() != a.objects.size())
        refuse(fmt::format("{} has {} arrays and a has {}: each product needs one", list.name, list.objects.size(),
                           a.objects.size()));
}

void check_alike(const ArrayList& list, std::size_t place, const Operand& operand, const Operand& first) {
    const bool is_alike = operand.type == first.type && operand.place == first.place &&
                          std::ranges::equal(operand.extents(), first.extents()) &&
                          std::ranges::equal(operand.steps(), first.steps());
    const auto words = [](const Operand& of) {
        return fmt::format("{} of shape {}, strides {}, in {}", of.type ? to_string(*of.type) : "?",
                           shape_text(of.extents()), shape_text(of.steps()), to_string(of.place));
    };
    if (!is_alike)
        refuse(fmt::format("{0}[{1}] is {2}, and {0}[0] is {3}: arrays of a list must be alike", list.name, place,
                           words(operand), words(first)));
}

/// Reads the arrays behind the first, and the alignment of all.
void read_others(ArrayList& list, const Operand& first, std::int64_t leading) {
    std::vector<std::string> reasons;
    list.alignment = alignment_of(first, leading, reasons);
    for (std::size_t i = 1; i < list.objects.size(); ++i) {
        Operand& operand = list.operands.emplace_back();
        read_operand(list.objects[i].get(), list.name, nullptr, operand, &first);
        check_alike(list, i, operand, first);
        const int own = alignment_of(operand, leading, reasons);
        if (own != 0) list.alignment = list.alignment == 0 ? own : std::min(list.alignment, own);
    }
    if (!reasons.empty()) throw OperandError("no product of these arrays", std::move(reasons));
}

void add_addresses(std::vector<std::int64_t>& all, const ArrayList& list, const Operand& first) {
    if (list.objects.empty()) return all.resize(all.size() + 1);  // an array that a launch doesn't read
    all.push_back(static_cast<std::int64_t>(first.data.address));
    for (const Operand& operand : list.operands) all.push_back(static_cast<std::int64_t>(operand.data.address));
}

void check_apart(const ArrayList& out, const Operand& first) {
    std::vector<std::int64_t> addresses;
    add_addresses(addresses, out, first);
    std::ranges::sort(addresses);
    if (std::ranges::adjacent_find(addresses) != addresses.end())
        refuse("two arrays of out are one: each product needs memory of its own");
}

void check_arrays(const Arrays& arrays) {
    for (const Operand* const operand : {&arrays.a, &arrays.b})
        if (operand->rank != 2) refuse(described(*operand) + ": the arrays of a list are matrices");
    if (arrays.a.made_by == Library::jax) refuse("a[0] is an array of JAX: these are immutable, and no out");
}

/// The lists of a call.
struct Lists {
    ArrayList a, b, c, out;
    [[nodiscard]] std::size_t products() const { return a.objects.size(); }
};

Lists read_lists(PyObject* a, PyObject* b, PyObject* c, PyObject* out) {
    Lists lists{list_of(a, "a"), list_of(b, "b"), list_of(c, "c"), list_of(out, "out")};
    check_count(lists.b, lists.a);
    if (c != nullptr && c != Py_None) check_count(lists.c, lists.a);
    if (out != nullptr && out != Py_None) check_count(lists.out, lists.a);
    return lists;
}

/// The problem of all products, by the arrays of all lists.
GemmSpec spec_of(Lists& lists, const Product& product, const Problem& of_first) {
    const Arrays& arrays = product.arrays;
    GemmSpec spec = of_first.spec;
    spec.pointers = true;
    spec.batch = static_cast<std::int64_t>(lists.products());
    read_others(lists.a, arrays.a, spec.lda);
    read_others(lists.b, arrays.b, spec.ldb);
    spec.align_a = lists.a.alignment;
    spec.align_b = lists.b.alignment;
    if (arrays.c.given()) {
        read_others(lists.c, arrays.c, spec.broadcast_c ? 0 : spec.ldc);
        spec.align_c = lists.c.alignment;
    }
    if (arrays.out.given()) {
        read_others(lists.out, arrays.out, spec.ldd);
        for (const Operand& operand : lists.out.operands) check_writable(operand);
        check_apart(lists.out, arrays.out);
        spec.align_d = lists.out.alignment;
        if (arrays.accumulates) spec.align_c = spec.align_d;
    }
    return spec;
}

/// New arrays for the results.
void make_results(Lists& lists, Product& product, const Problem& of_first) {
    Operand& out = product.arrays.out;
    for (std::size_t i = 0; i < lists.products(); ++i) {
        lists.out.objects.push_back(allocate_like(product.arrays.a, of_first.shape, of_first.type));
        Operand& operand = i == 0 ? out : lists.out.operands.emplace_back();
        read_operand(lists.out.objects.back().get(), "out", nullptr, operand, &product.arrays.a);
    }
}

/// The arrays of addresses, where the launch reads them: in host memory, or on the GPU.
class AddressArrays {
public:
    AddressArrays(const Lists& lists, const Arrays& arrays) {
        for (const auto& [list, first] : {std::pair(&lists.a, &arrays.a), std::pair(&lists.b, &arrays.b),
                                          std::pair(&lists.c, &arrays.c), std::pair(&lists.out, &arrays.out)}) {
            starts_.at(count_++) = addresses_.size();
            add_addresses(addresses_, *list, *first);
        }
        first_ = DevicePointer(addresses_.data());
        if (!arrays.a.place.on_gpu) return;
        static KeptMember addresses("_arrays", "addresses");
        const Ref values = tuple_of(addresses_);
        array_ = called(addresses.get(), Py_BuildValue("(OO)", arrays.a.object, values.get()));
        memory_ = read_workspace(array_.get(), nullptr);
        first_ = memory_.data;
    }

    /// Of a, b, c and out.
    [[nodiscard]] DevicePointer operator[](std::size_t place) const {
        return first_.address + starts_.at(place) * sizeof(std::int64_t);
    }

private:
    std::vector<std::int64_t> addresses_;
    std::array<std::size_t, 4> starts_{};
    std::size_t count_ = 0;
    Ref array_;
    Operand memory_;
    DevicePointer first_;
};

void multiply(Session& session, const GemmKernel& kernel, const Lists& lists, Product& product) {
    Arrays& arrays = product.arrays;
    const AddressArrays addresses(lists, arrays);
    arrays.a.data = addresses[0];
    arrays.b.data = addresses[1];
    if (arrays.c.given()) arrays.c.data = addresses[2];
    launch(session, kernel, product, {.d = addresses[3]});
    for (const Operand& operand : lists.out.operands) note_written(operand);
}

Ref results_of(const Lists& lists) {
    Ref results = Ref::owned(PyList_New(static_cast<Py_ssize_t>(lists.products())));
    for (std::size_t i = 0; i < lists.products(); ++i)
        check(PyList_SetItem(results.get(), static_cast<Py_ssize_t>(i),
                             Ref::borrowed(lists.out.objects[i].get()).release()));
    return results;
}

}  // namespace

PyObject* batched_matmul(PyObject* /*module*/, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
    return guarded([&] {
        std::array<PyObject*, kArguments> values{};
        read_arguments(signature(), arguments, count, names, values.data());
        const auto [a, b, out, alpha, beta, c, accumulate, device, deterministic, out_dtype, on_miss, math] = values;
        Lists lists = read_lists(a, b, c, out);
        if (lists.products() == 0) return PyList_New(0);
        Product product;
        read_product({.a = lists.a.first(),
                      .b = lists.b.first(),
                      .out = lists.out.first(),
                      .alpha = alpha,
                      .beta = beta,
                      .c = lists.c.first(),
                      .accumulate = accumulate,
                      .stream = nullptr,
                      .device = device,
                      .workspace = nullptr,
                      .deterministic = deterministic,
                      .dependent_launch = nullptr,
                      .out_dtype = out_dtype,
                      .math = math},
                     product);
        check_arrays(product.arrays);
        const std::shared_ptr<Session> session = session_for(product.arrays, device);
        const Problem of_first = problem_of(product.arrays);
        if (of_first.copy_of_c && !of_first.is_empty())
            refuse_to_copy_c(product, "batched_matmul copies none of a list");
        const GemmSpec spec = spec_of(lists, product, of_first);
        if (lists.out.objects.empty()) make_results(lists, product, of_first);
        if (!of_first.is_empty()) {
            const GemmKernel kernel = kernel_interruptibly(session, spec, on_miss_of(on_miss));
            multiply(*session, kernel, lists, product);
        }
        return out != nullptr && out != Py_None ? Ref::borrowed(out).release() : results_of(lists).release();
    });
}

const char* const kBatchedMatmulDoc =
    "batched_matmul($module, a, b, /, *, out=None, alpha=1.0, beta=None, c=None, accumulate=False, device=None,\n"
    "deterministic=None, out_dtype=None, on_miss=None, math=None)\n"
    "--\n\n"
    "[alpha * (a[i] @ b[i]) + beta * c[i] for each i] in one launch, of matrices that lie anywhere.\n\n"
    "a, b: lists of matrices (m, k) and (k, n). All of a list have one type, shape, strides and device. An array may\n"
    "  stand in a list more than once: batched_matmul(a, [b] * len(a)).\n"
    "out: a list of arrays for the results, which must overlap nothing; else new arrays. The call returns the list.\n"
    "c: a list of what beta multiplies, each of the result's shape, or a bias of shape (n,).\n"
    "On a GPU the arrays are PyTorch's or CuPy's. Each call copies their addresses to the GPU, in the current stream.\n"
    "All else is as in matmul.";

}  // namespace jitgemm::python
