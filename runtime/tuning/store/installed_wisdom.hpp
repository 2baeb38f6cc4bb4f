#pragma once

#include "runtime/tuning/store/wisdom.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace jitgemm {

/// The files of wisdom/ by name, as they were when the library was built.
[[nodiscard]] std::map<std::string, std::string, std::less<>> installed_wisdom_files();

namespace tuning {

/// What they hold, or what their lines with the text `holding` do. Throws WisdomError for a file that is none.
[[nodiscard]] Wisdom installed_wisdom(std::string_view holding = {});

}  // namespace tuning
}  // namespace jitgemm
