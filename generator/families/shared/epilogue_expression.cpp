#include "generator/families/shared/epilogue_expression.hpp"

#include "generator/families/shared/epilogue_element.hpp"

#include <string_view>

namespace jitgemm {
namespace {

constexpr std::string_view kExactElement =
    "// D from a sum of products. With an alpha of 1, D holds all bits of the sum. Others are computed in f32.\n"
    "__device__ __forceinline__ int finish(const GemmArgs& args, int sum) {\n"
    "    return args.alpha == 1.0f ? sum : to_integer(args.alpha * static_cast<float>(sum));\n"
    "}\n";

constexpr std::string_view kExactAtom =
    "// D from sums of products. With an alpha of 1, D holds all bits of the sums. Others are computed in f32.\n"
    "__device__ __forceinline__ Atom finish(const GemmArgs& args, Atom sum) {\n"
    "    if (args.alpha == 1.0f) return sum;\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 2; ++i) {\n"
    "        const float low = static_cast<float>(sum.pair[i].x), high = static_cast<float>(sum.pair[i].y);\n"
    "        sum.pair[i] = pack_d(args.alpha * low, args.alpha * high);\n"
    "    }\n"
    "    return sum;\n"
    "}\n";

}  // namespace

std::string epilogue_expression(const GemmSignature& signature, FinishUnit unit) {
    if (signature.epilogue) return epilogue_element(*signature.epilogue);
    if (has_exact_sums(signature)) return std::string(unit == FinishUnit::element ? kExactElement : kExactAtom);
    return render_by_unit(default_epilogue(signature.d, signature.c, false), unit);
}

}  // namespace jitgemm
