#include "generator/families/shared/epilogue_expression.hpp"

#include "generator/families/shared/epilogue_element.hpp"

#include <fmt/format.h>

#include <string_view>

namespace jitgemm {
namespace {

constexpr std::string_view kFactor =
    "// The factor of C. Where it is 0, C is not read, whatever it holds.\n"
    "__device__ __forceinline__ float c_factor(const GemmArgs& args) { return args.beta; }\n"
    "\n";

/// The texts of `finish`: {0} is the unit's type, {1} that type as a parameter.
constexpr std::string_view kWithoutC =
    "// D from sums of products.\n"
    "__device__ __forceinline__ {0} finish(const GemmArgs& args, {1} sum) {{ return args.alpha * sum; }}\n";

constexpr std::string_view kReadingC =
    "// An element of D from its sum of products; `c` reads the element of C.\n"
    "template <typename ReadC>\n"
    "__device__ __forceinline__ float finish(const GemmArgs& args, float sum, const ReadC& c) {{\n"
    "    float d = args.alpha * sum;\n"
    "    if (c_factor(args) != 0.0f) d = fmaf(args.beta, c(), d);\n"
    "    return d;\n"
    "}}\n";

/// Returns early: with the form above, ptxas takes other registers for the ring's C.
constexpr std::string_view kReadingSeveralOfC =
    "// Elements of D from their sums of products; `c` reads those of C.\n"
    "template <typename ReadC>\n"
    "__device__ __forceinline__ {0} finish(const GemmArgs& args, {1} sum, const ReadC& c) {{\n"
    "    const {0} d = args.alpha * sum;\n"
    "    if (c_factor(args) == 0.0f) return d;\n"
    "    return fmaf(args.beta, c(), d);\n"
    "}}\n";

constexpr std::string_view kWithReadC =
    "// An element of D from its sum of products; c is 0 where C is not read.\n"
    "__device__ __forceinline__ float finish(const GemmArgs& args, float sum, float c) {{\n"
    "    return fmaf(args.beta, c, args.alpha * sum);\n"
    "}}\n";

constexpr std::string_view kScalePair =
    "__device__ __forceinline__ float2 operator*(float factor, float2 pair) {\n"
    "    return make_float2(factor * pair.x, factor * pair.y);\n"
    "}\n";

constexpr std::string_view kScaleAtom =
    "__device__ __forceinline__ Atom operator*(float factor, Atom atom) {\n"
    "    return {factor * atom.pair[0], factor * atom.pair[1]};\n"
    "}\n";

constexpr std::string_view kAddPair =
    "__device__ __forceinline__ float2 fmaf(float factor, float2 pair, float2 sum) {\n"
    "    return make_float2(fmaf(factor, pair.x, sum.x), fmaf(factor, pair.y, sum.y));\n"
    "}\n";

constexpr std::string_view kAddAtom =
    "__device__ __forceinline__ Atom fmaf(float factor, const Atom& atom, Atom sum) {\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 2; ++i) {\n"
    "        sum.pair[i].x = fmaf(factor, atom.pair[i].x, sum.pair[i].x);\n"
    "        sum.pair[i].y = fmaf(factor, atom.pair[i].y, sum.pair[i].y);\n"
    "    }\n"
    "    return sum;\n"
    "}\n";

/// What a float has of itself.
std::string operators(FinishedUnit unit, bool has_c) {
    if (unit == FinishedUnit::element || unit == FinishedUnit::with_read_c) return {};
    std::string text(kScalePair);
    if (unit == FinishedUnit::atom) text += kScaleAtom;
    if (has_c) text += unit == FinishedUnit::atom ? kAddAtom : kAddPair;
    return text + '\n';
}

std::string_view type_of(FinishedUnit unit) {
    return unit == FinishedUnit::atom ? "Atom" : unit == FinishedUnit::pair ? "float2" : "float";
}

std::string for_unit(std::string_view text, FinishedUnit unit) {
    return fmt::format(fmt::runtime(text), type_of(unit), unit == FinishedUnit::atom ? "const Atom&" : type_of(unit));
}

std::string_view text_with_c(FinishedUnit unit) {
    if (unit == FinishedUnit::with_read_c) return kWithReadC;
    return unit == FinishedUnit::element ? kReadingC : kReadingSeveralOfC;
}

}  // namespace

std::string epilogue_expression(const GemmSignature& signature, FinishedUnit unit) {
    if (signature.epilogue) return epilogue_element(*signature.epilogue);
    const std::string start = operators(unit, signature.c.has_value());
    if (!signature.c) return start + for_unit(kWithoutC, unit);
    return start + std::string(kFactor) + for_unit(text_with_c(unit), unit);
}

}  // namespace jitgemm
