#include "runtime/tuning/store/records.hpp"

#include "generator/text/nearest_name.hpp"

#include <algorithm>
#include <array>

namespace jitgemm::tuning {
namespace {

/// In the order of the enumeration.
constexpr std::array<std::string_view, 9> kVerdicts{
    "fine", "same_code", "compile_failed", "compile_timeout", "wrong", "crashed", "hung", "unfit", "no_memory"};

}  // namespace

std::string_view to_string(Verdict verdict) { return kVerdicts.at(static_cast<std::size_t>(verdict)); }

Verdict parse_verdict(std::string_view text) { return static_cast<Verdict>(position_of("verdict", text, kVerdicts)); }

Verdict Trial::verdict() const {
    if (compile && compile->verdict != Verdict::fine) return compile->verdict;
    if (!same_as.empty()) return Verdict::same_code;
    return verified ? verified->verdict : Verdict::fine;
}

std::string Trial::message() const {
    if (compile && compile->verdict != Verdict::fine) return compile->message;
    if (!same_as.empty()) return "the same machine code as " + same_as;
    return verified ? verified->message : std::string();
}

std::vector<double> Trial::times_us() const {
    std::vector<double> times;
    times.reserve(samples.size());
    for (const Sample& sample : samples) times.push_back(sample.us);
    return times;
}

bool is_stale(const Winner& winner, const Versions& today) {
    Versions comparable = winner.versions;
    if (today.nvrtc == 0) {
        comparable.nvrtc = 0;
        comparable.templates.resize(std::min(comparable.templates.size(), comparable.templates.find('-')));
    }
    if (today.driver == 0) comparable.driver = 0;
    return comparable != today;
}

}  // namespace jitgemm::tuning
