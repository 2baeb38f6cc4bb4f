#include "runtime/cli/shapes.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/shape_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kMostComplaints = 50;

/// What no line says: it holds for all of them.
constexpr std::array<std::string_view, 19> kAllowedOptions{
    "c-type",      "d-type",        "acc-type", "d-layout",  "align-a", "align-b",    "align-c",
    "align-d",     "alpha",         "beta",     "kernel",    "family",  "constant-a", "constant-b",
    "broadcast-c", "deterministic", "param",    "templates", "device"};

bool is_blank(const std::string& line) {
    return line.substr(0, line.find('#')).find_first_not_of(" \t\r") == std::string::npos;
}

/// Editors on Windows begin UTF-8 files with this mark, which is no part of the first line.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

void check_encoding(std::string_view text, const std::string& name) {
    if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF"))
        throw UsageError(fmt::format("{} is UTF-16: save it as UTF-8", name));
    const std::size_t nul = text.find('\0');
    if (nul == std::string_view::npos) return;
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(nul), '\n');
    throw UsageError(fmt::format("{}:{}: a NUL byte: this is no text file", name, line));
}

/// The file, as far as it is a text that a shape file may be: a device never ends.
std::string bounded_text(const std::string& path) {
    constexpr std::size_t kChunk = std::size_t{1} << 16U;
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        throw UsageError(fmt::format("{} is a folder: expected a shape file", path));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    std::string text;
    std::string chunk(kChunk, '\0');
    while (file.read(chunk.data(), kChunk) || file.gcount() > 0) {
        text.append(chunk, 0, static_cast<std::size_t>(file.gcount()));
        if (text.size() <= kChunk) check_encoding(text, path);
        if (text.size() > kMostShapeBytes)
            throw UsageError(
                fmt::format("{} holds more than {} MiB: no shape file is so long", path, kMostShapeBytes >> 20U));
    }
    if (file.bad()) throw UsageError(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    return text;
}

/// What one after another of the lines says, and what is wrong with them.
class ShapeReader {
public:
    ShapeReader(const std::string& name, const ProblemOptions& options) : name_(name), options_(options) {}

    void read(const std::string& line, int number) {
        try {
            for (const std::string& shape : expand_shape_line(line, kMostShapes - problems_.size())) {
                problems_.push_back(options_.problem_of_text(shape));
                if (!complaints_.empty())
                    break;  // the file is refused: one of a range tells what is wrong with its line
            }
        } catch (const SpecError& error) {
            for (const std::string& reason : error.reasons()) complain(number, reason);
        } catch (const UsageError& error) {
            complain(number, error.what());
        }
    }

    [[nodiscard]] std::vector<ProblemRequest> problems() && {
        if (more_ > 0) complaints_.push_back(fmt::format("and {} more", more_));
        if (!complaints_.empty()) throw UsageError("the shape file has bad lines", complaints_);
        if (problems_.empty()) throw UsageError(fmt::format("{} names no problem", name_));
        return std::move(problems_);
    }

private:
    void complain(int number, const std::string& reason) {
        if (complaints_.size() < kMostComplaints)
            complaints_.push_back(fmt::format("{}:{}: {}", name_, number, reason));
        else
            ++more_;
    }

    const std::string& name_;
    const ProblemOptions& options_;
    std::vector<ProblemRequest> problems_;
    std::vector<std::string> complaints_;
    std::size_t more_ = 0;  ///< complaints beyond those that are told
};

}  // namespace

std::vector<ProblemRequest> read_shapes(const std::string& path, const ProblemOptions& options) {
    options.allow_only(kAllowedOptions, "the shape file");
    return parse_shapes(bounded_text(path), path, options);
}

std::vector<ProblemRequest> parse_shapes(std::string_view text, const std::string& name,
                                         const ProblemOptions& options) {
    check_encoding(text, name);
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    ShapeReader reader(name, options);
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        if (!is_blank(line)) reader.read(line, number);
    return std::move(reader).problems();
}

}  // namespace jitgemm::cli
