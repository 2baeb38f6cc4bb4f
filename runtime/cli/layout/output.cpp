#include "runtime/cli/layout/output.hpp"

#include "runtime/cli/exit_codes.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace jitgemm::cli {
namespace {

constexpr std::array<std::string_view, 5> kFormats{"text", "json", "svg", "latex", "html"};

std::string drawing(const Picture& picture, std::string_view format) {
    if (format == "svg") return picture_svg(picture);
    if (format == "latex") return picture_latex(picture);
    return picture_html(picture);
}

std::string text_of(const LayoutAnswer& answer) {
    if (!answer.picture) return answer.text;
    return answer.text + (answer.text.empty() ? "" : "\n") + picture_text(*answer.picture);
}

bool to_file(const LayoutFormat& format) { return !format.file.empty() && format.file != "-"; }

int write_document(const Json& document, const LayoutFormat& format, Output& output) {
    if (!to_file(format)) {
        output.document(document);
        return kExitFine;
    }
    write_output_file(format.file, document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
    output.document({{"format", "json"}, {"file", format.file}});
    return kExitFine;
}

}  // namespace

void declare_format(CLI::App& app, LayoutFormat& format) {
    format.unless_asked = format.format;
    app.add_option("--format", format.format, "text, json (the same as --json), svg, latex or html")
        ->capture_default_str()
        ->type_name("");
    app.add_option("-o,--output", format.file, "Write to this file instead of stdout")->type_name("FILE");
}

std::string chosen_format(const LayoutFormat& format, const Output& output) {
    require_one_of("--format", format.format, kFormats);
    if (!output.json()) return format.format;
    if (format.format == "json" || format.format == format.unless_asked) return "json";
    throw UsageError(fmt::format("--json and --format {} contradict each other", format.format));
}

int write_answer(const std::string& text, const std::string& chosen, const LayoutFormat& format, Output& output) {
    if (!to_file(format)) {
        output.text(text);
        return kExitFine;
    }
    write_output_file(format.file, text);
    output.text(fmt::format("{} written to {}\n", chosen, format.file));
    return kExitFine;
}

int show(const LayoutAnswer& answer, const LayoutFormat& format, Output& output) {
    const std::string chosen = chosen_format(format, output);
    if (chosen == "json") return write_document(answer.document, format, output);
    if (chosen == "text") return write_answer(text_of(answer), chosen, format, output);
    if (!answer.picture)
        throw UsageError(fmt::format("--format {}: this result has no picture; use text or json", chosen));
    return write_answer(drawing(*answer.picture, chosen), chosen, format, output);
}

}  // namespace jitgemm::cli
