#pragma once

#include "generator/epilogue/graph.hpp"
#include "generator/epilogue/parse.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace jitgemm {

/// Types that a text doesn't declare.
struct EpilogueTypes {
    DataType d = DataType::bf16;
    /// Of operands and outputs by name, as a caller's arrays have them.
    std::map<std::string, DataType, std::less<>> given = {};
};

/// The meaning of statements; nothing where they break a rule. All rules that they break are problems.
[[nodiscard]] std::optional<EpilogueParts> check_epilogue(const std::vector<Statement>& statements,
                                                          const EpilogueTypes& types, EpilogueProblems& problems);

}  // namespace jitgemm
