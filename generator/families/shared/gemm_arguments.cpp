#include "generator/families/shared/gemm_arguments.hpp"

namespace jitgemm {

std::vector<KernelArgument> gemm_arguments(bool has_c, bool has_workspace) {
    std::vector<KernelArgument> list{PointerArgument{ArgumentRole::a}, PointerArgument{ArgumentRole::b}};
    if (has_c) list.emplace_back(PointerArgument{ArgumentRole::c});
    list.emplace_back(PointerArgument{ArgumentRole::d});
    if (has_workspace) list.emplace_back(PointerArgument{ArgumentRole::workspace});
    for (const ArgumentRole extent : {ArgumentRole::m, ArgumentRole::n, ArgumentRole::k})
        list.emplace_back(ExtentArgument{extent});
    for (const ArgumentRole pitch : {ArgumentRole::lda, ArgumentRole::ldb}) list.emplace_back(ExtentArgument{pitch, 8});
    if (has_c) list.emplace_back(ExtentArgument{ArgumentRole::ldc, 8});
    list.emplace_back(ExtentArgument{ArgumentRole::ldd, 8});
    list.emplace_back(ScalarArgument{ArgumentRole::alpha});
    if (has_c) list.emplace_back(ScalarArgument{ArgumentRole::beta});
    return list;
}

}  // namespace jitgemm
