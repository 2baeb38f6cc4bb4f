#include "generator/base/launch_text.hpp"
#include "generator/base/matrix_storage.hpp"
#include "generator/base/packed_lines.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace jitgemm {
namespace {

template <typename Value>
std::string constant(std::string_view name, const Value& value) {
    return fmt::format("constexpr long long {} = {};\n", name, value);
}

/// One input in this many is not 0. The |products| of a row and a column then add up to well under 2048.
std::int64_t sparsity(std::int64_t k) {
    std::int64_t one_in = 1;
    while (one_in * one_in * 512 < k) ++one_in;
    return one_in;
}

/// "kBatchStrideA" of "kBatchStride" and "a".
std::string stride_constant(std::string_view kind, std::string_view operand) {
    return fmt::format("{}{}", kind, static_cast<char>(std::toupper(static_cast<unsigned char>(operand.front()))));
}

std::string batch_constants(const GemmSpec& spec) {
    if (!is_batched(spec)) return {};
    std::string text = constant("kBatch", spec.batch);
    const OperandList operands = spec.symmetric ? kernel_operands(spec) : gemm_operands(spec);  // with a B
    for (const GemmOperand& operand : operands)
        text += constant(stride_constant("kBatchStride", operand.name), operand.batch_stride);
    if (!is_nested(spec)) return text;
    text += constant("kBatchInner", spec.outer->inner);
    for (const GemmOperand& operand : operands)
        text += constant(stride_constant("kOuterStride", operand.name), operand.outer_stride);
    return text;
}

std::string extents(const GemmSpec& spec) {
    const bool a_rows = order_a(spec.layout) == Order::row;
    const bool b_rows = order_b(spec.layout) == Order::row;
    const OperandExtents elements = operand_extents(spec);
    return constant("kM", spec.m) + constant("kN", spec.n) + constant("kK", spec.k) + constant("kLda", spec.lda) +
           constant("kLdb", spec.ldb) + constant("kLdd", spec.ldd) + constant("kAStrideM", a_rows ? "kLda" : "1") +
           constant("kAStrideK", a_rows ? "1" : "kLda") + constant("kBStrideK", b_rows ? "kLdb" : "1") +
           constant("kBStrideN", b_rows ? "1" : "kLdb") + constant("kElementsA", elements.a) +
           (spec.symmetric ? "" : constant("kElementsB", elements.b)) + constant("kElementsD", elements.d) +
           batch_constants(spec) + constant("kSparsity", sparsity(spec.k)) +
           fmt::format("constexpr double kFlops = {};\n", flops(spec)) +
           // With an alpha of 1, a D of s32 holds the sums themselves.
           (spec.d == DataType::s32 ? "constexpr float kAlpha = 1.0f;\n" : "constexpr float kAlpha = 2.0f;\n") +
           (spec.c
                ? constant("kLdc", spec.ldc) + constant("kElementsC", elements.c) + "constexpr float kBeta = -1.0f;\n"
                : "");
}

/// How main() reads an element.
std::string value_of(DataType type, std::string_view element) {
    if (type == DataType::f16) return fmt::format("__half2float(__ushort_as_half({}))", element);
    if (type == DataType::bf16) return fmt::format("__bfloat162float(__ushort_as_bfloat16({}))", element);
    return std::string(element);
}

/// A conversion that saturates.
std::string float8_rounding(std::string_view element, std::string_view name, DataType type) {
    return fmt::format(
        "__device__ {} {}(float value) {{\n"
        "    unsigned short bits;\n"
        "    asm(\"cvt.rn.satfinite.{}x2.f32 %0, %1, %2;\" : \"=h\"(bits) : \"f\"(0.0f), \"f\"(value));\n"
        "    return static_cast<{}>(bits);\n"
        "}}\n",
        element, name, to_string(type), element);
}

/// "__device__ ElementD rounded(float value) { return ...; }"
std::string rounding_function(std::string_view element, std::string_view name, DataType type) {
    if (is_float8(type)) return float8_rounding(element, name, type);
    const std::string_view rounded = type == DataType::f16    ? "__half_as_ushort(__float2half_rn(value))"
                                     : type == DataType::bf16 ? "__bfloat16_as_ushort(__float2bfloat16_rn(value))"
                                     : type == DataType::s8   ? "max(-128, min(127, __float2int_rn(value))) & 0xff"
                                     : type == DataType::s32  ? "__float2int_rn(value)"
                                                              : "value";
    return fmt::format("__device__ {} {}(float value) {{ return {}; }}\n", element, name, rounded);
}

/// "__device__ Input input_bits(float value) { return ...; }" of an 8-bit float that is 1, -1 or 0.
std::string bits_of_float8(std::string_view name, DataType type) {
    const int one = type == DataType::e4m3 ? 0x38 : 0x3c;
    return fmt::format(
        "__device__ Input {}(float value) {{ return value == 0 ? 0 : value > 0 ? {:#x} : {:#x}; }}  // {}\n", name, one,
        one | 0x80, to_string(type));
}

/// main() multiplies nothing but -1, 0 and 1, which are as easy to read in both formats.
std::string float8_functions(const GemmSignature& s) {
    return "\nusing Input = unsigned char;\n"
           "__device__ float input_value(Input bits) { return bits == 0 ? 0.0f : bits < 0x80 ? 1.0f : -1.0f; }\n" +
           bits_of_float8("input_bits", s.a) + (s.a == s.b ? "" : bits_of_float8("input_bits_b", s.b));
}

std::string input_functions(DataType type) {
    if (type == DataType::s8)
        return "\nusing Input = signed char;\n"
               "__device__ float input_value(Input value) { return value; }\n"
               "__device__ Input input_bits(float value) { return static_cast<Input>(value); }\n";
    const bool is_wide = type == DataType::f32;
    const std::string_view element = is_wide ? "value" : "bits";
    return fmt::format("\nusing Input = {};\n__device__ float input_value(Input {}) {{ return {}; }}\n",
                       is_wide ? "float" : "unsigned short", element, value_of(type, element)) +
           rounding_function("Input", "input_bits", type);
}

/// Zeros whose bits differ. Those of f32 compare as equal.
bool has_zeros_of_two_signs(DataType type) { return is_half(type) || is_float8(type); }

/// The functions of main() that depend on the types of elements.
std::string element_functions(const GemmSignature& s) {
    std::string text =
        (is_float8(s.a) ? float8_functions(s) : input_functions(s.a)) + rounding_function("ElementD", "rounded", s.d);
    if (s.c) text += rounding_function("ElementC", "c_element", *s.c);
    return text + "// Results are equal bit for bit. Only the sign of zero may differ.\n" +
           fmt::format("__device__ bool equal(ElementD got, ElementD expected) {{ return got == expected{}; }}\n",
                       !has_zeros_of_two_signs(s.d) ? ""
                       : bytes(s.d) == 1            ? " || (got | expected) == 0x80u"
                                                    : " || (got | expected) == 0x8000u");
}

constexpr std::string_view kSmCount = R"(
// The SMs that clusters of this many blocks reach. Clusters of more than two leave some SMs of each GPC unused.
long long sm_count(int cluster) {
    int device = 0, count = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return cluster > 2 ? count * 10 / 11 : count;
}
)";

