#include "runtime/cache_entry.hpp"
#include "runtime/kernel_cache.hpp"
#include "runtime/kernel_cache_impl.hpp"
#include "runtime/log.hpp"

#include <exception>
#include <filesystem>
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
    entry.spill_bytes = meta.report.spill_store_bytes + meta.report.spill_load_bytes;
}

CacheEntry describe(const std::string& directory, const std::string& name, bool verify) {
    CacheEntry entry{.directory = name, .name = {}, .arch = {}, .bytes = bytes_in(directory), .state = "ok"};
    try {
        add_meta(entry, read_entry_meta(directory));
        if (verify) verify_entry(directory);
    } catch (const DamagedEntry& damage) {
        entry.state = damage.what();
    }
    return entry;
}

std::vector<std::string> fields_missed(const std::string& directory, const KeyFields& wanted) {
    try {
        const CacheMeta meta = read_entry_meta(directory);
        KeyFields asked = wanted;
        if (asked.nvrtc_version == 0) asked.nvrtc_version = meta.key.nvrtc_version;
        return differing_fields(meta.key, asked);
    } catch (const DamagedEntry& damage) {
        return {std::string("damaged: ") + damage.what()};
    }
}

bool drop_or_log(const CacheFolder& folder, const std::string& entry) {
    try {
        folder.drop(entry);
        return true;
    } catch (const std::exception& error) {
        log().warn("{}", error.what());
        return false;
    }
}

}  // namespace

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

int KernelCache::clear() {
    int removed = 0;
    for (const std::string& name : impl_->folder.entries()) removed += drop_or_log(impl_->folder, name) ? 1 : 0;
    if (!impl_->folder.readable()) return removed;
    impl_->folder.remove_all_leftovers();
    impl_->folder.remove_failed_sources();
    impl_->folder.remove_records();
    return removed;
}

int KernelCache::drop_damaged() {
    int removed = 0;
    for (const CacheEntry& entry : entries(true)) {
        if (entry.state != "ok" && drop_or_log(impl_->folder, entry.directory)) ++removed;
    }
    return impl_->folder.readable() ? removed + impl_->folder.remove_all_leftovers() : removed;
}

std::vector<std::pair<std::string, std::vector<std::string>>> KernelCache::explain_miss(const CompileRequest& request,
                                                                                        int nvrtc_version) const {
    const KeyFields wanted = key_fields(request, nvrtc_version);
    const std::string prefix = entry_prefix(request.name);
    std::vector<std::pair<std::string, std::vector<std::string>>> misses;
    for (const std::string& root : {impl_->folder.readable() ? impl_->folder.root() : std::string{}, impl_->readonly}) {
        for (const std::string& name : root.empty() ? std::vector<std::string>{} : entries_in(root)) {
            if (name.starts_with(prefix)) misses.emplace_back(name, fields_missed(root + "/" + name, wanted));
        }
    }
    return misses;
}

}  // namespace jitgemm
