#pragma once

#include "generator/draw/picture.hpp"
#include "runtime/cli/output.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace jitgemm::cli {

/// The output of a verb below `layout`. --json is the same as --format json.
struct LayoutFormat {
    std::string format = "text";        ///< text, json, svg, latex or html
    std::string file;                   ///< empty or "-": stdout
    std::string unless_asked = "text";  ///< the value of `format` before the options were read
};

/// --format and -o FILE.
void declare_format(CLI::App& app, LayoutFormat& format);

/// The result of a verb below `layout`.
struct LayoutAnswer {
    std::string text;                ///< for people; stands before the picture's own text form
    Json document;                   ///< for programs
    std::optional<Picture> picture;  ///< if there is something to draw
};

/// The format that the options ask for. Throws UsageError for an unknown one, and for --json beside svg, latex or html.
[[nodiscard]] std::string chosen_format(const LayoutFormat& format, const Output& output);

/// Writes the answer in the chosen format and returns the exit code. With a file, stdout gets one line, or with JSON
/// the document {"format", "file"}. Throws the errors of chosen_format, UsageError for a drawing without a picture, and
/// LayoutError for a picture that is too large. Nothing is written then.
int show(const LayoutAnswer& answer, const LayoutFormat& format, Output& output);

/// The last step of show(), for a verb that makes its own pages: writes `text` to the file, else to stdout.
int write_answer(const std::string& text, const std::string& chosen, const LayoutFormat& format, Output& output);

}  // namespace jitgemm::cli