/// The name in main() of an argument of the kernel.
std::string value_in_main(ArgumentRole role, const Problem& problem, const WorkspaceLayout& workspace) {
    const bool is_number = role.part == ArgumentPart::matrices || role.part == ArgumentPart::outer_matrices ||
                           role == ArgumentRole::workspace_stride || role == ArgumentRole::batch_inner;
    if (is_number || (role.is_packed && role.part != ArgumentPart::pointer))
        return std::to_string(extent(role, problem));
    if (role.part == ArgumentPart::batch_stride) return stride_constant("kBatchStride", role.name);
    if (role.part == ArgumentPart::outer_stride) return stride_constant("kOuterStride", role.name);
    if (role == ArgumentRole::counters)
        return fmt::format("reinterpret_cast<unsigned*>(workspace + {})", workspace.bytes - workspace.counters);
    if (role.part == ArgumentPart::pointer) return to_string(role);
    std::string name = to_string(role);
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return "k" + name;
}

/// The blocks of a launch: a number, or an expression if the number depends on the GPU.
std::string blocks_text(const KernelEntry& entry, const GemmSpec& spec) {
    const auto* const persistent = std::get_if<PersistentBlocks>(&entry.grid.blocks);
    const std::int64_t most = block_count(entry.grid, spec);
    if (persistent == nullptr) return std::to_string(most);
    const int cluster = persistent->cluster;
    std::string blocks = fmt::format("sm_count({})", cluster);
    if (persistent->per_sm > 1) blocks += fmt::format(" * {}", persistent->per_sm);
    if (cluster == 1) return fmt::format("std::min({}ll, {})", most, blocks);
    return fmt::format("std::min({0}ll, std::max({1} / {2}, 1ll)) * {2}", most / cluster, blocks, cluster);
}

