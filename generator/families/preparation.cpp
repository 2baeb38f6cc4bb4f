#include "generator/families/preparation.hpp"

#include "generator/base/operand_parts.hpp"
#include "generator/families/shared/arguments_text.hpp"
#include "generator/families/shared/packing.hpp"
#include "generator/families/shared/params_text.hpp"
#include "generator/families/shared/workspace_text.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace jitgemm {
namespace {

std::vector<KernelArgument> arguments() {
    using Role = ArgumentRole;
    return {PointerArgument{Role::a}, PointerArgument{Role::workspace}, ExtentArgument{Role::m},
            ExtentArgument{Role::k}, ExtentArgument{Role::lda, 8}};
}

std::string name_of(const GemmSignature& s) {
    const std::string math = s.math == Math::ieee ? "" : fmt::format("_{}", to_string(s.math));
    const std::string alignment = s.align_a == kTmaAlignment ? "" : fmt::format("_align{}", s.align_a);
    return fmt::format("prepare_{}_{}{}{}", to_string(s.a), to_string(order_a(s.layout)), math, alignment);
}

std::string parameters(const GemmSignature& s) {
    std::string text = constant_line("kPackThreads", kPackThreads, "threads of a block");
    if (bytes(s.a) == 1) text += alias_line("Byte", "unsigned char", "an element of A in memory");
    if (bytes(s.a) == 2) text += alias_line("Bits", "unsigned short", "an element of A in memory");
    if (has_parts(s)) text += parts_lines(parts_of_math(s.math));
    return text;
}

/// Without the comment that says what a GEMM computes.
std::string argument_struct(const GemmSignature& s) {
    const std::string text = arguments_text(arguments(), s);
    return text.substr(text.find("struct GemmArgs"));
}

RenderInput input_of(const GemmSignature& s) {
    RenderInput input;
    input.macros["GEMM_BATCHED"] = 0;
    input.macros["GEMM_ELEMENT_BYTES"] = bytes(s.a);
    input.macros["GEMM_TRANSPOSE_REALIGN"] = realigns_transposed(s);
    input.generated["params.cuh"] = parameters(s);
    input.generated["gemm_args.cuh"] = argument_struct(s);
    input.generated["GEMM_LAUNCH_ORDER"] = "";
    const bool is_k_major = order_a(s.layout) == Order::row || transposes_a(s);
    add_workspace(input, {.pack = Pack::a,
                          .element_bytes = bytes(s.a),
                          .a_k_major = is_k_major,
                          .transposes_a = transposes_a(s),
                          .parts = has_parts(s) ? std::optional(parts_of_math(s.math)) : std::nullopt});
    for (const auto& [include, section] : {std::pair{"params.cuh", "parameters"}, std::pair{"gemm_args.cuh", "common"}})
        input.generated[include].insert(0, fmt::format("// ---- {}\n", section));
    if (has_parts(s)) input.generated["workspace.cuh"].insert(0, "// ---- common\n");
    return input;
}

}  // namespace

Problem preparing_problem(Prepared operand, const Problem& of) {
    const GemmSpec& requested = of.requested();
    constexpr std::int64_t kSomeColumns = 16;
    const bool is_a = operand == Prepared::a;
    const bool is_k_major = is_a ? order_a(requested.layout) == Order::row : order_b(requested.layout) == Order::column;
    GemmSpec spec = gemm_spec_of_type(is_a ? requested.a : requested.b);
    spec.m = is_a ? requested.m : requested.n;
    spec.n = kSomeColumns;
    spec.k = requested.k;
    spec.layout = layout_of(is_k_major ? Order::row : Order::column, Order::column);
    spec.lda = is_a ? requested.lda : requested.ldb;
    spec.align_a = is_a ? requested.align_a : requested.align_b;
    spec.math = requested.math;
    Problem problem;
    problem.asked = resolved(spec);
    problem.signature.layout = spec.layout;
    problem.signature.a = problem.signature.b = spec.a;
    problem.signature.align_a = spec.align_a;
    problem.signature.math = spec.math;
    return problem;
}

Preparation preparation_of(Prepared operand, const Problem& problem, const Arch& arch) {
    const GemmSpec& requested = problem.requested();
    if (!has_parts(requested) || (arch.has_wgmma && arch.has_tma)) return preparation_of(operand, requested);
    GemmSpec on_cores = requested;
    on_cores.math = Math::ieee;
    return preparation_of(operand, on_cores);
}

std::string preparing_name(const Problem& preparing) { return name_of(preparing.signature); }

KernelText preparing_text(const Problem& preparing, const Arch& arch, const TemplateSet& templates) {
    const GemmSignature& s = preparing.signature;
    KernelText text;
    text.name = preparing_name(preparing);
    text.arch = &arch;
    text.body = render(templates, "common/prepare.cu", input_of(s));
    text.entries = has_parts(s) ? split_entries(Pack::a, arguments())
                                : pack_entries(Pack::a, arguments(), transposes_a(s) ? bytes(s.a) : 0);
    return text;
}

}  // namespace jitgemm
