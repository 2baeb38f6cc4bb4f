#include "generator/layout/wgmma_atom.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

using enum MmaType;

constexpr int kWarpgroupRows = 64;
constexpr int kLargestN = 256;
constexpr int kFirstComputeCapability = 90;

struct TypeRow {
    MmaType accumulator, a, b;
};

constexpr TypeRow kTypeRows[] = {
    {f16, f16, f16},   {f32, f16, f16},   {f32, bf16, bf16}, {f32, tf32, tf32}, {s32, s8, s8},     {s32, s8, u8},
    {s32, u8, s8},     {s32, u8, u8},     {f16, e4m3, e4m3}, {f32, e4m3, e4m3}, {f16, e4m3, e5m2}, {f32, e4m3, e5m2},
    {f16, e5m2, e4m3}, {f32, e5m2, e4m3}, {f16, e5m2, e5m2}, {f32, e5m2, e5m2},
};

/// N of 8 to 256; integers beyond 32 only in steps of 16.
bool has_n(MmaType accumulator, int n) { return accumulator != s32 || n <= 32 || n % 16 == 0; }

int k_of(const WgmmaForm& form) { return kWgmmaRowBytes * 8 / bits(form.a); }

bool is_half(MmaType type) { return bits(type) == 16; }

/// Warps follow the rows in steps of 16, as four m16n8 accumulators one below the other; values go on along N.
Layout accumulator_layout(int n) {
    return parse_layout(fmt::format("((4,8,4),(2,2,{})):((128,1,16),(64,8,512))", n / 8));
}

/// A in registers: four m16 fragments one below the other.
Layout register_layout(int bits_a) {
    switch (bits_a) {
        case 32: return parse_layout("((4,8,4),(2,2)):((64,1,16),(8,256))");
        case 16: return parse_layout("((4,8,4),(2,2,2)):((128,1,16),(64,8,512))");
        default: return parse_layout("((4,8,4),(4,2,2)):((256,1,16),(64,8,1024))");
    }
}

/// Shared memory: every thread sees all.
Layout shared_layout(int rows, int k) { return parse_layout(fmt::format("(128,({0},{1})):(0,(1,{0}))", rows, k)); }

std::string shape_and_types(const WgmmaForm& form) {
    return fmt::format("m{}n{}k{}.{}.{}.{}{}", kWarpgroupRows, form.n, k_of(form), to_string(form.accumulator),
                       to_string(form.a), to_string(form.b), form.saturates ? ".satfinite" : "");
}

void append_forms(const TypeRow& types, std::vector<WgmmaForm>& forms) {
    for (int n = 8; n <= kLargestN; n += 8) {
        if (!has_n(types.accumulator, n)) continue;
        for (const bool a_in_registers : {false, true}) {
            const WgmmaForm form{n, types.a, types.b, types.accumulator, a_in_registers, false};
            forms.push_back(form);
            if (types.accumulator != s32) continue;
            forms.push_back(form);
            forms.back().saturates = true;
        }
    }
}

}  // namespace

std::vector<WgmmaForm> wgmma_forms() {
    std::vector<WgmmaForm> forms;
    for (const TypeRow& types : kTypeRows) append_forms(types, forms);
    return forms;
}

std::string wgmma_cute_name(const WgmmaForm& form) {
    // 16-bit operands may lie either way in shared memory, which CuTe says in template parameters; others only with K
    // contiguous.
    return fmt::format("SM90_{}x{}x{}_{}{}{}_{}{}{}", kWarpgroupRows, form.n, k_of(form),
                       info(form.accumulator).cute_name, info(form.a).cute_name, info(form.b).cute_name,
                       form.a_in_registers ? "RS" : "SS", is_half(form.a) ? "" : "_TN",
                       form.saturates ? "_SATURATE" : "");
}

std::string wgmma_ptx_name(const WgmmaForm& form) { return "wgmma.mma_async.sync.aligned." + shape_and_types(form); }

std::string wgmma_short_name(const WgmmaForm& form) { return "wgmma." + shape_and_types(form); }

std::optional<WgmmaForm> find_wgmma(std::string_view name) {
    const std::vector<WgmmaForm> forms = wgmma_forms();
    const auto found = std::ranges::find_if(forms, [&](const WgmmaForm& form) {
        if (name == wgmma_cute_name(form)) return true;
        return !form.a_in_registers && (name == wgmma_ptx_name(form) || name == wgmma_short_name(form));
    });
    return found == forms.end() ? std::nullopt : std::optional(*found);
}

std::optional<WgmmaForm> wgmma_form(DataType a, DataType b, DataType accumulator, int n, bool a_in_registers) {
    const MmaType type_a = mma_type(a), type_b = mma_type(b);
    const MmaType sum = mma_type(accumulator);
    const bool known = std::ranges::any_of(
        kTypeRows, [&](const TypeRow& row) { return row.accumulator == sum && row.a == type_a && row.b == type_b; });
    if (!known || n < 8 || n > kLargestN || n % 8 != 0 || !has_n(sum, n)) return std::nullopt;
    return WgmmaForm{n, type_a, type_b, sum, a_in_registers};
}

MmaAtom wgmma_atom(const WgmmaForm& form) {
    const int k = k_of(form);
    return {.cute_name = wgmma_cute_name(form),
            .ptx_name = wgmma_ptx_name(form),
            .short_name = wgmma_short_name(form),
            .shape = {kWarpgroupRows, form.n, k},
            .a = form.a,
            .b = form.b,
            .accumulator = form.accumulator,
            .first_compute_capability = kFirstComputeCapability,
            .layout_a = TvLayout(form.a_in_registers ? register_layout(bits(form.a)) : shared_layout(kWarpgroupRows, k),
                                 kWarpgroupRows, k),
            .layout_b = TvLayout(shared_layout(form.n, k), form.n, k),
            .layout_c = TvLayout(accumulator_layout(form.n), kWarpgroupRows, form.n),
            .saturates = form.saturates,
            .a_in_shared = !form.a_in_registers,
            .b_in_shared = true};
}

}  // namespace jitgemm