/// The struct that the kernels take by value. In a batch, one with maps is made into that of each problem.
std::string_view argument_type(const KernelSource& source, const GemmSpec& spec) {
    return is_batched(spec) && has_tensor_maps(source.entries.front()) ? "BatchArgs" : "GemmArgs";
}

/// Along grid x, or along all axes where each problem of a batch has its own blocks.
std::string grid_text(const KernelEntry& entry, const GemmSpec& spec, const std::string& blocks) {
    const ProblemGrid grid = problem_grid(entry.grid, spec);
    return grid.y == 1 && grid.z == 1 ? blocks : fmt::format("dim3({}, {}, {})", blocks, grid.y, grid.z);
}

/// launch() calls the entries as the runtime does.
std::string launch_text(const KernelSource& source, const GemmSpec& spec) {
    std::string statements;
    bool fits_a_line = true;
    for (const KernelEntry& entry : source.entries) {
        if (block_count(entry.grid, spec) == 0) continue;
        fits_a_line = statements.empty() && !needs_sm_count(entry.grid);
        std::string blocks = blocks_text(entry, spec);
        if (needs_sm_count(entry.grid)) {
            statements += fmt::format("    const long long blocks = {};\n", blocks);
            blocks = "blocks";
        }
        statements += fmt::format("    {}<<<{}, {}, {}>>>(args);\n", entry.function, grid_text(entry, spec, blocks),
                                  entry.threads, entry.shared_bytes);
    }
    const std::string_view type = argument_type(source, spec);
    if (statements.empty()) return fmt::format("\nvoid launch(const {}&) {{}}\n", type);
    if (!fits_a_line) return fmt::format("\nvoid launch(const {}& args) {{\n{}}}\n", type, statements);
    return fmt::format("\nvoid launch(const {}& args) {{ {} }}\n", type, statements.substr(4, statements.size() - 5));
}

/// encode_tensor_map() with stars placed as in C++, and a check of its result.
std::string encode_text(const std::vector<KernelEntry>& entries) {
    std::string text = "\n#include <cuda.h>\n";
    for (const char letter : encode_tensor_map_texts(entries)) {
        const bool behind_star = text.ends_with(" *") && letter != ' ';
        if (behind_star) text.replace(text.size() - 2, 2, letter == ')' ? "*" : "* ");
        text += letter;
    }
    return text + R"(
void check(CUresult error, const char* what) {
    if (error == CUDA_SUCCESS) return;
    std::fprintf(stderr, "%s: driver error %d\n", what, static_cast<int>(error));
    std::exit(1);
}
)";
}

/// The tensor maps of the matrices that are read. If K is 0, neither A nor B is read.
std::vector<TensorMapArgument> encoded_maps(const KernelEntry& entry, const GemmSpec& spec) {
    std::vector<TensorMapArgument> maps;
    for (const KernelArgument& argument : entry.arguments) {
        const auto* const map = std::get_if<TensorMapArgument>(&argument);
        if (map == nullptr) continue;
        const bool is_factor = kernel_operands(spec).find(map->role.name)->is_factor();
        if (!is_factor || spec.k > 0) maps.push_back(*map);
    }
    return maps;
}

/// The functions that launches call. They stand before main().
std::string launches(const KernelSource& source, const GemmSpec& spec) {
    const auto asks = [](const KernelEntry& entry) { return needs_sm_count(entry.grid); };
    return (encoded_maps(source.entries.front(), spec).empty() ? "" : encode_text({source.entries.front()})) +
           std::string(std::ranges::any_of(source.entries, asks) ? kSmCount : "") + launch_text(source, spec);
}

/// Statements that allow the entries much shared memory and large clusters.
std::string attributes_text(const KernelSource& source) {
    std::string text;
    for (const KernelEntry& entry : source.entries) {
        const auto allow = [&](std::string_view attribute, int value, std::string_view what) {
            text += fmt::format("    check(cudaFuncSetAttribute({}, cudaFuncAttribute{}, {}), \"allow {}\");\n",
                                entry.function, attribute, value, what);
        };
        if (entry.shared_bytes > 0) allow("MaxDynamicSharedMemorySize", entry.shared_bytes, "shared memory");
        if (cluster_blocks(entry.cluster) > kPortableClusterBlocks)
            allow("NonPortableClusterSizeAllowed", 1, "clusters");
    }
    return text;
}

