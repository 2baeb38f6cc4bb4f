#include "runtime/cache/cache_entry.hpp"
#include "runtime/cache/kernel_cache.hpp"
#include "runtime/cache/kernel_cache_impl.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <filesystem>
#include <functional>
#include <numeric>

/// \file What is in the cache, for people: listing, checking, clearing, explaining a miss.

namespace jitgemm {
namespace {

namespace fs = std::filesystem;

std::int64_t bytes_in(const std::string& directory) {
    std::int64_t bytes = 0;
    std::error_code error;
    for (fs::directory_iterator file(directory, error), end; !error && file != end; file.increment(error)) {
        const std::uintmax_t size = file->file_size(error);
        if (!error) bytes += static_cast<std::int64_t>(size);
    }
    return bytes;
}

void add_meta(CacheEntry& entry, const CacheMeta& meta) {
    entry.name = meta.name;
    entry.arch = meta.key.arch;
    entry.nvrtc_version = meta.key.nvrtc_version;
    entry.compile_ms = meta.compile_ms;
    entry.registers = meta.report.registers;
    entry.spill_bytes = meta.report.spill_bytes();
    entry.is_ptx = meta.binary_file == "kernel.ptx";
}

CacheEntry describe(const std::string& directory, const std::string& name, bool verify) {
    CacheEntry entry{.directory = name, .bytes = bytes_in(directory), .last_used = last_use(directory), .state = "ok"};
    try {
        require_trusted_entry(directory, EntryOwner::user);
        add_meta(entry, read_entry_meta(directory));
        if (verify) verify_entry(directory);
    } catch (const DamagedEntry& damage) {
        entry.damaged = true;
        entry.state = damage.what();
    } catch (const UnreadableEntry& error) {
        entry.state = error.what();
    }
    return entry;
}

std::vector<std::string> fields_missed(const std::string& directory, EntryOwner owner, const KeyFields& wanted) {
    try {
        require_trusted_entry(directory, owner);
        const CacheMeta meta = read_entry_meta(directory);
        KeyFields asked = wanted;
        if (asked.nvrtc_version == 0) {
            asked.nvrtc_version = meta.key.nvrtc_version;
            asked.nvrtc_build = meta.key.nvrtc_build;
        }
        return differing_fields(meta.key, asked);
    } catch (const DamagedEntry& damage) {
        return {std::string("damaged: ") + damage.what()};
    } catch (const UnreadableEntry& error) {
        return {error.what()};
    }
}

/// Takes entries away one by one, and tells what became of each.
class Remover {
public:
    explicit Remover(const CacheFolder& folder) : folder_(folder) {}

    void drop(const CacheEntry& entry) {
        try {
            folder_.drop(entry.directory);
            count(entry);
        } catch (const std::exception& error) {
            removal_.kept.emplace_back(error.what());
        }
    }
    void count(const CacheEntry& entry) {
        ++removal_.removed;
        removal_.bytes += entry.bytes;
    }
    void count_leftovers(int folders) { removal_.removed += folders; }
    [[nodiscard]] CacheRemoval result() && { return std::move(removal_); }

private:
    const CacheFolder& folder_;
    CacheRemoval removal_;
};

/// The entries beyond the limits, of all.
std::vector<CacheEntry> beyond(std::vector<CacheEntry> entries, const CacheLimits& limits) {
    std::ranges::sort(entries, std::greater<>(), &CacheEntry::last_used);
    // Behind the last mark an entry may have been used for as long as no mark is due.
    const std::int64_t oldest = limits.age ? ::time(nullptr) - limits.age->count() - kMarkSeconds : 0;
    std::int64_t bytes = 0;
    std::vector<CacheEntry> excess;
    for (CacheEntry& entry : entries) {
        const bool too_old = limits.age && entry.last_used < oldest;
        bytes += entry.bytes;
        if (too_old || (limits.bytes && bytes > *limits.bytes)) excess.push_back(std::move(entry));
    }
    return excess;
}

CacheRemoval nothing_removed(const CacheFolder& folder) {
    const std::string reason = folder.distrusted();
    return reason.empty() ? CacheRemoval{} : CacheRemoval{.kept = {reason}};
}

}  // namespace

std::string KernelCache::distrusted() const {
    return impl_->folder.root().empty() ? std::string() : impl_->folder.distrusted();
}

std::vector<CacheEntry> KernelCache::entries(bool verify) const {
    std::vector<CacheEntry> list;
    for (const std::string& name : impl_->folder.entries())
        list.push_back(describe(impl_->folder.path(name), name, verify));
    return list;
}

std::int64_t KernelCache::total_bytes() const {
    const std::vector<std::string> names = impl_->folder.entries();
    return std::accumulate(names.begin(), names.end(), std::int64_t{0}, [&](std::int64_t sum, const std::string& name) {
        return sum + bytes_in(impl_->folder.path(name));
    });
}

CacheRemoval KernelCache::clear() {
    const CacheFolder& folder = impl_->folder;
    if (!folder.readable()) return nothing_removed(folder);
    Remover remover(folder);
    for (const CacheEntry& entry : entries(false)) remover.drop(entry);
    static_cast<void>(folder.remove_all_leftovers());
    folder.remove_failed_sources();
    folder.remove_records();
    return std::move(remover).result();
}

CacheRemoval KernelCache::drop_damaged() {
    const CacheFolder& folder = impl_->folder;
    if (!folder.readable()) return nothing_removed(folder);
    Remover remover(folder);
    for (const CacheEntry& entry : entries(true)) {
        if (entry.damaged) remover.drop(entry);
    }
    remover.count_leftovers(folder.remove_all_leftovers());
    return std::move(remover).result();
}

CacheRemoval KernelCache::prune(const CacheLimits& limits, bool dry) {
    const CacheFolder& folder = impl_->folder;
    if (!folder.readable()) return nothing_removed(folder);
    Remover remover(folder);
    for (const CacheEntry& entry : beyond(entries(false), limits)) dry ? remover.count(entry) : remover.drop(entry);
    if (!dry) static_cast<void>(folder.remove_all_leftovers());
    return std::move(remover).result();
}

std::vector<std::pair<std::string, std::vector<std::string>>> KernelCache::explain_miss(
    const CompileRequest& request, int nvrtc_version, const std::string& nvrtc_build) const {
    const KeyFields wanted = key_fields(request, nvrtc_version, nvrtc_build);
    const std::string prefix = entry_prefix(request.name);
    std::vector<std::pair<std::string, std::vector<std::string>>> misses;
    const auto add = [&](const std::string& root, EntryOwner owner) {
        for (const std::string& name : entries_in(root, prefix))
            misses.emplace_back(name, fields_missed(root + "/" + name, owner, wanted));
    };
    if (impl_->folder.readable()) add(impl_->folder.root(), EntryOwner::user);
    if (impl_->reads_readonly()) add(impl_->readonly, EntryOwner::anybody);
    return misses;
}

}  // namespace jitgemm
