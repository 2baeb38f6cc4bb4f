#include "tests/support/emulated_gemm.hpp"

#include "generator/families/family.hpp"
#include "generator/generate.hpp"
#include "runtime/compiler.hpp"
#include "runtime/half.hpp"
#include "runtime/launch.hpp"

#include <fmt/format.h>

#include <cstring>
#include <ctime>

#include <random>
#include <span>

namespace jitgemm::testing {
namespace {

using emulator::GlobalMemory;

std::string compile_to_ptx(const KernelSource& source, const std::string& arch) {
    static const std::shared_ptr<Compiler> kCompiler = make_nvrtc_compiler(Options::from_environment(), 0, {});
    CompileRequest request = compile_request(source);
    request.arch = "compute_" + arch.substr(arch.find('_') + 1);
    request.options.emplace_back("-lineinfo");
    return kCompiler->compile(request).binary;
}

/// A matrix on the host, and in emulated memory behind a guard band that leaves it just its alignment.
struct Matrix {
    DataType type{};
    std::vector<std::byte> bytes;
    emulator::DeviceAddress address = 0;
};

std::size_t element_size(DataType type) { return static_cast<std::size_t>(jitgemm::bytes(type)); }

Matrix random_matrix(DataType type, std::int64_t elements, std::mt19937_64& random) {
    std::uniform_int_distribution<int> small(-3, 3);
    Matrix matrix{type, std::vector<std::byte>(static_cast<std::size_t>(elements) * element_size(type)), 0};
    for (std::size_t i = 0; i < static_cast<std::size_t>(elements); ++i) {
        const std::uint32_t bits = element_bits(small(random), type);
        std::memcpy(matrix.bytes.data() + i * element_size(type), &bits, element_size(type));
    }
    return matrix;
}

void upload(Matrix& matrix, GlobalMemory& memory, int alignment, const std::string& name) {
    const auto front = static_cast<std::size_t>(alignment);
    const emulator::DeviceAddress buffer = memory.allocate(matrix.bytes.size() + front, name);
    memory.guard(buffer, front, "the guard band before " + name);
    matrix.address = buffer + front;
    memory.copy_in(matrix.address, matrix.bytes);
}

struct Operands {
    Matrix a, b, c, d;
};

Operands make_operands(const GemmSpec& spec, std::uint64_t seed, GlobalMemory& memory) {
    const OperandExtents extents = operand_extents(spec);
    std::mt19937_64 random(seed);
    Operands operands{
        random_matrix(spec.a, extents.a, random),
        random_matrix(spec.b, extents.b, random),
        random_matrix(spec.c.value_or(spec.d), spec.c ? extents.c : 0, random),
        {spec.d, std::vector<std::byte>(static_cast<std::size_t>(extents.d) * element_size(spec.d), std::byte{0xFF}),
         0}};
    upload(operands.a, memory, spec.align_a, "A");
    upload(operands.b, memory, spec.align_b, "B");
    if (spec.c) upload(operands.c, memory, spec.align_c, "C");
    upload(operands.d, memory, spec.align_d, "D");
    return operands;
}

GemmArguments arguments_of(const Operands& operands, const EmulatedRun& run) {
    return {.a = DevicePointer{operands.a.address},
            .b = DevicePointer{operands.b.address},
            .c = DevicePointer{operands.c.address},
            .d = DevicePointer{operands.d.address},
            .alpha = run.alpha,
            .beta = run.beta};
}

/// Element (row, column) of an operand as a number; all of them, so that the sums below are plain.
std::vector<double> values_of(const Matrix& matrix) {
    std::vector<double> values(matrix.bytes.size() / element_size(matrix.type));
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] = element_value(matrix.bytes.data(), matrix.type, static_cast<std::int64_t>(i));
    }
    return values;
}

std::size_t index_of(Order order, std::int64_t leading_dimension, std::int64_t row, std::int64_t column) {
    return static_cast<std::size_t>(order == Order::row ? row * leading_dimension + column
                                                        : column * leading_dimension + row);
}

