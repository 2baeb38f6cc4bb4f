#pragma once

#include "generator/base/arch.hpp"
#include "jitgemm/gemm_spec.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace jitgemm {

/// What one field of a kernel's argument struct holds. Pointers are 8 bytes, extents 4 (i32) or 8 (i64), scalars f32.
enum class ArgumentRole : std::uint8_t { a, b, c, d, workspace, m, n, k, lda, ldb, ldc, ldd, alpha, beta };
enum class ArgumentKind : std::uint8_t { pointer, i32, i64, f32 };

struct KernelArgument {
    ArgumentRole role;
    ArgumentKind kind;
    friend bool operator==(const KernelArgument&, const KernelArgument&) = default;
};

/// The matrix whose elements the blocks of an entry share out: A is (m, k), B is (n, k), D is (m, n).
enum class GridMatrix : std::uint8_t { a, b, d };

/// How many blocks cover a matrix: ceil(rows / tile_m) · ceil(columns / tile_n) · splits, all along grid x; where blocks
/// take several tiles one after the other (grid-stride loops), at most `most` of them. Where tiles are left over from whole
/// waves of `wave` blocks, each of these takes two.
struct GridRule {
    int tile_m = 1;
    int tile_n = 1;
    int splits = 1;
    GridMatrix matrix = GridMatrix::d;
    int most = 0;  ///< 0: no limit
    int wave = 0;  ///< 0: every tile takes one block a split
    friend bool operator==(const GridRule&, const GridRule&) = default;
};
/// Counts beyond 62 bits stop there.
[[nodiscard]] std::int64_t block_count(const GridRule& rule, std::int64_t rows, std::int64_t columns);
/// The same for the rule's matrix of a problem that is row-major in D.
[[nodiscard]] std::int64_t block_count(const GridRule& rule, const GemmSpec& row_major);

/// One __global__ function of a kernel and all a launch of it needs. Its single parameter is a struct by value whose
/// fields are `arguments`, in order, each at its natural alignment.
struct KernelEntry {
    std::string function;
    int threads = 0;
    int shared_bytes = 0;  ///< dynamic shared memory
    std::array<int, 3> cluster{1, 1, 1};
    GridRule grid;
    std::vector<KernelArgument> arguments;
    friend bool operator==(const KernelEntry&, const KernelEntry&) = default;
};

/// A rendered kernel: the text that is compiled and hashed (`body`, no banner) and how to launch what it holds.
/// m, n, k and the pointers in `arguments` are those of the row-major-D form of the problem (with_row_major_d).
struct KernelSource {
    std::string name;  ///< canonical kernel name
    const Arch* arch = nullptr;
    std::string body;
    std::vector<KernelEntry> entries;  ///< launched in order
};

}  // namespace jitgemm
