#include "generator/families/shared/gemm_arguments.hpp"

namespace jitgemm {

std::vector<KernelArgument> gemm_arguments(bool has_c, bool has_workspace) {
    using Role = ArgumentRole;
    using Kind = ArgumentKind;
    std::vector<KernelArgument> list{{Role::a, Kind::pointer}, {Role::b, Kind::pointer}};
    if (has_c) list.push_back({Role::c, Kind::pointer});
    list.push_back({Role::d, Kind::pointer});
    if (has_workspace) list.push_back({Role::workspace, Kind::pointer});
    for (const Role extent : {Role::m, Role::n, Role::k}) list.push_back({extent, Kind::i32});
    list.push_back({Role::lda, Kind::i64});
    list.push_back({Role::ldb, Kind::i64});
    if (has_c) list.push_back({Role::ldc, Kind::i64});
    list.push_back({Role::ldd, Kind::i64});
    list.push_back({Role::alpha, Kind::f32});
    if (has_c) list.push_back({Role::beta, Kind::f32});
    return list;
}

}  // namespace jitgemm
