#include "runtime/cli/report.hpp"

#include "jitgemm/kernel_info.hpp"
#include "runtime/cli/json_fields.hpp"
#include "runtime/support/csv.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <string_view>
#include <vector>

namespace jitgemm::cli {
namespace {

constexpr std::array<std::string_view, 4> kStatusNames{"ok", "wrong", "unsupported", "failed"};

/// Every field a row has, in order.
constexpr std::array<std::string_view, 41> kFields{
    "kernel",
    "type",
    "layout",
    "m",
    "n",
    "k",
    "microseconds",
    "tflops",
    "verified",
    "cache",
    "compile_ms",
    "peer",
    "peer_first_microseconds",
    "peer_microseconds",
    "speedup",
    "status",
    "reason",
    "peer_algorithm",
    "peer_reason",
    "low_microseconds",
    "high_microseconds",
    "c_type",
    "d_type",
    "acc_type",
    "d_layout",
    "lda",
    "ldb",
    "ldc",
    "ldd",
    "arch",
    "registers",
    "spill_bytes",
    "shared_bytes",
    "sm_clock_mhz",
    "power_watts",
    "time_source",
    "choice",
    "epilogue",
    "peer_way",
    "peer_pass_microseconds",
    "group_sizes",
};

Json empty_row() {
    Json row = Json::object();
    for (const std::string_view field : kFields) row[std::string(field)] = nullptr;
    return row;
}

/// Copies the fields a row has from a larger object.
void take(Json& row, const Json& from) {
    for (const auto& [name, value] : from.items()) {
        if (row.contains(name)) row[name] = value;
    }
}

void add_kernel(Json& row, const KernelInfo& info) {
    row["kernel"] = info.name;
    row["cache"] = to_string(info.cache);
    row["choice"] = to_string(info.choice);
    row["compile_ms"] = info.compile_ms;
    row["arch"] = info.arch;
    if (info.registers != 0) row["registers"] = info.registers;  // PTX has none yet
    if (info.registers != 0) row["spill_bytes"] = info.spill_bytes;
    row["shared_bytes"] = info.shared_bytes;
}

void add_measurement(Json& row, const GemmSpec& spec, const Measurement& measurement) {
    const Timing& timing = measurement.timing;
    row["microseconds"] = timing.median_us;
    if (!measurement.estimated) row["low_microseconds"] = timing.low_us;
    if (!measurement.estimated) row["high_microseconds"] = timing.high_us;
    row["time_source"] = measurement.estimated ? "estimated" : "measured";
    if (measurement.group_sizes) row["group_sizes"] = to_string(*measurement.group_sizes);
    row["tflops"] = tflops(spec, timing.median_us);
    row["verified"] = measurement.verification.ok;
    row["status"] = to_string(measurement.verification.ok ? RowStatus::ok : RowStatus::wrong);
    if (!measurement.verification.ok) row["reason"] = measurement.verification.message;
    if (measurement.state.sm_clock_mhz != 0) row["sm_clock_mhz"] = measurement.state.sm_clock_mhz;
    if (measurement.state.power_watts != 0) row["power_watts"] = measurement.state.power_watts;
}

void add_peer(Json& row, const PeerMeasurement& peer, double own_microseconds) {
    row["peer"] = peer.name;
    if (!peer.reason.empty()) row["peer_reason"] = peer.reason;
    if (peer.first_microseconds) row["peer_first_microseconds"] = *peer.first_microseconds;
    if (peer.pass_microseconds) row["peer_pass_microseconds"] = *peer.pass_microseconds;
    if (!peer.microseconds) return;
    row["peer_microseconds"] = *peer.microseconds;
    row["peer_algorithm"] = peer.algorithm;
    if (!peer.way.empty()) row["peer_way"] = peer.way;
    if (own_microseconds > 0) row["speedup"] = *peer.microseconds / own_microseconds;
}

std::string csv_value(const Json& value) {
    if (value.is_null()) return {};
    return value.is_string() ? csv_field(value.get<std::string>()) : value.dump();
}

}  // namespace

std::string_view to_string(RowStatus status) { return kStatusNames.at(static_cast<std::size_t>(status)); }

Json report_row(const GemmKernel& kernel, const Measurement& measurement, const PeerMeasurement* peer) {
    Json row = empty_row();
    take(row, to_json(kernel.spec()));
    add_kernel(row, kernel.info());
    add_measurement(row, kernel.spec(), measurement);
    if (peer != nullptr) add_peer(row, *peer, measurement.timing.median_us);
    return row;
}

Json report_row(const GemmSpec& spec, RowStatus status, const std::string& reason) {
    Json row = empty_row();
    take(row, to_json(spec));
    row["verified"] = false;
    row["status"] = to_string(status);
    row["reason"] = reason;
    return row;
}

std::string row_text(const Json& row, const char* field) {
    return row.at(field).is_null() ? std::string() : row.at(field).get<std::string>();
}

std::string peer_title(const Json& row) {
    std::string peer = row_text(row, "peer");
    const std::string way = row_text(row, "peer_way");
    if (way.empty()) return peer;
    return way == kPassWay ? fmt::format("{} + {}", peer, way) : fmt::format("{} {}", peer, way);
}

std::string csv_header() { return fmt::format("{}\n", fmt::join(kFields, ",")); }

std::string csv_line(const Json& row) {
    std::vector<std::string> values;
    for (const std::string_view field : kFields) values.push_back(csv_value(row.at(std::string(field))));
    return fmt::format("{}\n", fmt::join(values, ","));
}

}  // namespace jitgemm::cli
