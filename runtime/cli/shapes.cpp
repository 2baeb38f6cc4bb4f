#include "runtime/cli/shapes.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/cli/files.hpp"
#include "runtime/cli/shape_ranges.hpp"

#include <fmt/format.h>

#include <array>
#include <sstream>
#include <utility>

namespace jitgemm::cli {
namespace {

constexpr std::size_t kMostComplaints = 50;

/// Options that are allowed beside a file of shapes. They hold for all of its lines.
constexpr std::array<std::string_view, 23> kAllowedOptions{
    "c-type", "d-type",    "acc-type", "d-layout", "align-a",    "align-b",    "align-c",     "align-d",
    "alpha",  "beta",      "kernel",   "family",   "constant-a", "constant-b", "broadcast-c", "deterministic",
    "param",  "templates", "device",   "gpu",      "arch",       "sums",       "math"};

bool is_blank(const std::string& line) {
    return line.substr(0, line.find('#')).find_first_not_of(" \t\r") == std::string::npos;
}

/// Editors on Windows begin UTF-8 files with this mark, which is no part of the first line.
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Reads line after line, and collects their errors.
class ShapeReader {
public:
    /// `expand` makes plain lines, or sets of them, of a line.
    using Expand = std::vector<ShapeSet> (*)(std::string_view line, std::size_t most);

    ShapeReader(const std::string& name, const ProblemOptions& options, Expand expand)
        : name_(name), options_(options), expand_(expand) {}

    void read(const std::string& line, int number) {
        try {
            for (const ShapeSet& set : expand_(line, kMostShapes - problems_.size())) {
                const ProblemRequest first = options_.problem_of_text(set.line);
                const std::int64_t last_m = set.last_m.value_or(first.spec.m);
                problems_.push_back({first, last_m, set.last_m.has_value()});
                if (!complaints_.empty())
                    break;  // the file is refused: one of a range tells what is wrong with its line
            }
        } catch (const SpecError& error) {
            for (const std::string& reason : error.reasons()) complain(number, reason);
        } catch (const UsageError& error) {
            complain(number, error.what());
        }
    }

    [[nodiscard]] std::vector<ProblemSet> problems() && {
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
    Expand expand_;
    std::vector<ProblemSet> problems_;
    std::vector<std::string> complaints_;
    std::size_t more_ = 0;  ///< complaints that are only counted
};

std::vector<ShapeSet> expand_wholly(std::string_view line, std::size_t most) {
    std::vector<ShapeSet> sets;
    for (std::string& plain : expand_shape_line(line, most)) sets.push_back({std::move(plain), {}});
    return sets;
}

std::vector<ProblemSet> parse(std::string_view text, const std::string& name, const ProblemOptions& options,
                              ShapeReader::Expand expand) {
    check_encoding(text, name);
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    ShapeReader reader(name, options, expand);
    std::istringstream lines{std::string(text)};
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number)
        if (!is_blank(line)) reader.read(line, number);
    return std::move(reader).problems();
}

}  // namespace

std::vector<ProblemRequest> read_shapes(const std::string& path, const ProblemOptions& options) {
    options.allow_only(kAllowedOptions, "the shape file");
    return parse_shapes(file_text(path, "shape file"), path, options);
}

std::vector<ProblemRequest> parse_shapes(std::string_view text, const std::string& name,
                                         const ProblemOptions& options) {
    std::vector<ProblemRequest> problems;
    for (const ProblemSet& set : parse(text, name, options, expand_wholly)) problems.push_back(set.first);
    return problems;
}

std::vector<ProblemSet> read_shape_sets(const std::string& path, const ProblemOptions& options) {
    options.allow_only(kAllowedOptions, "the shape file");
    return parse(file_text(path, "shape file"), path, options, expand_shape_sets);
}

}  // namespace jitgemm::cli
