#include "generator/epilogue/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace jitgemm {

std::vector<EpilogueProblem> EpilogueProblems::sorted() const {
    std::vector<EpilogueProblem> problems = found_;
    std::ranges::sort(problems, {}, [](const EpilogueProblem& one) { return std::tie(one.at, one.message); });
    return problems;
}

std::string to_string(const EpilogueProblem& problem) {
    return fmt::format("line {}, column {}: {}", problem.at.line, problem.at.column, problem.message);
}

}  // namespace jitgemm
