#pragma once

#include "jitgemm/error.hpp"
#include "runtime/tuning/store/records.hpp"
#include "runtime/tuning/store/store_location.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace jitgemm::tuning {

class TuningStoreError : public Error {
public:
    using Error::Error;
};

/// What a sweep was asked: two with the same key continue each other.
struct SweepKey {
    std::string device_class;
    std::string
        request;  ///< canonical text of problems, space, strategy, protocol, limits: whatever changes the outcome
    Versions versions;
};

struct SweepRow {
    std::int64_t id = 0;
    SweepKey key;
    std::int64_t started = 0;   ///< unix seconds
    std::int64_t finished = 0;  ///< 0: not yet
};

struct PredictedCompile {
    double predicted_us = 0;
    CompileOutcome outcome;
};

struct SameCode {
    std::string same_as;  ///< kernel with the same machine code
};

/// What became of a sample when its round ended.
struct SampleEnd {
    int round = 0;
    DeviceReading after;
    bool counts = true;       ///< false: the sample is void, as if it had never been
    double reference_us = 0;  ///< Sample::reference_us
    double reference_sustained_us = 0;
};

/// One thing a sweep learnt of a kernel. A sample refers to a round its kernel has not; an end to one it has.
struct TrialEntry {
    std::string kernel;
    std::variant<PredictedCompile, SameCode, VerifyOutcome, Sample, SampleEnd> what;
};

/// Everything measured for one problem of a sweep.
struct ProblemRecord {
    GemmSpec spec;
    std::vector<Trial> trials;     ///< in the order they were first recorded
    std::optional<Winner> winner;  ///< as stored last, complete or not
};

struct StoreSettings {
    std::chrono::milliseconds patience{30'000};  ///< how long a call waits for other processes' locks
    std::optional<StoreLocation> location;       ///< unset: what the folder's file system asks for
};

/// The tuning records on disk: one SQLite database `tuning.sqlite` in a folder. Thread-safe; many processes may write
/// at once (a writer waits for another up to 30 s). Every add_* is one transaction that is on disk (synchronous=FULL)
/// when the call returns. Journal: WAL; on a file system that WAL does not work on (network ones: statfs says NFS, SMB,
/// Lustre, GPFS, FUSE ...) a rollback journal and one file per host, `tuning-HOST.sqlite`: winners are read from all of
/// a folder's files and forgotten in all of them, sweeps belong to the host that makes them. Specs are kept resolved.
/// Throws TuningStoreError naming the file and what failed (disk full, locked for longer than that, not writable);
/// after a throw the database holds what it held before.
class TuningStore {
public:
    /// Creates folder (0700) and file as needed. A damaged database (quick_check, or SQLite says so) is renamed to
    /// `tuning.sqlite.damaged-<time>` with a warning, and a new one begun. A higher schema's stays, and this throws.
    explicit TuningStore(const std::string& directory, const StoreSettings& settings = {});
    ~TuningStore();
    TuningStore(TuningStore&&) noexcept;
    TuningStore& operator=(TuningStore&&) noexcept;

    [[nodiscard]] std::string path() const;

    /// The latest sweep with this key, finished or not.
    [[nodiscard]] std::optional<SweepRow> find_sweep(const SweepKey& key) const;
    [[nodiscard]] std::int64_t begin_sweep(const SweepKey& key);
    void finish_sweep(std::int64_t sweep);

    /// All of them, in their order, or none. A sample of a round that its kernel has already is refused (Error):
    /// nothing is measured twice.
    void add(std::int64_t sweep, const GemmSpec& spec, const std::vector<TrialEntry>& entries);
    /// Records it as what the sweep found, and offers it to the winners: it takes the place of one that was searched
    /// alike (WinnerMap) and is no better (is_better), and never that of another.
    void set_winner(std::int64_t sweep, const Winner& winner);

    /// All that a sweep recorded, problems in the order first recorded.
    [[nodiscard]] std::vector<ProblemRecord> read_sweep(std::int64_t sweep) const;
    /// The same of all sweeps on a class of devices, oldest first; a problem comes once for each sweep that had it.
    [[nodiscard]] std::vector<ProblemRecord> read_class(const std::string& device_class) const;
    /// Winners of a device class, or of all (empty), sorted by class and spec: several of a problem where it was
    /// searched in several ways.
    [[nodiscard]] std::vector<Winner> winners(const std::string& device_class = {}) const;
    /// Wisdom import: all or none of them, by the same rule as set_winner. Returns how many were taken.
    int add_winners(const std::vector<Winner>& winners);
    /// Forgets winners of the class (empty: all) and, if given, of one spec. Returns how many.
    int forget(const std::string& device_class, const std::optional<GemmSpec>& spec);

    struct MergeResult {
        int sweeps = 0;
        int winners = 0;
        int conflicts = 0;  ///< both had a winner of one problem, searched alike: the better one was kept (is_better)
    };
    /// Takes over what another store's folder (or file) holds and this one lacks, each file as a whole or not at all.
    /// Merging twice changes nothing. Throws TuningStoreError when there is none, or it is damaged, of a higher schema,
    /// or this very store.
    MergeResult merge(const std::string& other);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The winners of a device class (empty: of all) in a store's folder, for those who only read: nothing is made, renamed
/// or changed. No folder or no store: no winners.
struct StoredWinners {
    std::vector<Winner> winners;        ///< sorted by class and spec, one for each way it was searched
    std::vector<std::string> problems;  ///< files that could not be read, and why
};
[[nodiscard]] StoredWinners stored_winners(const std::string& directory, const std::string& device_class = {});

}  // namespace jitgemm::tuning
