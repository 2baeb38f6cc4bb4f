#include "generator/draw/picture.hpp"
#include "generator/layout/layout_expression.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

namespace jitgemm::fuzz {

void layout(std::string_view input) {
    const LayoutValue value = evaluate_layout_expression(input);
    static_cast<void>(to_string(value));
    const ComposedLayout composed = value.as_composed();
    static_cast<void>(composed.cosize());
    if (composed.size() <= kMostCells) static_cast<void>(table(composed));
}

}  // namespace jitgemm::fuzz
