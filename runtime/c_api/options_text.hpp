#pragma once

#include "jitgemm/options.hpp"

#include <span>
#include <string>
#include <string_view>

namespace jitgemm::c_api {

/// A key of the text that options are given in. Its name is that of the environment's variable or of the command line's
/// option.
struct OptionKey {
    std::string_view key;
    /// Throws InvalidArgument saying what would be right.
    void (*read)(Options& options, std::string_view value);
};

/// One for each field of Options.
[[nodiscard]] std::span<const OptionKey> option_keys();

/// Reads "key=value; key=value" into the options: blanks around keys and values and empty parts don't count; folders
/// and files become absolute. Throws InvalidArgument naming the word that is wrong.
void read_options(Options& options, std::string_view text);

}  // namespace jitgemm::c_api
