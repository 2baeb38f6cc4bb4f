#include "runtime/cli/row_writer.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cli/exit_codes.hpp"
#include "runtime/support/output_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cmath>
#include <cstring>

namespace jitgemm::cli {
namespace {

constexpr const char* kStdout = "-";

double number(const Json& row, const char* field) {
    return row.at(field).is_null() ? 0.0 : row.at(field).get<double>();
}

std::string problem_text(const Json& row) {
    return fmt::format("{:<5} {} {:>7} {:>7} {:>7}", row_text(row, "type"), row_text(row, "layout"),
                       row.at("m").get<std::int64_t>(), row.at("n").get<std::int64_t>(),
                       row.at("k").get<std::int64_t>());
}

std::string epilogue_text(const Json& row) {
    const std::string text = row_text(row, "epilogue");
    return text.empty() ? text : "  " + text;
}

std::string peer_text(const Json& row) {
    if (row.at("peer").is_null()) return {};
    if (row.at("peer_microseconds").is_null())
        return fmt::format("  {}: {}", row_text(row, "peer"), row_text(row, "peer_reason"));
    return fmt::format("  {} {:>10.2f} us (first {:>10.2f})  {:>6.3f}x", peer_title(row),
                       number(row, "peer_microseconds"), number(row, "peer_first_microseconds"),
                       number(row, "speedup"));
}

std::string line_for_people(const Json& row) {
    const std::string status = row_text(row, "status");
    if (row.at("microseconds").is_null())
        return fmt::format("{}  {}: {}{}\n", problem_text(row), status, row_text(row, "reason"), epilogue_text(row));
    return fmt::format("{} {:>10.2f} us {:>7.1f} TFLOP/s{}  {:.0f} MHz {:.0f} W  {}{}\n", problem_text(row),
                       number(row, "microseconds"), number(row, "tflops"), peer_text(row), number(row, "sm_clock_mhz"),
                       number(row, "power_watts"),
                       status == "ok" ? status : fmt::format("{}: {}", status, row_text(row, "reason")),
                       epilogue_text(row));
}

}  // namespace

RowWriter::RowWriter(Output& output, const std::string& csv, std::string device, std::string protocol)
    : output_(output),
      csv_(csv),
      device_(std::move(device)),
      protocol_(std::move(protocol)),
      rows_(std::make_unique<Json>(Json::array())) {
    if (csv_ == kStdout && output.json())
        throw UsageError("--json and --csv - both write to stdout: name a file with --csv FILE");
    if (!csv_.empty() && csv_ != kStdout) {
        FileDescriptor file = open_output_file(csv_);
        csv_file_.reset(::fdopen(std::move(file).release(), "w"));
        if (csv_file_ == nullptr) throw Error(fmt::format("cannot write {}: {}", csv_, std::strerror(errno)));
    }
    if (!csv_.empty()) write_csv(csv_header());
    if (csv_ != kStdout) output_.text(fmt::format("{}, protocol {}\n", device_, protocol_));
}

RowWriter::~RowWriter() = default;

void RowWriter::write_csv(const std::string& line) {
    std::FILE* const file = csv_ == kStdout ? stdout : csv_file_.get();
    output_.progress("");
    const bool written = std::fwrite(line.data(), 1, line.size(), file) == line.size();
    if (std::fflush(file) != 0 || !written) throw Error(fmt::format("cannot write {}: {}", csv_, std::strerror(errno)));
}

void RowWriter::write(const Json& row) {
    rows_->push_back(row);
    count(row);
    if (!csv_.empty()) write_csv(csv_line(row));
    if (csv_ == kStdout) return;
    output_.text(line_for_people(row));
    std::fflush(stdout);
}

void RowWriter::count(const Json& row) {
    ++counts_[row_text(row, "status")];
    if (row.at("speedup").is_null()) return;
    PeerSum& sum = peers_[row_text(row, "peer")];
    sum.log_speedups += std::log(number(row, "speedup"));
    ++sum.count;
}

int RowWriter::count_of(RowStatus status) const {
    const auto found = counts_.find(std::string(to_string(status)));
    return found == counts_.end() ? 0 : found->second;
}

int RowWriter::exit_code() const {
    if (count_of(RowStatus::wrong) + count_of(RowStatus::failed) != 0) return kExitFailed;
    return count_of(RowStatus::ok) == 0 && count_of(RowStatus::unsupported) != 0 ? kExitUsage : kExitFine;
}

Json RowWriter::document(bool interrupted) const {
    Json summary = Json::object();
    for (const RowStatus status : {RowStatus::ok, RowStatus::wrong, RowStatus::unsupported, RowStatus::failed}) {
        summary[std::string(to_string(status))] = count_of(status);
    }
    summary["geomean_speedup"] = Json::object();
    for (const auto& [peer, sum] : peers_) summary["geomean_speedup"][peer] = std::exp(sum.log_speedups / sum.count);
    return {{"device", device_},
            {"protocol", protocol_},
            {"interrupted", interrupted},
            {"rows", *rows_},
            {"summary", summary}};
}

std::string RowWriter::summary(bool interrupted) const {
    std::string line = fmt::format("{} ok, {} wrong, {} unsupported, {} failed{}\n", count_of(RowStatus::ok),
                                   count_of(RowStatus::wrong), count_of(RowStatus::unsupported),
                                   count_of(RowStatus::failed), interrupted ? "; interrupted" : "");
    for (const auto& [peer, sum] : peers_) {
        line += fmt::format("geometric mean of the speedup against {}: {:.3f} over {} problems\n", peer,
                            std::exp(sum.log_speedups / sum.count), sum.count);
    }
    return line;
}

void RowWriter::finish(bool interrupted) {
    const std::string text = summary(interrupted);
    if (csv_ == kStdout)
        output_.note(text.substr(0, text.size() - 1));
    else
        output_.text(text);
    output_.document(document(interrupted));
}

}  // namespace jitgemm::cli
