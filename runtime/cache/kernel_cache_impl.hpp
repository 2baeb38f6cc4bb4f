#pragma once

#include "runtime/cache/cache_folder.hpp"
#include "runtime/cache/cache_key.hpp"
#include "runtime/cache/kernel_cache.hpp"

#include <atomic>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

namespace jitgemm {

/// One request on its way through the cache.
struct CacheLookup {
    const CompileRequest& request;
    const std::string& kernel_cu;
    KeyFields fields;
    std::string key;
    std::string entry;  ///< name of the entry's folder
};

struct KernelCache::Impl {
    Impl(std::string root, std::string readonly_root, Durability durability, CachePatience patience)
        : folder(std::move(root), durability), readonly(std::move(readonly_root)), patience_(patience) {}

    /// The kernel from either folder; nothing if it must be compiled. A damaged entry counts as none.
    [[nodiscard]] std::optional<Result> find(const CacheLookup& lookup, int newest_major) const;
    /// The result of the thread that compiles this key now. If there is none, this thread compiles it.
    [[nodiscard]] Result join_or_lead(const CacheLookup& lookup, Compiler& compiler);

    /// Whether a read-only folder is set and not open to all users. Logs it once if it is open.
    [[nodiscard]] bool reads_readonly() const;

    /// The beginnings (entry_prefix) of the entries' names, as they were at first.
    [[nodiscard]] const std::unordered_set<std::string>& first_prefixes() const;

    CacheFolder folder;
    std::string readonly;

private:
    void refuse_readonly(const std::string& reason) const;
    /// Logs the holder of the lock if the wait takes longer than most compiles.
    [[nodiscard]] std::optional<FileLock> wait_for_lock(const CacheLookup& lookup) const;
    [[nodiscard]] Result lead(const CacheLookup& lookup, Compiler& compiler);
    void clear_the_way(const CacheLookup& lookup);
    [[nodiscard]] CompiledKernel compile(const CacheLookup& lookup, Compiler& compiler, bool writable) const;
    [[nodiscard]] std::string store(const CacheLookup& lookup, const CompiledKernel& kernel);
    void publish(const std::string& temporary, const std::string& entry, const KeyFields& fields) const;

    CachePatience patience_;
    mutable std::atomic<bool> readonly_refused_ = false;
    mutable std::once_flag listed_;
    mutable std::unordered_set<std::string> first_prefixes_;
    std::mutex mutex_;
    std::unordered_map<std::string, std::shared_future<Result>> in_flight_;
};

}  // namespace jitgemm
