#include "runtime/tuning/store/wisdom.hpp"

#include "generator/families/kernel_name.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/output_file.hpp"
#include "runtime/tuning/store/record_json.hpp"
#include "runtime/tuning/store/winner_map.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace jitgemm::tuning {
namespace {

constexpr const char* kHeaderField = "jitgemm wisdom";
constexpr int kFormat = 2;
constexpr double kLongestUs = 1e12;  // eleven days: no kernel's time

/// Hands over one line after another, without what ends it.
class Lines {
public:
    explicit Lines(std::string_view text) : rest_(text) {}
    [[nodiscard]] std::optional<std::string_view> next() {
        if (rest_.empty()) return std::nullopt;
        const std::size_t end = std::min(rest_.find('\n'), rest_.size());
        std::string_view line = rest_.substr(0, end);
        rest_.remove_prefix(std::min(end + 1, rest_.size()));
        ++number_;
        if (line.ends_with('\r')) line.remove_suffix(1);
        return line;
    }
    [[nodiscard]] int number() const { return number_; }

private:
    std::string_view rest_;
    int number_ = 0;
};

/// Null for a line that is no JSON.
Json header_in(std::string_view line) {
    try {
        return parse_json(line);
    } catch (const Error&) {
        return {};
    }
}

/// The format of what follows.
int read_header(std::optional<std::string_view> line, const std::string& name) {
    const Json header = header_in(line.value_or(""));
    if (!header.is_object() || !header.contains(kHeaderField))
        throw WisdomError(
            fmt::format("{} is not a wisdom file: its first line is not {{\"{}\": {}}}", name, kHeaderField, kFormat));
    for (int format = 1; format <= kFormat; ++format)
        if (header[kHeaderField] == format) return format;
    throw WisdomError(fmt::format("{} is wisdom of format {}: this version of jitgemm reads up to {}", name,
                                  header[kHeaderField].dump(), kFormat));
}

void check_kernel(const Winner& winner) {
    const Problem problem = problem_of(winner.spec);  // a name may stand for its epilogue
    const KernelId id = parse_kernel_name(winner.kernel);
    const KernelId fitting{problem.signature, id.config};
    if (id.signature == fitting.signature) return;
    throw Error(fmt::format("kernel {} is for another problem than spec: its config would be {}", winner.kernel,
                            kernel_name(fitting)));
}

/// 0 stands for a time that was not kept.
void check_times(const Winner& winner) {
    const std::pair<std::string_view, double> times[] = {{"median_us", winner.median_us},
                                                         {"low_us", winner.low_us},
                                                         {"high_us", winner.high_us},
                                                         {"heuristic_us", winner.heuristic_us},
                                                         {"cublaslt_us", winner.cublaslt_us}};
    for (const auto& [name, us] : times)
        if (!(us >= 0 && us < kLongestUs))
            throw Error(fmt::format("{} is {:g}: a time must be at least 0 and below {:g}", name, us, kLongestUs));
    if (winner.low_us > winner.high_us)
        throw Error(fmt::format("low_us is {:g}, but high_us is {:g}: low_us must not be larger", winner.low_us,
                                winner.high_us));
    if (winner.candidates_timed < 0)
        throw Error(fmt::format("candidates_timed is {}: it must be at least 0", winner.candidates_timed));
}

TunedSet set_in(const Json& json) {
    TunedSet tuned = tuned_set_of(json);
    if (tuned.device_class.empty()) throw Error("device_class is empty");
    return tuned;
}

Winner winner_in(Json json, int format) {
    if (format == 1 && json.is_object()) json.update({{"hot", false}, {"narrowed", kNarrowedUnknown}});
    auto winner = json.get<Winner>();
    if (winner.device_class.empty()) throw Error("device_class is empty");
    check_times(winner);
    winner.spec = resolved(winner.spec);
    check_kernel(winner);
    return winner;
}

/// An error with several reasons on one line.
std::string one_line(std::string text) {
    std::ranges::replace(text, '\n', ' ');
    return text;
}

}  // namespace

Wisdom parse_wisdom(std::string_view text, const std::string& name, std::string_view holding) {
    Lines lines(text);
    const int format = read_header(lines.next(), name);
    WinnerMap winners;
    Wisdom wisdom;
    while (const auto line = lines.next()) {
        if (line->empty() || line->find(holding) == std::string_view::npos) continue;
        try {
            Json json = parse_json(*line);
            if (is_tuned_set(json))
                wisdom.sets.push_back(set_in(json));
            else
                winners.add(winner_in(std::move(json), format));
        } catch (const std::exception& error) {  // nlohmann's, too
            wisdom.problems.push_back(fmt::format("{}:{}: {}", name, lines.number(), one_line(error.what())));
        }
    }
    wisdom.winners = winners.sorted();
    return wisdom;
}

Wisdom read_wisdom(const std::string& path, std::string_view holding) {
    std::optional<std::string> text;
    try {
        text = read_file(path);
    } catch (const std::system_error& error) {
        throw WisdomError(error.what());
    }
    if (!text) throw WisdomError(fmt::format("no such file: {}", path));
    return parse_wisdom(*text, path, holding);
}

std::string to_wisdom(const std::vector<Winner>& winners, const std::vector<TunedSet>& sets) {
    WinnerMap sorted;
    for (const Winner& winner : winners) sorted.add(winner);
    std::string text = json_line({{kHeaderField, kFormat}}) + "\n";
    for (const Winner& winner : sorted.sorted()) text += json_line(winner) + "\n";
    for (const TunedSet& tuned : sets) text += json_line(json_of(tuned)) + "\n";
    return text;
}

Wisdom installed_wisdom(std::string_view holding) {
    Wisdom all;
    for (const auto& [name, text] : installed_wisdom_files()) {
        Wisdom one = parse_wisdom(text, name, holding);
        std::ranges::move(one.winners, std::back_inserter(all.winners));
        std::ranges::move(one.problems, std::back_inserter(all.problems));
    }
    return all;
}

void write_wisdom(const std::string& path, const std::vector<Winner>& winners, const std::vector<TunedSet>& sets) {
    try {
        write_output_file(path, to_wisdom(winners, sets));
    } catch (const std::system_error& error) {
        throw WisdomError(error.what());
    }
}

}  // namespace jitgemm::tuning
