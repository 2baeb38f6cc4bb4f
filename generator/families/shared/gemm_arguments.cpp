#include "generator/families/shared/gemm_arguments.hpp"

namespace jitgemm {

std::vector<KernelArgument> gemm_arguments(bool has_c, bool has_workspace) {
    using Role = ArgumentRole;
    std::vector<KernelArgument> list{PointerArgument{Role::a}, PointerArgument{Role::b}};
    if (has_c) list.emplace_back(PointerArgument{Role::c});
    list.emplace_back(PointerArgument{Role::d});
    if (has_workspace) list.emplace_back(PointerArgument{Role::workspace});
    for (const Role extent : {Role::m, Role::n, Role::k}) list.emplace_back(ExtentArgument{extent});
    for (const Role pitch : {Role::lda, Role::ldb}) list.emplace_back(ExtentArgument{pitch, 8});
    if (has_c) list.emplace_back(ExtentArgument{Role::ldc, 8});
    list.emplace_back(ExtentArgument{Role::ldd, 8});
    list.emplace_back(ScalarArgument{Role::alpha});
    if (has_c) list.emplace_back(ScalarArgument{Role::beta});
    return list;
}

}  // namespace jitgemm
