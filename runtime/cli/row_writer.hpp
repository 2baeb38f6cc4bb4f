#pragma once

#include "runtime/cli/output.hpp"
#include "runtime/cli/report.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <map>
#include <memory>
#include <string>

namespace jitgemm::cli {

/// Takes the rows of a bench as they are measured. Each becomes a line for people and a CSV line, which is flushed at
/// once so that a crash loses nothing. The summary or the JSON document follows at the end.
class RowWriter {
public:
    /// `csv`: a file, "-" for stdout (in place of the lines for people), or empty. Throws UsageError for "-" with
    /// --json, and Error if the file cannot be written.
    RowWriter(Output& output, const std::string& csv, std::string device, std::string protocol);
    ~RowWriter();
    RowWriter(const RowWriter&) = delete;
    RowWriter& operator=(const RowWriter&) = delete;

    void write(const Json& row);
    /// Prints the summary or the document.
    void finish(bool interrupted);
    /// The document that --json prints.
    [[nodiscard]] Json document(bool interrupted) const;
    /// "Failed" if a row is wrong or failed; "bad usage" if no kernel serves the problem of any row.
    [[nodiscard]] int exit_code() const;

private:
    struct CloseFile {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    struct PeerSum {
        double log_speedups = 0;
        int count = 0;
    };

    void write_csv(const std::string& line);
    void count(const Json& row);
    [[nodiscard]] int count_of(RowStatus status) const;
    [[nodiscard]] std::string summary(bool interrupted) const;

    Output& output_;
    std::unique_ptr<std::FILE, CloseFile> csv_file_;
    std::string csv_;
    std::string device_;
    std::string protocol_;
    std::unique_ptr<Json> rows_;
    std::map<std::string, int> counts_;     // by status
    std::map<std::string, PeerSum> peers_;  // by name
};

}  // namespace jitgemm::cli
