#include "runtime/cli/output.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <stdexcept>

#include <unistd.h>

namespace jitgemm::cli {
namespace {

constexpr const char* kClearLine = "\r\x1b[K";

void write(std::FILE* stream, std::string_view bytes) { std::fwrite(bytes.data(), 1, bytes.size(), stream); }

}  // namespace

Output::Output(bool json) : json_(json), terminal_(isatty(STDERR_FILENO) != 0) {}

void Output::text(std::string_view text) {
    if (json_) return;
    progress("");
    write(raw_only_ ? stderr : stdout, text);
}

void Output::document(const Json& document) {
    if (!json_) return;
    if (document_written_) throw std::logic_error("a second JSON document on stdout");
    document_written_ = true;
    progress("");
    write(stdout, document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

void Output::raw(std::string_view bytes) {
    progress("");
    write(stdout, bytes);
}

void Output::note(std::string_view line) {
    progress("");
    write(stderr, fmt::format("{}\n", line));
}

void Output::progress(std::string_view line) {
    if (!terminal_ || (line.empty() && !progress_shown_)) return;
    write(stderr, fmt::format("{}{}", kClearLine, line));
    std::fflush(stderr);
    progress_shown_ = !line.empty();
}

bool Output::finish() {
    progress("");
    return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

std::string counted(std::int64_t count, std::string_view noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace jitgemm::cli