/// The place of a tensor map's operand, packed or not, in numbers.
TensorText tensor_in_main(const TensorMapArgument& map, const Problem& problem, const WorkspaceLayout& workspace) {
    const ArgumentRole& role = map.role;
    const GemmSpec& spec = problem.row_major();
    const std::int64_t offset = role.is_packed ? packed_offset(role, spec) : 0;
    TensorText text{role.is_packed ? "(CUdeviceptr)workspace" + (offset > 0 ? fmt::format(" + {}", offset) : "")
                                   : "(CUdeviceptr)" + value_in_main(role, problem, workspace),
                    {}};
    const auto number = [&](const ArgumentRole& one) { return value_in_main(one, problem, workspace); };
    for (const TensorMapDimension& dimension : named_dimensions(map, storage_of(role, spec)))
        text.dimensions.push_back({number(dimension.extent), number(dimension.pitch)});
    if (role == ArgumentRole::c && spec.broadcast_c) text.dimensions.at(1).extent = "1";
    return text;
}

/// Statements that encode the tensor maps.
std::string tensor_maps_text(const KernelEntry& entry, const Problem& problem, const WorkspaceLayout& workspace) {
    std::string text;
    for (const TensorMapArgument& map : encoded_maps(entry, problem.row_major())) {
        const std::string call = encode_call(map, problem.row_major(), "args", tensor_in_main(map, problem, workspace));
        const std::string line = "    check(" + call + ",";
        text += in_lines(line, line.find("(&") + 1) + fmt::format("\n          \"encode {}\");\n", field_name(map));
    }
    return text;
}

/// The statements that fill GemmArgs and prepare a launch.
std::string arguments_text(const KernelSource& source, const Problem& problem, const WorkspaceLayout& workspace) {
    const KernelEntry& entry = source.entries.front();
    const auto value = [&](const KernelArgument& argument) {
        return value_in_main(role_of(argument), problem, workspace);
    };
    return fmt::format("    {} args = {{}};\n", argument_type(source, problem.row_major())) +
           argument_assignments(entry, "args", value) + tensor_maps_text(entry, problem, workspace) +
           attributes_text(source);
}

/// The nvcc command. It has no -arch=sm_90a: CUDA 13.0 would then compile for sm_90, too, which has no wgmma.
std::string build_line(const KernelSource& source) {
    const std::string_view number = std::string_view(source.arch->name).substr(3);  // behind "sm_"
    const bool encodes_tensor_maps = std::ranges::any_of(source.entries, has_tensor_maps);
    return fmt::format("// Build it: nvcc -gencode arch=compute_{0},code=sm_{0} -std=c++17 kernel.cu{1}\n", number,
                       encodes_tensor_maps ? " -lcuda" : "");
}

bool takes_workspace(const KernelEntry& entry) {
    return std::ranges::any_of(
        entry.arguments, [](const KernelArgument& argument) { return role_of(argument) == ArgumentRole::workspace; });
}

/// main() fills and checks the matrices of plain problems.
void require_plain_problem(const GemmSpec& spec) {
    std::string reason;
    if (has_groups(spec))
        reason = fmt::format("groups is {}, and main() gives no offsets: leave the groups out", spec.groups);
    else if (spec.prepared != Prepared::none)
        reason = fmt::format("prepared is {}, and main() prepares nothing: leave it out", to_string(spec.prepared));
    else if (spec.pointers)
        reason = "pointers is yes, and main() makes no arrays of addresses: leave pointers out";
    else if (!spec.epilogue.empty())
        reason = fmt::format("it has the epilogue '{}', and main() gives no operands of a text: leave it out",
                             spec.epilogue.text());
    if (!reason.empty()) throw SpecError("no main() for this problem", {reason});
}

}  // namespace

std::string host_main(const KernelSource& source, const Problem& problem) {
    const GemmSpec& spec = problem.row_major();
    require_plain_problem(problem.asked);
    const Family& family = family_of(source.id.config);
    RenderInput input = family.render_input(source.id.signature, source.id.config);
    const WorkspaceLayout workspace = workspace_layout(problem, source.id.config);
    input.macros["GEMM_SYMMETRIC"] = spec.symmetric;
    input.macros["GEMM_MIXED_INPUTS"] = source.id.signature.a != source.id.signature.b;
    std::string constants = extents(spec);
    if (takes_workspace(source.entries.front()))
        constants += constant("kWorkspaceBytes", std::max<std::int64_t>(static_cast<std::int64_t>(workspace.bytes), 1));
    input.generated["GEMM_BUILD_LINE"] = build_line(source);
    input.generated["problem.cuh"] = constants + element_functions(source.id.signature) + launches(source, spec);
    input.generated["GEMM_SET_ARGUMENTS"] = arguments_text(source, problem, workspace);
    return "\n" + render(TemplateSet::embedded(), "common/host_main.cuh", input);
}

}  // namespace jitgemm
