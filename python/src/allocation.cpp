#include "python/src/operand.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace

Ref allocate_like(const Operand& operand, std::span<const std::int64_t> shape, DataType type) {
    if (operand.exchange != nullptr) return allocate_exchanged(operand, shape, type);
    static PyObject* kept = nullptr;
    return Ref::owned(PyObject_CallFunction(kept_member(kept, "_arrays", "empty"), "ONs", operand.object,
                                            tuple_of(shape).release(), std::string(to_string(type)).c_str()));
}

}  // namespace jitgemm::python
