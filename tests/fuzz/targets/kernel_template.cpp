#include "generator/base/renderer.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

#include <algorithm>

namespace jitgemm::fuzz {

/// "kernel.cu", up to a line of dashes, and "other.cuh", which it may include.
void kernel_template(std::string_view input) {
    constexpr std::string_view kRuler = "\n----\n";
    const std::size_t end = std::min(input.find(kRuler), input.size());
    const std::string_view other = input.substr(std::min(end + kRuler.size(), input.size()));
    const TemplateSet templates({{"kernel.cu", std::string(input.substr(0, end))}, {"other.cuh", std::string(other)}});
    const RenderInput values{.macros = {{"GEMM_A", 1}, {"GEMM_B", 0}}, .generated = {{"params.cuh", "int k = 1;\n"}}};
    static_cast<void>(render(templates, "kernel.cu", values));
}

}  // namespace jitgemm::fuzz
