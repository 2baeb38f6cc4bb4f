#include "generator/families/shared/epilogue_expression.hpp"

#include "generator/families/shared/epilogue_element.hpp"

namespace jitgemm {

std::string epilogue_expression(const GemmSignature& signature, FinishUnit unit) {
    if (signature.epilogue) return epilogue_element(*signature.epilogue);
    return render_by_unit(default_epilogue(signature.d, signature.c, false), unit);
}

}  // namespace jitgemm
