#pragma once

#include "python/src/arguments.hpp"
#include "python/src/session.hpp"

#include <optional>

namespace jitgemm::python {

/// The arguments of a product.
struct ProductArguments {
    PyObject *a, *b, *out, *alpha, *beta, *c, *accumulate, *stream, *device, *workspace, *deterministic,
        *dependent_launch, *out_dtype;
    const Formula* formula = nullptr;  ///< of an epilogue
    PyObject* operands = nullptr;      ///< of the epilogue, by name
    const Keywords* named = nullptr;   ///< the same, as keywords
    PyObject* sums = nullptr;
    PyObject* math = nullptr;
    PyObject* offsets = nullptr;        ///< of groups
    PyObject* expected_rows = nullptr;  ///< of a group
    PyObject* rows = nullptr;           ///< of a
};

/// Arrays, factors and stream of one product, as read.
struct Product {
    Arrays arrays;
    float alpha = 1.0F, beta = 0.0F;
    PyObject* stream = nullptr;
    DependentLaunch dependent_launch = DependentLaunch::automatic;
    bool broadcast_c = false;                     ///< the arrays' C is one row, whatever the kernel was made for
    Ref copied_c;                                 ///< in place of the caller's C
    const PreparedOperand* prepared_a = nullptr;  ///< of the object that is given in A's place; its array is read
    const PreparedOperand* prepared_b = nullptr;
};
/// Into a new one, in place: operands are some hundred bytes each.
void read_product(const ProductArguments& given, Product& product);

/// Reads the argument on_miss: "wait", "serve" or "fail". Unset, the environment decides. Throws SpecError for another
/// word.
[[nodiscard]] std::optional<OnMiss> on_miss_of(PyObject* word);

/// Throws SpecError for a word that no product takes. Whether there is such a device is not looked at.
void check_words(PyObject* device, PyObject* deterministic, PyObject* math);

/// The handle of a stream: an integer, torch.cuda.Stream, cupy.cuda.Stream, or what has __cuda_stream__; null and None:
/// a's library's current one.
[[nodiscard]] Stream stream_of(PyObject* stream, const Operand& a);

/// The array for the result: the caller's, or a new one.
struct Result {
    Ref array;
    DevicePointer data;
    Ref keeper;
};
[[nodiscard]] Result result_for(const Product& product, std::span<const std::int64_t> shape, DataType type);
/// The value that the call returns. With further outputs it is a tuple in the text's order.
[[nodiscard]] Ref finished(const Product& product, Result result);
/// Makes the outputs of the problem's epilogue that the call doesn't give.
void make_outputs(Product& product, std::span<const std::int64_t> shape, EpilogueText epilogue);

/// A copy, made by its library, takes the place of a C that no kernel reads as it lies; where beta is 0, nothing does.
/// Throws OperandError where the library can't, and where the copy would be made on another stream than the product's.
void copy_c(Product& product, const CopyOfC& copy);
/// The OperandError of a C that would have to be copied.
[[noreturn]] void refuse_to_copy_c(const Product& product, const std::string& reason);

/// Memory of a product beside its arrays, and the dimensions whose products take a launch each.
struct LaunchPlace {
    DevicePointer d;
    DevicePointer workspace{};  ///< where the arrays are, for kernels of that place
    std::size_t workspace_bytes = 0;
    std::span<const LaunchDimension> launches{};
};

/// Enqueues on a GPU; on the emulator, where the arrays are a host's, and where a library may use its memory again
/// after the call (JAX), the launch has ended when it returns.
void launch(Session& session, const GemmKernel& kernel, const Product& product, const LaunchPlace& place);

}  // namespace jitgemm::python
