#pragma once

#include "runtime/tuning/store/records.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace jitgemm::tuning {

/// The order of two winners of one problem that were searched in the same way (WinnerMap): a finished search's is
/// better, then the faster one; of two unfinished ones, that of the longer search. It is a total order, so that the
/// order of arrival does not matter.
[[nodiscard]] bool is_better(const Winner& left, const Winner& right);

/// Winners by class and spec: the better one for each protocol, narrowing and version. A record never replaces one that
/// was made in another way. The reader decides which may serve (lookup.hpp), because it knows the current versions.
class WinnerMap {
public:
    void add(Winner winner);
    [[nodiscard]] std::vector<Winner> sorted() const;

private:
    using Key = std::tuple<std::string, std::string, std::string>;  // class, spec, way of the search
    std::map<Key, Winner> winners_;
};

}  // namespace jitgemm::tuning
