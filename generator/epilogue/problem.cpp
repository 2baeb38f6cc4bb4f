#include "generator/epilogue/problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace jitgemm {

std::vector<EpilogueProblem> EpilogueProblems::sorted() const {
    std::vector<std::pair<TextPosition, std::size_t>> places;  // at one place, in the order in which they were found
    for (const EpilogueProblem& problem : found_) places.emplace_back(problem.at, places.size());
    std::ranges::sort(places);
    std::vector<EpilogueProblem> problems;
    for (const auto& [at, index] : places) problems.push_back(found_[index]);
    return problems;
}

std::string to_string(const EpilogueProblem& problem) {
    return fmt::format("line {}, column {}: {}", problem.at.line, problem.at.column, problem.message);
}

}  // namespace jitgemm
