#pragma once

#include "runtime/tuning/store/sqlite.hpp"
#include "runtime/tuning/store/store.hpp"

#include <string>

namespace jitgemm::tuning {

/// Takes over what the store in file `other` holds and `database` lacks, in one transaction (TuningStore::merge).
[[nodiscard]] TuningStore::MergeResult merge_store_file(sqlite::Database& database, const std::string& other);

}  // namespace jitgemm::tuning
