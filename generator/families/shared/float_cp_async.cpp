#include "generator/families/shared/float_cp_async.hpp"

#include "generator/families/shared/wrapper_text.hpp"

#include <fmt/format.h>

#include <string_view>

namespace jitgemm {
namespace {

std::string whole_statement(std::string_view indent, std::string_view cache) {
    return fmt::format(
        "{0}asm volatile(\n"
        "{0}    \"{{ .reg .pred ignore; setp.eq.s32 ignore, %2, 0;\"\n"
        "{0}    \" cp.async.{1}.shared.global.L2::128B [%0], [%1], %3, ignore; }}\" ::\"r\"(address),\n"
        "{0}    \"l\"(source), \"r\"(static_cast<int>(in_range)), \"n\"(kFloats * 4)\n"
        "{0}    : \"memory\");\n",
        indent, cache);
}

std::string cut_statement(std::string_view indent, std::string_view cache) {
    return fmt::format(
        "{0}asm volatile(\"cp.async.{1}.shared.global.L2::128B [%0], [%1], %3, %2;\" ::\"r\"(address), \"l\"(source), "
        "\"r\"(bytes),\n"
        "{0}             \"n\"(kFloats * 4)\n"
        "{0}             : \"memory\");\n",
        indent, cache);
}

template <typename Statement>
std::string by_float_width(const FloatVectors& vectors, Statement statement) {
    if (!vectors.narrow) return statement("    ", "cg");
    if (!vectors.wide) return statement("    ", "ca");
    return "    if constexpr (kFloats == 4)\n" + statement("        ", "cg") + "    else\n" +
           statement("        ", "ca");
}

constexpr std::string_view kSharedAddressLine =
    "    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(destination));\n";

}  // namespace

std::string float_cp_async(const FloatVectors& whole, const FloatVectors& cut) {
    std::string text;
    if (whole.any())
        text += fmt::format(
            "// cp.async of kFloats, global to shared memory. Out of range, it reads nothing and zeros the "
            "destination.\n"
            "template <int kFloats>\n"
            "__device__ __forceinline__ void cp_async(float* destination, const float* source, bool in_range) {{\n"
            "{}{}}}\n\n",
            kSharedAddressLine, by_float_width(whole, whole_statement));
    if (cut.any())
        text += fmt::format(
            "// cp.async of kFloats, global to shared memory. It reads the first `bytes`, and zeros the rest.\n"
            "template <int kFloats>\n"
            "__device__ __forceinline__ void cp_async_cut(float* destination, const float* source, int bytes) {{\n"
            "{}{}}}\n\n",
            kSharedAddressLine, by_float_width(cut, cut_statement));
    return text + cp_async_groups();
}

}  // namespace jitgemm
