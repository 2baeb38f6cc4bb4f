#include "runtime/compiler/compiler.hpp"

#include "generator/base/trim.hpp"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <string_view>

namespace jitgemm {
namespace {

/// The number that ends where `unit` begins ("... 16 bytes spill stores"); 0 when the line has no such unit.
int number_before(std::string_view line, std::string_view unit) {
    const std::size_t end = line.find(unit);
    if (end == std::string_view::npos) return 0;
    std::size_t begin = end;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])) != 0) --begin;
    int number = 0;
    for (const char digit : line.substr(begin, end - begin)) number = 10 * number + (digit - '0');
    return number;
}

bool contains(std::string_view line, std::string_view text) { return line.find(text) != std::string_view::npos; }

/// "file(4): warning #177-D: ..." of the front end, "ptxas warning : ..." and "(C7511)" advisories of ptxas.
bool is_warning(std::string_view line) {
    if (line.starts_with("Remark:")) return false;
    return contains(line, "warning #") || contains(line, "warning :") || contains(line, "warning:") ||
           contains(line, "(C7");
}

void read_line(std::string_view line, PtxasReport& report) {
    report.registers = std::max(report.registers, number_before(line, " registers"));
    report.stack_bytes = std::max(report.stack_bytes, number_before(line, " bytes stack frame"));
    report.static_shared_bytes = std::max(report.static_shared_bytes, number_before(line, " bytes smem"));
    report.spill_store_bytes += number_before(line, " bytes spill stores");
    report.spill_load_bytes += number_before(line, " bytes spill loads");
    if (is_warning(line)) report.warnings.emplace_back(trim(line));
}

}  // namespace

PtxasReport parse_ptxas_log(const std::string& log) {
    PtxasReport report;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) read_line(line, report);
    return report;
}

}  // namespace jitgemm
