#include "runtime/tuning/store/store.hpp"

#include "runtime/support/file_system.hpp"
#include "runtime/support/log.hpp"
#include "runtime/tuning/store/sqlite.hpp"
#include "runtime/tuning/store/store_file.hpp"
#include "runtime/tuning/store/store_tables.hpp"

#include <fmt/format.h>

#include <ctime>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

namespace jitgemm::tuning {
namespace {

using sqlite::Database;
using sqlite::Transaction;

void make_folder(const std::string& directory) {
    try {
        make_private_directories(directory);
    } catch (const std::system_error& error) {
        throw TuningStoreError(fmt::format("tuning store {}: {}", directory, error.what()));
    }
}

StoreLocation location_in(const std::string& directory, const StoreSettings& settings) {
    if (directory.empty()) throw TuningStoreError("no folder for the tuning store: set JITGEMM_TUNING_DIR");
    make_folder(directory);
    return settings.location ? *settings.location : store_location(directory);
}

std::vector<std::string> stores_at(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) return {path};
    std::vector<std::string> files = store_files(path);
    if (files.empty()) throw TuningStoreError(fmt::format("no tuning store at {}", path));
    return files;
}

bool is_same_file(const std::string& left, const std::string& right) {
    std::error_code error;
    return std::filesystem::equivalent(left, right, error);
}

}  // namespace

struct TuningStore::Impl {
    Impl(std::string folder, const StoreSettings& settings)
        : directory(std::move(folder)),
          location(location_in(directory, settings)),
          patience(settings.patience),
          database(open_store(location, patience)) {}

    /// One transaction, on disk when this returns.
    template <typename Work>
    auto write(Work work) {
        const std::lock_guard lock(mutex);
        return as_store_errors([&] {
            Transaction transaction(database);
            refuse_newer_store(database, location.path);
            auto result = work(database);
            transaction.commit();
            return result;
        });
    }
    /// All reads of `work` see the store at one moment, though another process may be writing.
    template <typename Work>
    auto read(Work work) {
        const std::lock_guard lock(mutex);
        return as_store_errors([&] {
            const Transaction moment(database, sqlite::Access::read);
            return work(database);
        });
    }

    std::string directory;
    StoreLocation location;
    std::chrono::milliseconds patience;
    std::mutex mutex;  ///< guards the connection
    Database database;
};

TuningStore::TuningStore(const std::string& directory, const StoreSettings& settings)
    : impl_(std::make_unique<Impl>(directory, settings)) {}

TuningStore::~TuningStore() = default;
TuningStore::TuningStore(TuningStore&&) noexcept = default;
TuningStore& TuningStore::operator=(TuningStore&&) noexcept = default;

std::string TuningStore::path() const { return impl_->location.path; }

// ---- sweeps ---------------------------------------------------------------------------------------------------------

std::optional<SweepRow> TuningStore::find_sweep(const SweepKey& key) const {
    return impl_->read([&](Database& database) { return tuning::find_sweep(database, key); });
}

std::int64_t TuningStore::begin_sweep(const SweepKey& key) {
    return impl_->write([&](Database& database) { return insert_sweep(database, key, std::time(nullptr)); });
}

void TuningStore::finish_sweep(std::int64_t sweep) {
    impl_->write([&](Database& database) {
        database.prepare("UPDATE sweeps SET finished = ? WHERE id = ?").bind(std::time(nullptr), sweep).run();
        return 0;
    });
}

void TuningStore::add(std::int64_t sweep, const GemmSpec& spec, const std::vector<TrialEntry>& entries) {
    impl_->write([&](Database& database) {
        const std::int64_t problem = problem_row(database, sweep, spec);
        for (const TrialEntry& entry : entries) put_entry(database, problem, entry);
        return 0;
    });
}

std::vector<ProblemRecord> TuningStore::read_sweep(std::int64_t sweep) const {
    return impl_->read([&](Database& database) { return read_problems(database, sweep); });
}

std::vector<ProblemRecord> TuningStore::read_class(const std::string& device_class) const {
    return impl_->read([&](Database& database) {
        sqlite::Statement sweeps = database.prepare("SELECT id FROM sweeps WHERE device_class = ? ORDER BY id");
        sweeps.bind(device_class);
        std::vector<ProblemRecord> all;
        while (sweeps.step())
            for (ProblemRecord& problem : read_problems(database, sweeps.integer(0))) all.push_back(std::move(problem));
        return all;
    });
}

// ---- winners --------------------------------------------------------------------------------------------------------

void TuningStore::set_winner(std::int64_t sweep, const Winner& winner) {
    impl_->write([&](Database& database) {
        put_sweep_winner(database, problem_row(database, sweep, winner.spec), winner);
        return offer_winner(database, winner);
    });
}

std::vector<Winner> TuningStore::winners(const std::string& device_class) const {
    StoredWinners stored = stored_winners(impl_->directory, device_class);
    for (const std::string& problem : stored.problems) log().warn("{}", problem);
    return std::move(stored.winners);
}

int TuningStore::add_winners(const std::vector<Winner>& winners) {
    return impl_->write([&](Database& database) {
        int taken = 0;
        for (const Winner& winner : winners) taken += offer_winner(database, winner) ? 1 : 0;
        return taken;
    });
}

int TuningStore::forget(const std::string& device_class, const std::optional<GemmSpec>& spec) {
    const auto forget_in = [&](Database& database) {
        const std::vector<std::string> gone = forget_winners(database, device_class, spec);
        return std::set<std::string>(gone.begin(), gone.end());
    };
    std::set<std::string> forgotten = impl_->write(forget_in);
    for (const std::string& path : store_files(impl_->directory)) {
        if (is_same_file(path, impl_->location.path)) continue;
        forgotten.merge(as_store_errors([&] {
            Database other(path, sqlite::Access::write, impl_->patience);
            refuse_newer_store(other, path);
            return forget_in(other);
        }));
    }
    return static_cast<int>(forgotten.size());
}

TuningStore::MergeResult TuningStore::merge(const std::string& other) {
    const std::lock_guard lock(impl_->mutex);
    MergeResult sum;
    for (const std::string& file : stores_at(other)) {
        if (is_same_file(file, impl_->location.path))
            throw TuningStoreError(fmt::format("tuning store {} cannot be merged into itself", file));
        const MergeResult result = as_store_errors([&] {
            refuse_newer_store(impl_->database, impl_->location.path);
            return merge_store_file(impl_->database, file);
        });
        sum = {sum.sweeps + result.sweeps, sum.winners + result.winners, sum.conflicts + result.conflicts};
    }
    return sum;
}

}  // namespace jitgemm::tuning
