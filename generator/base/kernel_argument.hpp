#pragma once

#include "generator/base/tensor_map.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace jitgemm {

/// What an argument of a kernel is, of a problem that is row-major in D (with_row_major_d). packed_a and packed_b are the copies of A
/// and B in the workspace, where they need packing (packed_operand.hpp), packed_lda and packed_ldb their leading dimensions.
enum class ArgumentRole : std::uint8_t {
    a,
    b,
    c,
    d,
    workspace,
    counters,
    packed_a,
    packed_b,
    m,
    n,
    k,
    lda,
    ldb,
    ldc,
    ldd,
    packed_lda,
    packed_ldb,
    alpha,
    beta
};
[[nodiscard]] std::string_view to_string(ArgumentRole role);
[[nodiscard]] constexpr bool is_packed(ArgumentRole matrix) {
    return matrix == ArgumentRole::packed_a || matrix == ArgumentRole::packed_b;
}

/// An address of device memory, 8 bytes: a, b, c, d, workspace, or counters, the part of the workspace that holds zeros when a
/// kernel begins and holds zeros again when it ends (KernelEntry::counter_bytes).
struct PointerArgument {
    ArgumentRole role;
    friend bool operator==(const PointerArgument&, const PointerArgument&) = default;
};
/// m, n, k or a leading dimension as a signed integer of 4 or 8 bytes.
struct ExtentArgument {
    ArgumentRole role;
    int bytes = 4;
    std::string_view field{};  ///< what the struct calls it, where that is not the role's name
    friend bool operator==(const ExtentArgument&, const ExtentArgument&) = default;
};
/// alpha or beta, an f32.
struct ScalarArgument {
    ArgumentRole role;
    friend bool operator==(const ScalarArgument&, const ScalarArgument&) = default;
};
/// The tensor map (CUtensorMap, 128 bytes aligned to 64) of matrix a, b, c, d, packed_a or packed_b, encoded when the kernel is
/// launched. Dimension 0 runs along the matrix's contiguous extent. Of a matrix that the launch does not read, all bytes are 0.
struct TensorMapArgument {
    ArgumentRole role;
    std::array<std::uint32_t, 2> box{};  ///< elements of one copy: along the contiguous extent, and across it
    TensorMapSwizzle swizzle = TensorMapSwizzle::none;
    L2Promotion promotion = L2Promotion::none;
    std::string_view field{};  ///< what the struct calls it, where that is not map_a and so on
    friend bool operator==(const TensorMapArgument&, const TensorMapArgument&) = default;
};
using KernelArgument = std::variant<PointerArgument, ExtentArgument, ScalarArgument, TensorMapArgument>;

/// An argument as a field of the struct that a kernel takes by value.
struct ArgumentField {
    std::string name;
    std::string_view c_type;
    std::size_t bytes;  ///< and its alignment, but for tensor maps
    std::size_t alignment;
    std::size_t offset;
};
/// The fields in order, each at its natural alignment, as a C compiler lays out the struct (CUDA C++ Programming Guide,
/// "__global__ Function Argument Processing").
struct ArgumentLayout {
    std::vector<ArgumentField> fields;
    std::size_t bytes = 0;  ///< sizeof, padding at the end included
    std::size_t alignment = 1;
};
[[nodiscard]] ArgumentLayout argument_layout(std::span<const KernelArgument> arguments);

/// What the struct calls it: "lda", "map_d"; of what is packed "map_a", as of what isn't.
[[nodiscard]] std::string field_name(const KernelArgument& argument);

[[nodiscard]] ArgumentRole role_of(const KernelArgument& argument);

/// Most bytes of arguments that a launch passes on: what every kernel may have (CUDA C++ Programming Guide, "Parameter size").
inline constexpr std::size_t kMaxArgumentBytes = 4096;

}  // namespace jitgemm
