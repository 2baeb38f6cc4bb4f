#pragma once

#include "runtime/tuning/records.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm::tuning {

/// Of two winners that other hosts or stores found for one problem: the complete one, then the faster. A total order, so
/// that it does not matter who comes first.
[[nodiscard]] bool is_better(const Winner& left, const Winner& right);

/// Winners by class and spec, the better of each.
class WinnerMap {
public:
    void add(Winner winner);
    [[nodiscard]] std::vector<Winner> sorted() const;

private:
    std::map<std::pair<std::string, std::string>, Winner> winners_;
};

}  // namespace jitgemm::tuning
