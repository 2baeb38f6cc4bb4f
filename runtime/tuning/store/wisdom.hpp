#pragma once

#include "jitgemm/error.hpp"
#include "runtime/tuning/store/records.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

/// \file Winners as a file that an application ships: JSON lines, the first of them {"jitgemm wisdom": 2}, then one
/// winner per line with the fields of Winner. Read without SQLite. Format 1 did not say how a winner was searched
/// (`hot`, `narrowed`); it is read as not known. A time of 0 was not kept.

namespace jitgemm {
/// The files of wisdom/ by name, as they were when the library was built.
[[nodiscard]] std::map<std::string, std::string, std::less<>> installed_wisdom_files();
}  // namespace jitgemm

namespace jitgemm::tuning {

/// A file that is no wisdom at all, or cannot be read or written; names it.
class WisdomError : public Error {
public:
    using Error::Error;
};

struct Wisdom {
    std::vector<Winner> winners;  ///< sorted by device class and spec, one for each way it was searched (WinnerMap)
    std::vector<std::string> problems;  ///< "FILE:3: median_us is missing", one for each line that was passed over
};

/// Lines that hold no winner, an unsound problem or a kernel that is not for it are passed over; so are empty ones, in
/// silence. Throws WisdomError when the first line is not the header of a version this one reads.
/// Lines without the text `holding` are not looked at: reading one takes a thousand times as long as searching it.
[[nodiscard]] Wisdom parse_wisdom(std::string_view text, const std::string& name, std::string_view holding = {});
/// The same of a file.
[[nodiscard]] Wisdom read_wisdom(const std::string& path);

/// What the files installed with the library hold, or what their lines with the text `holding` do. Throws WisdomError
/// for a file that is none.
[[nodiscard]] Wisdom installed_wisdom(std::string_view holding = {});

/// The same text for the same winners, whatever their order.
[[nodiscard]] std::string to_wisdom(const std::vector<Winner>& winners);
/// Beside `path`, then renamed: no reader sees a part. Throws WisdomError.
void write_wisdom(const std::string& path, const std::vector<Winner>& winners);

}  // namespace jitgemm::tuning
