#pragma once

#include "runtime/cli/verb.hpp"

namespace jitgemm::cli {

// The verbs below `layout`; each file runtime/cli/layout/<name>.cpp defines one or two. layout.cpp holds their table.
Action declare_layout_copy(CLI::App& app);
Action declare_layout_eval(CLI::App& app);
Action declare_layout_kernel(CLI::App& app);
Action declare_layout_ldmatrix(CLI::App& app);
Action declare_layout_mma(CLI::App& app);
Action declare_layout_predicate(CLI::App& app);
Action declare_layout_swizzle(CLI::App& app);
Action declare_layout_tiled_mma(CLI::App& app);

}  // namespace jitgemm::cli
