#include "generator/families/shared/gemm_arguments.hpp"

namespace jitgemm {
namespace {

/// Calls `visit` with each operand of the text.
template <typename Visit>
void for_each_of_text(const GemmSignature& signature, Visit visit) {
    if (!signature.epilogue) return;
    for (const EpilogueOperand& operand : signature.epilogue->parts().operands) visit(operand);
}

/// Calls `visit` with each output of the text but d.
template <typename Visit>
void for_each_beside_d(const GemmSignature& signature, Visit visit) {
    if (!signature.epilogue) return;
    for (const EpilogueOutput& output : signature.epilogue->parts().outputs)
        if (is_beside_d(output)) visit(output);
}

}  // namespace

void add_epilogue_pointers(std::vector<KernelArgument>& list, const GemmSignature& signature) {
    if (signature.c) list.emplace_back(PointerArgument{ArgumentRole::c});
    for_each_of_text(signature, [&](const EpilogueOperand& operand) {
        if (!operand.is_scalar) list.emplace_back(PointerArgument{{operand.name, ArgumentPart::pointer}});
    });
    for_each_beside_d(signature, [&](const EpilogueOutput& output) {
        list.emplace_back(PointerArgument{{output.name, ArgumentPart::pointer}});
    });
}

void add_epilogue_pitches(std::vector<KernelArgument>& list, const GemmSignature& signature) {
    if (signature.c) list.emplace_back(ExtentArgument{ArgumentRole::ldc, 8});
    for_each_of_text(signature, [&](const EpilogueOperand& operand) {
        if (operand.index.is_matrix() || operand.is_block_scale())
            list.emplace_back(ExtentArgument{{operand.name, ArgumentPart::pitch}, 8});
    });
    for_each_beside_d(signature, [&](const EpilogueOutput& output) {
        if (output.index.is_matrix() || output.index.is_over_blocks())
            list.emplace_back(ExtentArgument{{output.name, ArgumentPart::pitch}, 8});
    });
}

void add_epilogue_scalars(std::vector<KernelArgument>& list, const GemmSignature& signature) {
    if (!signature.epilogue) list.emplace_back(ScalarArgument{ArgumentRole::alpha});
    if (signature.c) list.emplace_back(ScalarArgument{ArgumentRole::beta});
    for_each_of_text(signature, [&](const EpilogueOperand& operand) {
        if (operand.is_scalar) list.emplace_back(ScalarArgument{{operand.name}});
    });
}

std::vector<KernelArgument> gemm_arguments(const GemmSignature& signature, bool has_workspace) {
    std::vector<KernelArgument> list{PointerArgument{ArgumentRole::a}, PointerArgument{ArgumentRole::b}};
    add_epilogue_pointers(list, signature);
    list.emplace_back(PointerArgument{ArgumentRole::d});
    if (has_workspace) list.emplace_back(PointerArgument{ArgumentRole::workspace});
    for (const ArgumentRole extent : {ArgumentRole::m, ArgumentRole::n, ArgumentRole::k})
        list.emplace_back(ExtentArgument{extent});
    for (const ArgumentRole pitch : {ArgumentRole::lda, ArgumentRole::ldb}) list.emplace_back(ExtentArgument{pitch, 8});
    add_epilogue_pitches(list, signature);
    list.emplace_back(ExtentArgument{ArgumentRole::ldd, 8});
    add_epilogue_scalars(list, signature);
    return list;
}

}  // namespace jitgemm
