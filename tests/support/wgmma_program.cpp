#include "tests/support/wgmma_program.hpp"

#include <fmt/format.h>

#include <stdexcept>
#include <string_view>

namespace jitgemm::testing {
namespace {

/// Loads or stores word `i` of each thread's `count` at `base`.
std::string words_of_thread(const char* instruction, const char* name, int count) {
    std::string text = fmt::format("mad.wide.u32 %own, %thread, {}, %base;\n", 4 * count);
    const bool loads = std::string_view(instruction).starts_with("ld");
    for (int i = 0; i < count; ++i)
        text += loads ? fmt::format("{} {}{}, [%own+{}];\n", instruction, name, i, 4 * i)
                      : fmt::format("{} [%own+{}], {}{};\n", instruction, 4 * i, name, i);
    return text;
}

}  // namespace

std::string register_list(const char* name, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{}{}", i == 0 ? "" : ", ", name, i);
    return "{" + text + "}";
}

std::string with_replaced(std::string text, std::string_view from, std::string_view to) {
    const std::size_t at = text.find(from);
    if (at == std::string::npos) throw std::logic_error(fmt::format("no '{}' to replace", from));
    return text.replace(at, from.size(), to);
}

std::string ptx_of(const WgmmaProgram& program) {
    return fmt::format(R"(.version 8.6
.target sm_90a
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out)
{{
    .reg .pred %p, %adds;
    .reg .b32 %d<{0}>, %a<4>, %x<4>, %thread, %place, %end, %shared;
    .reg .b64 %base, %own, %a, %b;
    .shared .align 1024 .b8 tile[{1}];
    mov.u32 %thread, %tid.x;
    ld.param.u64 %base, [in];
    mov.u32 %place, tile;
    shr.u32 %shared, %place, 4;
    mad.wide.u32 %own, %thread, 16, %base;
    mad.lo.u32 %place, %thread, 16, %place;
    add.u32 %end, %place, {1};
FILL:
    ld.global.v4.u32 {{%x0, %x1, %x2, %x3}}, [%own];
    st.shared.v4.u32 [%place], {{%x0, %x1, %x2, %x3}};
    add.u64 %own, %own, 2048;
    add.u32 %place, %place, 2048;
    setp.lt.u32 %p, %place, %end;
    @%p bra FILL;
    fence.proxy.async;
    bar.sync 0;
    add.u64 %base, %base, {1};
    {2}
    add.u64 %base, %base, 2048;
    {3}
    cvt.u64.u32 %a, %shared;
    add.u64 %b, %a, {5};
    add.u64 %a, %a, {4};
    setp.eq.u32 %adds, {6}, 1;
    wgmma.fence.sync.aligned;
    {7}
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ld.param.u64 %base, [out];
    {8}
    ret;
}}
)",
                       program.sum_registers, program.tile_bytes, words_of_thread("ld.global.u32", "%a", 4),
                       words_of_thread("ld.global.u32", "%d", program.sum_registers), program.place_a, program.place_b,
                       program.adds ? 1 : 0, program.multiply,
                       words_of_thread("st.global.u32", "%d", program.sum_registers));
}

}  // namespace jitgemm::testing
