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

/// The request of a sweep. Two sweeps with the same key continue each other.
struct SweepKey {
    std::string device_class;
    std::string request;  ///< canonical text of problems, space, strategy, protocol and limits: they change the outcome
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

/// The fate of a sample when its round has ended.
struct SampleEnd {
    int round = 0;
    DeviceReading after;
    bool counts = true;       ///< false: the sample is void and is removed
    double reference_us = 0;  ///< Sample::reference_us
    double reference_sustained_us = 0;
};

/// One fact that a sweep learnt about a kernel. A sample has a new round of its kernel; an end has a known one.
struct TrialEntry {
    std::string kernel;
    std::variant<PredictedCompile, SameCode, VerifyOutcome, Sample, SampleEnd> what;
};

/// Everything measured for one problem of a sweep.
struct ProblemRecord {
    GemmSpec spec;
    std::vector<Trial> trials;     ///< in the order of their first records
    std::optional<Winner> winner;  ///< the last stored one, complete or not
};

struct StoreSettings {
    std::chrono::milliseconds patience{30'000};  ///< the longest wait of a call for other processes' locks
    std::optional<StoreLocation> location;       ///< unset: chosen by the folder's file system
};

/// The tuning records on disk: one SQLite database `tuning.sqlite` in a folder. It is thread-safe, and many processes
/// may write at once (a writer waits up to 30 s for another). Every add_* is one transaction that is on disk
/// (synchronous=FULL) when the call returns. The journal is WAL. Some file systems do not support WAL (network ones:
/// statfs says NFS, SMB, Lustre, GPFS, FUSE ...). There it is a rollback journal, and each host has its file
/// `tuning-HOST.sqlite`: winners are read from all files of a folder and forgotten in all, and sweeps belong to the
/// host that makes them. Specs are resolved. Throws TuningStoreError with the file and the failure (disk full, locked
/// for too long, not writable); the database then holds its former contents.
class TuningStore {
public:
    /// Creates folder (0700) and file if needed. A damaged database (quick_check, or an error of SQLite) is renamed to
    /// `tuning.sqlite.damaged-<time>` with a warning, and a new one is begun. A database with a higher schema stays,
    /// and the constructor throws.
    explicit TuningStore(const std::string& directory, const StoreSettings& settings = {});
    ~TuningStore();
    TuningStore(TuningStore&&) noexcept;
    TuningStore& operator=(TuningStore&&) noexcept;

    [[nodiscard]] std::string path() const;

    /// The latest sweep with this key, finished or not.
    [[nodiscard]] std::optional<SweepRow> find_sweep(const SweepKey& key) const;
    [[nodiscard]] std::int64_t begin_sweep(const SweepKey& key);
    void finish_sweep(std::int64_t sweep);

    /// Adds all entries in their order, or none. A second sample of a kernel's round is refused (Error): nothing is
    /// measured twice.
    void add(std::int64_t sweep, const GemmSpec& spec, const std::vector<TrialEntry>& entries);
    /// Records the winner as the result of the sweep, and offers it to the winners. It replaces one that was searched
    /// in the same way (WinnerMap) if that is not better (is_better). It never replaces any other.
    void set_winner(std::int64_t sweep, const Winner& winner);

    /// All records of a sweep, with problems in the order of their first records.
    [[nodiscard]] std::vector<ProblemRecord> read_sweep(std::int64_t sweep) const;
    /// The same for all sweeps on a class of devices, oldest first. A problem appears once for each of its sweeps.
    [[nodiscard]] std::vector<ProblemRecord> read_class(const std::string& device_class) const;
    /// Winners of a device class, or of all (empty), sorted by class and spec. A problem has several if it was searched
    /// in several ways.
    [[nodiscard]] std::vector<Winner> winners(const std::string& device_class = {}) const;
    /// Wisdom import: adds all or none of them, by the rule of set_winner. Returns the number of replaced or new ones.
    int add_winners(const std::vector<Winner>& winners);
    /// Removes winners of the class (empty: all) and, if given, of one spec. Returns their number.
    int forget(const std::string& device_class, const std::optional<GemmSpec>& spec);

    struct MergeResult {
        int sweeps = 0;
        int winners = 0;
        int conflicts =
            0;  ///< both had a winner of a problem, searched in the same way: the better one stays (is_better)
    };
    /// Copies the records that another store's folder (or file) has and this one lacks, each file as a whole or not at
    /// all. A second merge changes nothing. Throws TuningStoreError if there is no store, if it is damaged or has a
    /// higher schema, or if it is this store.
    MergeResult merge(const std::string& other);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The winners of a device class (empty: of all) in a store's folder, for readers: nothing is made, renamed or changed.
/// Without a folder or a store there are none.
struct StoredWinners {
    std::vector<Winner> winners;        ///< sorted by class and spec, one for each way of the search
    std::vector<std::string> problems;  ///< files that could not be read, with reasons
};
[[nodiscard]] StoredWinners stored_winners(const std::string& directory, const std::string& device_class = {});

}  // namespace jitgemm::tuning
