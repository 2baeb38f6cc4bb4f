#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"

#include <fmt/format.h>

#include <algorithm>

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
           constant("kSparsity", sparsity(spec.k)) +
           (spec.c ? constant("kLdc", spec.ldc) + constant("kElementsC", elements.c) : "");
}

/// prepare() and launch(): what the runtime does with the entries, written out.
std::string launches(const KernelSource& source, const GemmSpec& spec) {
    std::string prepare = "\nvoid prepare() {\n";
    std::string launch = "\nvoid launch(const GemmArgs& args) {\n";
    for (const KernelEntry& entry : source.entries) {
        if (entry.shared_bytes > 0)
            prepare += fmt::format("    cudaFuncSetAttribute({}, cudaFuncAttributeMaxDynamicSharedMemorySize, {});\n",
                                   entry.function, entry.shared_bytes);
        if (entry.cluster[0] * entry.cluster[1] * entry.cluster[2] > kPortableClusterBlocks)
            prepare += fmt::format("    cudaFuncSetAttribute({}, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);\n",
                                   entry.function);
        const std::int64_t blocks = block_count(entry.grid, spec);
        if (blocks > 0)
            launch += fmt::format("    {}<<<{}, {}, {}>>>(args);\n", entry.function, blocks, entry.threads,
                                  entry.shared_bytes);
    }
    return prepare + "}\n" + launch + "}\n";
}

bool takes_workspace(const KernelEntry& entry) {
    return std::ranges::any_of(entry.arguments,
                               [](const KernelArgument& argument) { return argument.role == ArgumentRole::workspace; });
}

}  // namespace

std::string host_main(const KernelSource& source, const GemmSpec& spec) {
    const GemmSpec row_major = with_row_major_d(resolved(spec));
    const KernelId id = parse_kernel_name(source.name);
    const Family& family = family_of(id.config);
    RenderInput input = family.render_input(id.signature, id.config);
    std::string problem = extents(row_major);
    if (takes_workspace(source.entries.front()))
        problem += constant("kWorkspaceBytes", std::max<std::int64_t>(family.workspace_bytes(row_major, id.config), 1));
    input.generated["problem.cuh"] = problem + launches(source, row_major);
    return "\n" + render(TemplateSet::embedded(), "host_main.cuh", input);
}

}  // namespace jitgemm
