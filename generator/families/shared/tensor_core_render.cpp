#include "generator/families/shared/tensor_core_render.hpp"

#include <fmt/format.h>

namespace jitgemm {
namespace {

bool is_shifted(const OperandGeometry& operand) { return !operand.async && operand.shifted; }
bool is_through_registers(const OperandGeometry& operand) { return !operand.async && !operand.shifted; }

std::string prefetch_suffix(int bytes) { return bytes == 0 ? std::string() : fmt::format(".L2::{}B", bytes); }

/// One width's branch of cp_async(). `size` is what the instruction is told: a number, or the operand with it.
std::string copy_branch(std::string_view condition, std::string_view name, std::string_view size,
                        std::string_view last_operand) {
    return fmt::format(
        "    if constexpr (kVectorBytes {})\n"
        "        asm volatile(\n"
        "            \"{{ .reg .pred ignore, skip; setp.eq.s32 ignore, %2, 0; setp.ne.s32 skip, %3, 0;\"\n"
        "            \" @!skip {} [%0], [%1], {}, ignore; }}\" ::\"r\"(destination),\n"
        "            \"l\"(source), \"r\"(static_cast<int>(in_range)), \"r\"(static_cast<int>(skip)){}\n"
        "            : \"memory\");\n",
        condition, name, size, last_operand);
}

std::string wide_name(const CpAsyncCaching& caching) {
    return fmt::format("cp.async.{}.shared.global{}", caching.through_l1 ? "ca" : "cg",
                       prefetch_suffix(caching.l2_prefetch));
}

std::string narrow_name(const CpAsyncCaching& caching) {
    return fmt::format("cp.async.ca.shared.global{}", prefetch_suffix(caching.l2_prefetch));
}

std::string whole_copies(bool wide, bool narrow, const CpAsyncCaching& caching) {
    std::string text =
        "template <int kVectorBytes>\n"
        "__device__ __forceinline__ void cp_async(unsigned destination, const Bits* source, bool in_range, bool skip) "
        "{\n";
    if (wide) text += copy_branch("== 16", wide_name(caching), "16", "");
    if (narrow) text += copy_branch("< 16", narrow_name(caching), "%4", ", \"n\"(kVectorBytes)");
    return text + "}\n";
}

std::string cut_copies(bool wide, bool narrow, const CpAsyncCaching& caching) {
    std::string text =
        "// The same for a vector cut by the edge of the matrix: only the first `bytes` are read, the rest is zero.\n"
        "template <int kVectorBytes>\n"
        "__device__ __forceinline__ void cp_async_cut(unsigned destination, const Bits* source, int bytes) {\n";
    if (wide)
        text += fmt::format(
            "    if constexpr (kVectorBytes == 16)\n"
            "        asm volatile(\"{} [%0], [%1], 16, %2;\" ::\"r\"(destination), \"l\"(source), \"r\"(bytes) : "
            "\"memory\");\n",
            wide_name(caching));
    if (narrow)
        text += fmt::format(
            "    if constexpr (kVectorBytes < 16)\n"
            "        asm volatile(\"{} [%0], [%1], %3, %2;\" ::\"r\"(destination), \"l\"(source), \"r\"(bytes),\n"
            "                     \"n\"(kVectorBytes)\n"
            "                     : \"memory\");\n",
            narrow_name(caching));
    return text + "}\n";
}

}  // namespace

void add_copy_macros(Macros& macros, const OperandGeometry& a, const OperandGeometry& b) {
    const auto any = [&](auto holds) { return holds(a) || holds(b) ? 1 : 0; };
    macros["GEMM_A_K_MAJOR"] = a.k_major;
    macros["GEMM_B_K_MAJOR"] = b.k_major;
    macros["GEMM_A_ASYNC"] = a.async;
    macros["GEMM_B_ASYNC"] = b.async;
    macros["GEMM_A_REGISTERS"] = is_through_registers(a);
    macros["GEMM_B_REGISTERS"] = is_through_registers(b);
    macros["GEMM_COPY_ASYNC"] = any([](const OperandGeometry& o) { return o.async; });
    macros["GEMM_COPY_REGISTERS"] = any(is_through_registers);
    macros["GEMM_COPY_REALIGN"] = any(is_shifted);
    macros["GEMM_COPY_16"] = any([](const OperandGeometry& o) { return o.async && o.vector_bytes == 16; });
    macros["GEMM_COPY_NARROW"] = any([](const OperandGeometry& o) { return o.async && o.vector_bytes < 16; });
    macros["GEMM_ASYNC_K_MAJOR"] = any([](const OperandGeometry& o) { return o.async && o.k_major; });
    macros["GEMM_ASYNC_MN_MAJOR"] = any([](const OperandGeometry& o) { return o.async && !o.k_major; });
    macros["GEMM_REGISTERS_K_MAJOR"] = any([](const auto& o) { return is_through_registers(o) && o.k_major; });
    macros["GEMM_REGISTERS_MN_MAJOR"] = any([](const auto& o) { return is_through_registers(o) && !o.k_major; });
    macros["GEMM_REALIGN_K_MAJOR"] = any([](const OperandGeometry& o) { return is_shifted(o) && o.k_major; });
    macros["GEMM_REALIGN_MN_MAJOR"] = any([](const OperandGeometry& o) { return is_shifted(o) && !o.k_major; });
}

std::string cp_async_wrappers(const OperandGeometry& a, const OperandGeometry& b, const CpAsyncCaching& caching) {
    const auto any = [&](auto holds) { return holds(a) || holds(b); };
    const bool wide = any([](const OperandGeometry& o) { return o.async && o.vector_bytes == 16; });
    const bool narrow = any([](const OperandGeometry& o) { return o.async && o.vector_bytes < 16; });
    return whole_copies(wide, narrow, caching) + "\n" + cut_copies(wide, narrow, caching);
}

}  // namespace jitgemm
