#include "generator/rejection_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>

namespace jitgemm {
namespace {

constexpr std::size_t kMostLines = 10;

struct BrokenRule {
    std::size_t candidates = 0;
    std::string reason;
    std::set<std::string> texts;  // all reasons of this wording: what never varies was asked for
};

std::vector<BrokenRule> broken_rules(std::span<const RejectedCandidate> rejected) {
    std::map<std::string, BrokenRule> rules;
    for (const RejectedCandidate& candidate : rejected) {
        std::set<std::string> seen;  // a candidate may break one rule in several places
        for (const std::string& reason : candidate.reasons) {
            const std::string wording = rule_of(reason);
            if (!seen.insert(wording).second) continue;
            BrokenRule& rule = rules[wording];
            if (rule.candidates++ == 0) rule.reason = reason;
            rule.texts.insert(reason);
        }
    }
    std::vector<BrokenRule> sorted;
    for (auto& [wording, rule] : rules) sorted.push_back(std::move(rule));
    std::ranges::sort(sorted, {}, [](const BrokenRule& rule) {
        return std::tuple(-static_cast<std::ptrdiff_t>(rule.candidates), rule.texts.size(), rule.reason);
    });
    return sorted;
}

}  // namespace

std::string rule_of(std::string_view reason) {
    std::string rule;
    for (const char letter : reason) {
        const bool digit = letter >= '0' && letter <= '9';
        if (!digit)
            rule += letter;
        else if (rule.empty() || rule.back() != '#')
            rule += '#';
    }
    return rule;
}

std::vector<std::string> reasons_in_common(std::span<const RejectedCandidate> rejected) {
    std::vector<std::string> reasons;
    for (const BrokenRule& rule : broken_rules(rejected)) {
        const bool common = rule.candidates == rejected.size();
        reasons.push_back(common
                              ? rule.reason
                              : fmt::format("{} ({} of {} candidates)", rule.reason, rule.candidates, rejected.size()));
    }
    return reasons;
}

std::vector<std::string> reasons_for_none(const CandidateList& list) {
    std::vector<std::string> reasons = reasons_in_common(list.rejected);
    reasons.insert(reasons.end(), list.unsupported.begin(), list.unsupported.end());
    if (reasons.size() <= kMostLines) return reasons;
    const std::size_t more = reasons.size() - kMostLines + 1;
    reasons.resize(kMostLines - 1);
    reasons.push_back(fmt::format("and {} more", more));
    return reasons;
}

}  // namespace jitgemm
