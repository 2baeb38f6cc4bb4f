#pragma once

#include "runtime/tuning/store/records.hpp"

#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace jitgemm::tuning {

/// Of two winners of one problem that were searched alike (WinnerMap): a finished search's, then the faster; of
/// unfinished ones that of the longer search. A total order, so that it does not matter who comes first.
[[nodiscard]] bool is_better(const Winner& left, const Winner& right);

/// Winners by class and spec; for each protocol, narrowing and version the better one. A record made in another way
/// never takes another's place: which of them may serve is the reader's to say (lookup.hpp), who alone knows today's
/// versions.
class WinnerMap {
public:
    void add(Winner winner);
    [[nodiscard]] std::vector<Winner> sorted() const;

private:
    using Key = std::tuple<std::string, std::string, std::string>;  // class, spec, how it was searched
    std::map<Key, Winner> winners_;
};

}  // namespace jitgemm::tuning
