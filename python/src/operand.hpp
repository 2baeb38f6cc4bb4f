#pragma once

#include "jitgemm/data_type.hpp"
#include "jitgemm/device_pointer.hpp"
#include "python/src/dlpack.hpp"
#include "python/src/python.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace jitgemm::python {

inline constexpr int kMaxRank = 8;

/// Where an array lies: in host memory, or on a GPU.
struct Place {
    bool on_gpu = false;
    int gpu = 0;
    friend bool operator==(const Place&, const Place&) = default;
};
[[nodiscard]] std::string to_string(const Place& place);

/// The library of an array. After a launch has written to an array, some libraries need to be told.
enum class Library : std::uint8_t { other, torch, jax };

/// An array as a launch needs it. Of one that is not there (no C, say) `object` is null.
struct Operand {
    const char* name = "";       ///< of the argument
    PyObject* object = nullptr;  ///< borrowed: the call holds it
    DevicePointer data;
    std::optional<DataType> type;  ///< nothing: one that no kernel takes
    std::int64_t item = 0;         ///< bytes of an element
    Place place;
    bool read_only = false;
    bool unordered = false;  ///< on a GPU, of a library that may use the memory again once the call has returned
    Library made_by = Library::other;
    int rank = 0;
    std::array<std::int64_t, kMaxRank> shape{};
    std::array<std::int64_t, kMaxRank> strides{};  ///< in elements

    const dlpack::ExchangeApi* exchange = nullptr;  ///< of the array's library, if it has one
    Stream stream = nullptr;                        ///< of a library without: its current stream
    Ref keeper;                                     ///< what else must live as long as the call

    [[nodiscard]] bool given() const { return object != nullptr; }
    [[nodiscard]] std::span<const std::int64_t> extents() const {
        return {shape.data(), static_cast<std::size_t>(rank)};
    }
    [[nodiscard]] std::span<const std::int64_t> steps() const {
        return {strides.data(), static_cast<std::size_t>(rank)};
    }
};

/// Of a torch.Tensor, a numpy.ndarray, a cupy.ndarray or whatever else speaks DLPack or the CUDA array interface;
/// nothing is copied. For libraries that order by stream and can't tell theirs, what they still do to the array is made
/// to be done before `stream` goes on (null: that of `first`, else the library's own). Throws OperandError for what is
/// no array, of a type or in a place that no kernel reaches, or part of a graph for gradients. `operand` is a new one.
void read_operand(PyObject* object, const char* name, PyObject* stream, Operand& operand,
                  const Operand* first = nullptr);

/// Of an array that a launch is to write. Throws OperandError for one that its library holds to be immutable.
void check_writable(const Operand& operand);
/// After a launch has written it: PyTorch's autograd sees that the tensor has changed.
void note_written(const Operand& operand);

/// Throws OperandError where the type is none that an epilogue reads: float16, bfloat16 or float32.
void check_readable_type(const Operand& operand);

/// Throws OperandError where the array is a torch.Tensor and PyTorch traces the running program.
/// The trace would keep this product's numbers as a constant.
void refuse_if_traced(const Operand& operand);

/// The same as read_operand, of memory whose elements' type doesn't matter. Throws OperandError where it is read-only
/// or no single run of bytes.
[[nodiscard]] Operand read_workspace(PyObject* object, PyObject* stream);

/// Bytes of an array that is one run of them.
[[nodiscard]] std::size_t size_in_bytes(const Operand& operand);

/// Of the array's library for the GPU it is on.
[[nodiscard]] Stream current_stream(const Operand& operand);

/// A new row-major array beside an operand, to be written: of its library, in its place. Throws OperandError where the
/// library is none that is known. Of a library whose arrays are immutable it is memory that hand_over() makes an array
/// of.
[[nodiscard]] Ref allocate_like(const Operand& operand, std::span<const std::int64_t> shape, DataType type);
/// The array for the caller, of what allocate_like() made beside `like`, once it is written.
[[nodiscard]] Ref hand_over(Ref made, const Operand& like);

/// (capsule, name) of a __dlpack__() that keeps its capsule → the first fields of _arrays.Description.
[[nodiscard]] Ref describe_capsule(PyObject* arguments);

/// "(4096, 512)"
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace jitgemm::python
