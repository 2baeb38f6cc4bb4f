#pragma once

#include "jitgemm/gemm_spec.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// The header of a .npy file (versions 1, 2 and 3 of the format).
struct NpyHeader {
    std::string type;  ///< numpy's descr: "<f2", "<f4", "|V2" ...
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
    std::size_t data_offset = 0;
};
/// Throws Error with the flaw: no .npy magic, unknown version, truncated or malformed header. Reads only the header's
/// bytes.
[[nodiscard]] NpyHeader parse_npy_header(std::string_view file);

/// The dimensions that an array may have. Of none or one, it is a matrix of one row. Of three, it is a batch.
enum class NpyDimensions : std::uint8_t { two_or_three, up_to_three };

/// A .npy file of a matrix, or of a batch of matrices, mapped into memory, read-only: f16 ("<f2"), f32 ("<f4") or bf16.
/// ml_dtypes writes bf16 as "|V2" or "<V2", which only says "two bytes", so the caller must name the type. C order is
/// Order::row, and Fortran order is Order::column. Both are packed. A batch is in C order.
class NpyMatrix {
public:
    /// `type` is the type of a file of raw two-byte elements. Throws Error with the file and its flaw.
    [[nodiscard]] static NpyMatrix open(const std::string& path, std::optional<DataType> type = std::nullopt,
                                        NpyDimensions dimensions = NpyDimensions::two_or_three);

    [[nodiscard]] DataType type() const { return type_; }
    [[nodiscard]] Order order() const { return order_; }
    [[nodiscard]] const std::vector<std::int64_t>& shape() const { return shape_; }
    [[nodiscard]] bool is_batch() const { return shape_.size() > 2; }
    [[nodiscard]] std::int64_t matrices() const { return is_batch() ? shape_[0] : 1; }
    [[nodiscard]] std::int64_t rows() const { return rows_; }  ///< of one matrix
    [[nodiscard]] std::int64_t columns() const { return columns_; }
    [[nodiscard]] const std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size_bytes() const { return bytes_; }
    [[nodiscard]] const std::string& path() const { return path_; }
    [[nodiscard]] NpyMatrix transposed() const;
    /// The elements as `type` (f16, bf16 or f32), in the file's order.
    [[nodiscard]] std::vector<std::byte> elements_as(DataType type) const;

private:
    NpyMatrix() = default;
    std::string path_;
    std::shared_ptr<const void> mapping_;
    const std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    std::vector<std::int64_t> shape_;  ///< of the file
    std::int64_t rows_ = 0;
    std::int64_t columns_ = 0;
    DataType type_ = DataType::f32;
    Order order_ = Order::row;
};

/// Reasons why `a` (M×K), `b` (K×N) and perhaps `c` (M×N) are not the operands of one product, each with the shapes.
/// Empty if they are. A single matrix serves all problems of a batch. `problems`: how many there are, where A and B
/// don't say so.
[[nodiscard]] std::vector<std::string> operand_mismatches(const NpyMatrix& a, const NpyMatrix& b,
                                                          const NpyMatrix* c = nullptr,
                                                          std::optional<std::int64_t> problems = std::nullopt);

/// A shape as numpy writes it: "(3, 5)".
[[nodiscard]] std::string npy_shape_text(const std::vector<std::int64_t>& shape);

/// Writes a packed f16 or f32 array beside `path`, syncs it and renames it, so that nobody sees a half-written file. A
/// bf16 matrix is written as f32, which numpy can read. Throws Error with the file.
void write_npy(const std::string& path, DataType type, const std::vector<std::int64_t>& shape, Order order,
               const void* data);

}  // namespace jitgemm
