#pragma once

#include "jitgemm/error.hpp"
#include "runtime/tuning/store/records.hpp"
#include "runtime/tuning/store/tuned_set.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// \file Winners and kernel sets as a file that an application ships. It has JSON lines: the first is
/// {"jitgemm wisdom": 2}, and each further one is a winner with the fields of Winner, or a set with those of TunedSet.
/// It is read without SQLite. Format 1 lacks the way of the search (`hot`, `narrowed`); it is read as unknown. A time
/// of 0 is not recorded. Earlier versions of jitgemm skip sets.

namespace jitgemm {
/// The files of wisdom/ by name, from the time of the build.
[[nodiscard]] std::map<std::string, std::string, std::less<>> installed_wisdom_files();
}  // namespace jitgemm

namespace jitgemm::tuning {

/// A file that is no wisdom, or that cannot be read or written. It names the file.
class WisdomError : public Error {
public:
    using Error::Error;
};

struct Wisdom {
    std::vector<Winner> winners;        ///< sorted by device class and spec, one for each way of the search (WinnerMap)
    std::vector<std::string> problems;  ///< "FILE:3: median_us is missing", one for each skipped line
    std::vector<TunedSet> sets{};       ///< in the order of the lines
};

/// Lines without a winner, with an unsound problem or with a kernel that does not fit it are skipped; empty lines are
/// skipped silently. Throws WisdomError if the first line is not the header of a version that this one reads. Lines
/// without the text `holding` are not parsed, because parsing takes a thousand times as long as searching.
[[nodiscard]] Wisdom parse_wisdom(std::string_view text, const std::string& name, std::string_view holding = {});
/// The same of a file.
[[nodiscard]] Wisdom read_wisdom(const std::string& path, std::string_view holding = {});

/// The winners of the files installed with the library; only lines with the text `holding`, if it is set. Throws
/// WisdomError for a malformed file.
[[nodiscard]] Wisdom installed_wisdom(std::string_view holding = {});

/// The same winners give the same text, whatever their order.
[[nodiscard]] std::string to_wisdom(const std::vector<Winner>& winners, const std::vector<TunedSet>& sets = {});
/// Writes beside `path`, then renames: no reader sees a part. Throws WisdomError.
void write_wisdom(const std::string& path, const std::vector<Winner>& winners, const std::vector<TunedSet>& sets = {});

}  // namespace jitgemm::tuning
