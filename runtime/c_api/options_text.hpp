#pragma once

#include "jitgemm/options.hpp"

#include <span>
#include <string>
#include <string_view>

namespace jitgemm::c_api {

/// A key of the text form of options. Its name is that of the environment variable or of the command-line option.
struct OptionKey {
    std::string_view key;
    /// Throws InvalidArgument with the expected value.
    void (*read)(Options& options, std::string_view value);
};

/// One for each field of Options.
[[nodiscard]] std::span<const OptionKey> option_keys();

/// Reads "key=value; key=value" into the options. Blanks around keys and values and empty parts do not matter. Names of
/// folders and files become absolute. Throws InvalidArgument with the wrong word.
void read_options(Options& options, std::string_view text);

}  // namespace jitgemm::c_api
