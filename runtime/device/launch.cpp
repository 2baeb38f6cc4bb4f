#include "runtime/device/launch.hpp"

#include "jitgemm/device_pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace jitgemm {
namespace {

constexpr std::size_t field_bytes(ArgumentKind kind) {
    return kind == ArgumentKind::pointer || kind == ArgumentKind::i64 ? 8 : 4;
}

constexpr std::size_t round_up(std::size_t value, std::size_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
}

std::int64_t extent(ArgumentRole role, const GemmSpec& spec, float alpha) {
    switch (role) {
        case ArgumentRole::m: return spec.m;
        case ArgumentRole::n: return spec.n;
        case ArgumentRole::k: return alpha == 0.0F ? 0 : spec.k;
        case ArgumentRole::lda: return spec.lda;
        case ArgumentRole::ldb: return spec.ldb;
        case ArgumentRole::ldc: return spec.ldc;
        default: return spec.ldd;
    }
}

std::uint64_t address(ArgumentRole role, const GemmArguments& arguments) {
    switch (role) {
        case ArgumentRole::a: return arguments.a.address;
        case ArgumentRole::b: return arguments.b.address;
        case ArgumentRole::c: return arguments.c.address;
        case ArgumentRole::d: return arguments.d.address;
        default: return arguments.workspace.address;
    }
}

// The field's bits in the low bytes: of a little-endian machine, the ones to copy.
std::uint64_t field_bits(const KernelArgument& field, const GemmSpec& spec, const GemmArguments& arguments) {
    switch (field.kind) {
        case ArgumentKind::pointer: return address(field.role, arguments);
        case ArgumentKind::f32: {
            const float value = field.role == ArgumentRole::alpha ? arguments.alpha : arguments.beta;
            std::uint32_t bits = 0;
            std::memcpy(&bits, &value, sizeof bits);
            return bits;
        }
        default: return static_cast<std::uint64_t>(extent(field.role, spec, arguments.alpha));
    }
}

// One matrix of a launch as bytes in memory: `runs` stretches of `run` bytes, `pitch` bytes apart.
struct Region {
    const char* name;
    std::uint64_t address;
    std::uint64_t bytes;  ///< from the first to one past the last
    std::uint64_t run;
    std::uint64_t pitch;
    int alignment;
};

struct Matrix {
    const char* name;
    DevicePointer pointer;
    DataType type;
    Order order;
    std::int64_t rows;
    std::int64_t columns;
    std::int64_t leading_dimension;
    int alignment;
};

Region region(const Matrix& matrix) {
    const bool by_row = matrix.order == Order::row;
    const auto element = static_cast<std::uint64_t>(bytes(matrix.type));
    const auto run = static_cast<std::uint64_t>(by_row ? matrix.columns : matrix.rows) * element;
    const auto runs = static_cast<std::uint64_t>(by_row ? matrix.rows : matrix.columns);
    const auto pitch = static_cast<std::uint64_t>(matrix.leading_dimension) * element;
    return {matrix.name, matrix.pointer.address, runs == 0 || run == 0 ? 0 : (runs - 1) * pitch + run, run,
            pitch,       matrix.alignment};
}

Region region_a(const GemmSpec& spec, const GemmArguments& arguments) {
    return region({"A", arguments.a, spec.a, order_a(spec.layout), spec.m, spec.k, spec.lda, spec.align_a});
}
Region region_b(const GemmSpec& spec, const GemmArguments& arguments) {
    return region({"B", arguments.b, spec.b, order_b(spec.layout), spec.k, spec.n, spec.ldb, spec.align_b});
}
Region region_c(const GemmSpec& spec, const GemmArguments& arguments) {
    return region({"C", arguments.c, *spec.c, spec.d_order, spec.m, spec.n, spec.ldc, spec.align_c});
}
Region region_d(const GemmSpec& spec, const GemmArguments& arguments) {
    return region({"D", arguments.d, spec.d, spec.d_order, spec.m, spec.n, spec.ldd, spec.align_d});
}

// Of equal pitch, two matrices may interleave without touching: slices of columns of one larger matrix.
bool interleave(const Region& x, const Region& y) {
    if (x.pitch != y.pitch) return false;
    const Region& low = x.address <= y.address ? x : y;
    const Region& high = x.address <= y.address ? y : x;
    const std::uint64_t offset = (high.address - low.address) % low.pitch;
    return offset >= low.run && offset + high.run <= low.pitch;
}

bool overlap(const Region& x, const Region& y) {
    const bool apart = x.address + x.bytes <= y.address || y.address + y.bytes <= x.address;
    return !apart && x.bytes != 0 && y.bytes != 0 && !interleave(x, y);
}

bool same_place(const GemmSpec& spec, const Region& c, const Region& d) {
    return c.address == d.address && *spec.c == spec.d && spec.ldc == spec.ldd;
}

void check_pointer(const Region& operand, std::vector<std::string>& problems) {
    if (operand.address == 0) {
        problems.push_back(fmt::format("{} is null", operand.name));
    } else if (operand.address % static_cast<std::uint64_t>(operand.alignment) != 0) {
        problems.push_back(fmt::format("{} at {:#x} is less aligned than the {} bytes the spec promises", operand.name,
                                       operand.address, operand.alignment));
    }
}

void check_overlap(const Region& d, const Region& input, const char* allowed, std::vector<std::string>& problems) {
    if (d.address == 0 || input.address == 0 || !overlap(d, input)) return;
    problems.push_back(fmt::format("D [{:#x}, {:#x}) overlaps {} [{:#x}, {:#x}){}", d.address, d.address + d.bytes,
                                   input.name, input.address, input.address + input.bytes, allowed));
}

void check_input(const Region& d, const Region& input, std::vector<std::string>& problems) {
    check_pointer(input, problems);
    check_overlap(d, input, "", problems);
}

void check_c(const GemmSpec& spec, const GemmArguments& arguments, const Region& d,
             std::vector<std::string>& problems) {
    const Region c = region_c(spec, arguments);
    check_pointer(c, problems);
    if (same_place(spec, c, d)) return;
    check_overlap(d, c, "; D may only be exactly C, of the same type and leading dimension", problems);
}

void check_workspace(const GemmArguments& arguments, std::size_t needed, std::vector<std::string>& problems) {
    if (!arguments.workspace || needed == 0) return;  // none given: the context's own is used
    if (arguments.workspace_bytes < needed) {
        problems.push_back(
            fmt::format("the workspace holds {} bytes, the kernel needs {}", arguments.workspace_bytes, needed));
    }
    if (arguments.workspace.address % kWorkspaceAlignment != 0) {
        problems.push_back(fmt::format("the workspace at {:#x} is not aligned to {} bytes", arguments.workspace.address,
                                       kWorkspaceAlignment));
    }
}

}  // namespace

