#include "jitgemm/error.hpp"

namespace jitgemm {
namespace {

std::string join_reasons(const std::string& subject, const std::vector<std::string>& reasons) {
    std::string text = subject;
    if (reasons.size() == 1) return text + ": " + reasons.front();
    for (const std::string& reason : reasons) text += "\n  - " + reason;
    return text;
}

}  // namespace

ReasonedError::ReasonedError(const std::string& subject, std::vector<std::string> reasons)
    : Error(join_reasons(subject, reasons)), reasons_(std::move(reasons)) {}

}  // namespace jitgemm
