#pragma once

#include "jitgemm/gemm_kernel.hpp"
#include "jitgemm/gemm_spec.hpp"
#include "runtime/cli/measurement.hpp"
#include "runtime/cli/output.hpp"

#include <string>

namespace jitgemm::cli {

/// The result of one problem.
enum class RowStatus { ok, wrong, unsupported, failed };
[[nodiscard]] std::string_view to_string(RowStatus status);

/// One problem, our kernel and at most one peer, as the flat object that run prints with --json and bench writes as a
/// CSV line. docs/run-and-bench.md documents the fields. Names and order do not change. Unknown values are null (empty
/// in CSV).
[[nodiscard]] Json report_row(const GemmKernel& kernel, const Measurement& measurement, const PeerMeasurement* peer);
/// The same for a problem without a figure.
[[nodiscard]] Json report_row(const GemmSpec& spec, RowStatus status, const std::string& reason);

/// A field of a row that holds a text; empty if it is null.
[[nodiscard]] std::string row_text(const Json& row, const char* field);

/// A row's peer with its way: "cublaslt + pass".
[[nodiscard]] std::string peer_title(const Json& row);

/// The fields' names and one row's values as CSV lines (RFC 4180 quoting).
[[nodiscard]] std::string csv_header();
[[nodiscard]] std::string csv_line(const Json& row);

}  // namespace jitgemm::cli