std::size_t argument_struct_bytes(std::span<const KernelArgument> layout) {
    std::size_t size = 0;
    std::size_t alignment = 1;
    for (const KernelArgument& field : layout) {
        size = round_up(size, field_bytes(field.kind)) + field_bytes(field.kind);
        alignment = std::max(alignment, field_bytes(field.kind));
    }
    return round_up(size, alignment);
}

PackedArguments pack_arguments(std::span<const KernelArgument> layout, const GemmSpec& spec,
                               const GemmArguments& arguments) {
    PackedArguments packed;
    std::size_t alignment = 1;
    for (const KernelArgument& field : layout) {
        const std::size_t size = field_bytes(field.kind);
        const std::uint64_t bits = field_bits(field, spec, arguments);
        packed.size = round_up(packed.size, size);
        std::memcpy(packed.bytes.data() + packed.size, &bits, size);
        packed.size += size;
        alignment = std::max(alignment, size);
    }
    packed.size = round_up(packed.size, alignment);
    return packed;
}

std::vector<std::string> launch_problems(const GemmSpec& spec, const GemmArguments& arguments,
                                         std::size_t workspace_bytes) {
    std::vector<std::string> problems;
    const bool reads_c = arguments.beta != 0.0F;
    if (reads_c && !spec.c) problems.push_back(fmt::format("beta is {} but the spec has no C", arguments.beta));
    if (spec.m == 0 || spec.n == 0) return problems;

    const Region d = region_d(spec, arguments);
    check_pointer(d, problems);
    if (spec.k != 0 && arguments.alpha != 0.0F) {
        check_input(d, region_a(spec, arguments), problems);
        check_input(d, region_b(spec, arguments), problems);
    }
    if (reads_c && spec.c) check_c(spec, arguments, d, problems);
    check_workspace(arguments, workspace_bytes, problems);
    return problems;
}

}  // namespace jitgemm
