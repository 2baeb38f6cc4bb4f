#pragma once

#include "generator/base/kernel_entry.hpp"
#include "generator/base/prepared_form.hpp"
#include "generator/base/problem.hpp"
#include "generator/base/renderer.hpp"

#include <string>

namespace jitgemm {

/// A problem whose A is the operand that is prepared, B transposed. Nothing is multiplied.
[[nodiscard]] Problem preparing_problem(Prepared operand, const Problem& problem);

/// Returns the preparation of an operand for kernels of this architecture. Kernels without wgmma read no parts.
[[nodiscard]] Preparation preparation_of(Prepared operand, const Problem& problem, const Arch& arch);

/// The name of its file, which is made without the text.
[[nodiscard]] std::string preparing_name(const Problem& preparing);
/// A file with one entry, which copies A of preparing_problem() to the beginning of the workspace. Its body depends on
/// A's type, order and alignment, and on the math.
[[nodiscard]] KernelText preparing_text(const Problem& preparing, const Arch& arch,
                                        const TemplateSet& templates = TemplateSet::embedded());

}  // namespace jitgemm
