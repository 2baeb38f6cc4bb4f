#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace jitgemm::cli {

/// Keeps its fields in the order they were written.
using Json = nlohmann::ordered_json;

/// Where a verb writes: results to stdout, everything else to stderr. With --json stdout carries one document and
/// nothing else.
class Output {
public:
    explicit Output(bool json);

    [[nodiscard]] bool json() const { return json_; }
    /// From now on stdout has raw() alone: a table for programs. What text() says goes to stderr.
    void keep_stdout_for_raw() { raw_only_ = true; }
    /// A result for people; dropped with --json.
    void text(std::string_view text);
    /// The one document; dropped without --json. A second call throws std::logic_error.
    void document(const Json& document);
    /// Bytes as they are, whatever the mode: what `dump` and `bench --csv -` are asked for.
    void raw(std::string_view bytes);
    /// A line on stderr.
    void note(std::string_view line);
    /// Replaces the progress line on stderr; nothing when stderr is not a terminal. An empty line clears it.
    void progress(std::string_view line);
    /// Flushes; false when stdout did not take everything (full disk, closed pipe).
    [[nodiscard]] bool finish();

private:
    bool json_;
    bool terminal_;
    bool raw_only_ = false;
    bool progress_shown_ = false;
    bool document_written_ = false;
};

/// "1 winner", "2 winners".
[[nodiscard]] std::string counted(std::int64_t count, std::string_view noun);

}  // namespace jitgemm::cli