/// alpha · A·B + beta · C of small integers: exact in double whatever the order.
class Reference {
public:
    Reference(const GemmSpec& spec, const Operands& operands, const EmulatedRun& run)
        : spec_(spec), run_(run), a_(values_of(operands.a)), b_(values_of(operands.b)), c_(values_of(operands.c)) {}

    [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
        double sum = 0;
        for (std::int64_t k = 0; k < spec_.k; ++k) {
            sum += a_[index_of(order_a(spec_.layout), spec_.lda, row, k)] *
                   b_[index_of(order_b(spec_.layout), spec_.ldb, k, column)];
        }
        const double c = c_.empty() ? 0 : c_[index_of(spec_.d_order, spec_.ldc, row, column)];
        return double{run_.alpha} * sum + double{run_.beta} * c;
    }

private:
    const GemmSpec& spec_;
    const EmulatedRun& run_;
    std::vector<double> a_, b_, c_;
};

std::string first_difference(const GemmSpec& spec, const Reference& reference, const std::vector<std::byte>& got) {
    for (std::int64_t row = 0; row < spec.m; ++row) {
        for (std::int64_t column = 0; column < spec.n; ++column) {
            const double value = reference.at(row, column);
            std::uint32_t bits = 0;
            std::memcpy(&bits, got.data() + index_of(spec.d_order, spec.ldd, row, column) * element_size(spec.d),
                        element_size(spec.d));
            const double own = element_value(&bits, spec.d, 0);
            // Zero may have either sign: alpha of -0.5 times a sum of +0.
            if (bits == element_bits(value, spec.d) || (value == 0 && own == 0)) continue;
            return fmt::format("D({}, {}) is {}, not {}", row, column, own, value);
        }
    }
    return {};
}

}  // namespace

EmulatedKernel with_ptx(EmulatedKernel kernel, std::string ptx) {
    kernel.ptx = std::move(ptx);
    kernel.program = emulator::load_program(kernel.ptx);
    return kernel;
}

EmulatedKernel emulated_kernel(const GemmSpec& spec, const KernelConfig& config, const std::string& arch) {
    EmulatedKernel kernel{resolved(spec), config, generate(resolved(spec), config, find_arch(arch)), {}, nullptr};
    std::string ptx = compile_to_ptx(kernel.source, arch);
    return with_ptx(std::move(kernel), std::move(ptx));
}

EmulatedResult run_emulated(const EmulatedKernel& kernel, const EmulatedRun& run) {
    GlobalMemory memory;
    const Operands operands = make_operands(kernel.spec, run.input_seed, memory);
    const GemmSpec row_major = with_row_major_d(kernel.spec);
    GemmArguments arguments = arguments_of(operands, run);
    if (kernel.spec.d_order == Order::column) std::swap(arguments.a, arguments.b);
    const auto workspace = static_cast<std::size_t>(family_of(kernel.config).workspace_bytes(row_major, kernel.config));
    if (workspace > 0) arguments.workspace = DevicePointer{memory.allocate(workspace, "workspace")};
    EmulatedResult result;
    for (const KernelEntry& entry : kernel.source.entries) {
        const std::int64_t blocks = block_count(entry.grid, row_major);
        if (blocks == 0) continue;
        const PackedArguments packed = pack_arguments(entry.arguments, row_major, arguments);
        const emulator::LaunchConfig config{.entry = entry.function,
                                            .grid = {blocks, 1, 1},
                                            .block = {entry.threads, 1, 1},
                                            .shared_bytes = entry.shared_bytes,
                                            .order_seed = run.order_seed,
                                            .async_mode = run.async_mode,
                                            .checks = run.checks,
                                            .threads = run.threads};
        const std::clock_t begin = std::clock();
        result.counters += emulator::launch(*kernel.program, config, memory, packed.span());
        result.cpu_seconds += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    }
    std::vector<std::byte> got(operands.d.bytes.size());
    memory.copy_out(got, operands.d.address);
    result.first_difference = first_difference(kernel.spec, Reference(kernel.spec, operands, run), got);
    return result;
}

}  // namespace jitgemm::testing
