#pragma once

#include "generator/base/operand.hpp"
#include "generator/generate.hpp"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace jitgemm {

/// The input of an exported kernel's launcher.
struct LauncherInput {
    std::string name;  ///< C identifier
    const KernelSource& source;
    Problem problem;
    WorkspaceLayout workspace;
    OperandList operands = gemm_operands(problem.asked);
    std::string cubin = name;                ///< file without its extension
    std::int64_t first_m = problem.asked.m;  ///< a kernel of a set serves several m
    std::int64_t last_m = problem.asked.m;
};

/// Whether the operand's leading dimension is m.
[[nodiscard]] bool is_pitched_by_m(const GemmOperand& operand, const GemmSpec& spec);

using TextValue = std::pair<std::string_view, std::string>;

/// The text with each @KEY@ replaced by its value.
[[nodiscard]] std::string filled(std::string_view text, std::initializer_list<TextValue> values);
/// "D (m, n) = alpha * A (m, k) * B (k, n)", or the text of the epilogue: for a comment.
[[nodiscard]] std::string formula(const GemmSpec& spec);
[[nodiscard]] std::string upper(std::string text);

/// NAME.h and NAME.c: C99 that only needs cuda.h and libcuda.
[[nodiscard]] std::string launcher_header(const LauncherInput& input);
[[nodiscard]] std::string launcher_source(const LauncherInput& input);

}  // namespace jitgemm
