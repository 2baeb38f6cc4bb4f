#include "generator/base/launch_text.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace jitgemm {
namespace {

std::string constant(std::string_view name, std::int64_t value) {
    return fmt::format("constexpr long long {} = {};\n", name, value);
}

/// Inputs of which one in so many is not 0, so that the |products| of a row and a column add up to well under 2048.
std::int64_t sparsity(std::int64_t k) {
    std::int64_t one_in = 1;
    while (one_in * one_in * 512 < k) ++one_in;
    return one_in;
}

std::string extents(const GemmSpec& spec) {
    const bool a_rows = order_a(spec.layout) == Order::row;
    const bool b_rows = order_b(spec.layout) == Order::row;
    const OperandExtents elements = operand_extents(spec);
    return constant("kM", spec.m) + constant("kN", spec.n) + constant("kK", spec.k) + constant("kLda", spec.lda) +
           constant("kLdb", spec.ldb) + constant("kLdd", spec.ldd) + constant("kAStrideM", a_rows ? spec.lda : 1) +
           constant("kAStrideK", a_rows ? 1 : spec.lda) + constant("kBStrideK", b_rows ? spec.ldb : 1) +
           constant("kBStrideN", b_rows ? 1 : spec.ldb) + constant("kElementsA", elements.a) +
           constant("kElementsB", elements.b) + constant("kElementsD", elements.d) +
           constant("kSparsity", sparsity(spec.k)) + "constexpr float kAlpha = 2.0f;\n" +
           (spec.c
                ? constant("kLdc", spec.ldc) + constant("kElementsC", elements.c) + "constexpr float kBeta = -1.0f;\n"
                : "");
}

constexpr std::string_view kHelpers = R"(
long long tiles(long long extent, long long tile) { return (extent + tile - 1) / tile; }
long long least(long long x, long long y) { return x < y ? x : y; }
long long greatest(long long x, long long y) { return x > y ? x : y; }
// That clusters of so many blocks reach: larger ones than pairs leave some SMs of each GPC over.
long long sm_count(int cluster) {
    int device = 0, count = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    return cluster > 2 ? count * 10 / 11 : count;
}
)";

/// What main() has for an argument of the kernel.
std::string value_in_main(ArgumentRole role, const WorkspaceLayout& workspace) {
    switch (role) {
        case ArgumentRole::alpha: return "kAlpha";
        case ArgumentRole::beta: return "kBeta";
        case ArgumentRole::counters:
            return fmt::format("reinterpret_cast<unsigned*>(workspace + {})", workspace.bytes - workspace.counters);
        case ArgumentRole::a:
        case ArgumentRole::b:
        case ArgumentRole::c:
        case ArgumentRole::d:
        case ArgumentRole::workspace: return std::string(to_string(role));
        default: break;
    }
    std::string name(to_string(role));
    name.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(name.front())));
    return "k" + name;
}

/// The blocks of a launch: a number where no GPU need be asked.
std::string blocks_text(const KernelEntry& entry, const GemmSpec& spec) {
    return needs_sm_count(entry.grid) ? block_count_expression(entry.grid, "kM", "kN", "kK")
                                      : std::to_string(block_count(entry.grid, spec));
}

/// prepare() and launch(): what the runtime does with the entries, written out.
std::string launches(const KernelSource& source, const GemmSpec& spec) {
    const auto asks = [](const KernelEntry& entry) { return needs_sm_count(entry.grid); };
    std::string prepare = "\nvoid prepare() {\n";
    std::string launch = "\nvoid launch(const GemmArgs& args) {\n";
    for (const KernelEntry& entry : source.entries) {
        if (entry.shared_bytes > 0)
            prepare += fmt::format("    cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n",
                                   entry.function, entry.shared_bytes);
        if (cluster_blocks(entry.cluster) > kPortableClusterBlocks)
            prepare += fmt::format("    cudaFuncSetAttribute({}, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n",
                                   entry.function);
        if (block_count(entry.grid, spec) > 0)
            launch += fmt::format("    {}<<<{}, {}, {}>>>(args);\n", entry.function, blocks_text(entry, spec),
                                  entry.threads, entry.shared_bytes);
    }
    const bool any_asks = std::any_of(source.entries.begin(), source.entries.end(), asks);
    const bool any_encodes = std::any_of(source.entries.begin(), source.entries.end(), has_tensor_maps);
    const std::string encode = any_encodes ? fmt::format("\n#include <cuda.h>\n\n{}", kEncodeTensorMapText) : "";
    return encode + std::string(any_asks ? kHelpers : "") + prepare + "}\n" + launch + "}\n";
}

/// The statements that fill GemmArgs.
std::string arguments_text(const KernelEntry& entry, const GemmSpec& spec, const WorkspaceLayout& workspace) {
    const auto value = [&](const KernelArgument& argument) { return value_in_main(role_of(argument), workspace); };
    const auto name = [&](ArgumentRole role) {
        const bool is_address = role <= ArgumentRole::workspace;
        return (is_address ? "(CUdeviceptr)" : "") + value_in_main(role, workspace);
    };
    const auto statement = [](const std::string& call) {
        return fmt::format("    if ({} != CUDA_SUCCESS) return 1;\n", call);
    };
    return argument_assignments(entry, "args", value) + tensor_map_statements(entry, spec, "args", name, statement);
}

/// How nvcc makes a program of it. -arch=sm_90a of CUDA 13.0 would compile for sm_90, too, which has no wgmma.
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

}  // namespace

std::string host_main(const KernelSource& source, const GemmSpec& spec) {
    const GemmSpec row_major = with_row_major_d(resolved(spec));
    const KernelId id = parse_kernel_name(source.name);
    const Family& family = family_of(id.config);
    RenderInput input = family.render_input(id.signature, id.config);
    const WorkspaceLayout workspace = workspace_layout(row_major, id.config);
    std::string problem = extents(row_major);
    if (takes_workspace(source.entries.front()))
        problem += constant("kWorkspaceBytes", std::max<std::int64_t>(static_cast<std::int64_t>(workspace.bytes), 1));
    input.generated["build_line.inl"] = build_line(source);
    input.generated["problem.cuh"] = problem + launches(source, row_major);
    input.generated["arguments.inl"] = arguments_text(source.entries.front(), row_major, workspace);
    return "\n" + render(TemplateSet::embedded(), "host_main.cuh", input);
}

}  // namespace jitgemm
