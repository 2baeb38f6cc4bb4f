#include "runtime/kernel_cache.hpp"

#include "generator/error.hpp"
#include "runtime/cache_entry.hpp"
#include "runtime/file_system.hpp"
#include "runtime/kernel_cache_impl.hpp"
#include "runtime/log.hpp"

#include <fmt/format.h>

#include <exception>
#include <string_view>

namespace jitgemm {
namespace {

using namespace std::chrono_literals;

/// Longer than any compile takes. Past it the holder is stopped or stuck, and a second compile does no harm.
constexpr auto kLockPatience = 120s;

using Found = std::optional<KernelCache::Result>;

/// Also refuses an entry of someone else's, put there while the folder was open to others.
CompiledKernel load_own_entry(const std::string& directory, const KeyFields& wanted) {
    if (const std::string reason = distrust(directory); !reason.empty()) throw DamagedEntry(reason);
    std::optional<CompiledKernel> kernel = load_entry(directory, wanted);
    if (!kernel) throw DamagedEntry("it is gone");
    return *std::move(kernel);
}

std::string damage_of(const std::string& directory, const KeyFields& wanted) {
    try {
        static_cast<void>(load_own_entry(directory, wanted));
        return "it came back";
    } catch (const DamagedEntry& damage) {
        return damage.what();
    }
}

Found found(CompiledKernel kernel, const std::string& directory) {
    return KernelCache::Result{std::move(kernel), CacheSource::disk, directory};
}

Found find_in_own(const CacheFolder& folder, const CacheLookup& lookup) {
    const std::string directory = folder.path(lookup.entry);
    if (!folder.readable() || !file_stamp(directory)) return std::nullopt;
    try {
        return found(load_own_entry(directory, lookup.fields), directory);
    } catch (const DamagedEntry& damage) {
        log().debug("{}: {}", directory, damage.what());
        return std::nullopt;
    }
}

Found find_in_readonly(const std::string& root, const CacheLookup& lookup) {
    if (root.empty()) return std::nullopt;
    const std::string directory = root + "/" + lookup.entry;
    try {
        std::optional<CompiledKernel> kernel = load_entry(directory, lookup.fields);
        return kernel ? found(*std::move(kernel), directory) : std::nullopt;
    } catch (const DamagedEntry& damage) {
        log().debug("{}: {}", directory, damage.what());
        return std::nullopt;
    }
}

/// Whether an entry serves a request when no NVRTC can be asked for its version.
bool serves_without_nvrtc(const KeyFields& stored, KeyFields wanted, int newest_major) {
    wanted.nvrtc_version = stored.nvrtc_version;
    return stored == wanted && (newest_major == 0 || stored.nvrtc_version / 10 <= newest_major);
}

/// The matching entry of the newest NVRTC in one layer.
Found find_of_any_version(const std::string& root, const CacheLookup& lookup, int newest_major) {
    Found best;
    const std::string prefix = entry_prefix(lookup.request.name);
    for (const std::string& entry : entries_in(root)) {
        if (!entry.starts_with(prefix)) continue;
        const std::string directory = fmt::format("{}/{}", root, entry);
        try {
            const CacheMeta meta = read_entry_meta(directory);
            const bool newer = !best || meta.key.nvrtc_version > best->kernel.nvrtc_version;
            if (!newer || !serves_without_nvrtc(meta.key, lookup.fields, newest_major)) continue;
            best = found(read_entry_binary(directory, meta), directory);
        } catch (const DamagedEntry& damage) {
            log().debug("{}: {}", directory, damage.what());
        }
    }
    return best;
}

}  // namespace

Found KernelCache::Impl::find(const CacheLookup& lookup, int newest_major) const {
    if (lookup.fields.nvrtc_version != 0) {
        Found own = find_in_own(folder, lookup);
        return own ? own : find_in_readonly(readonly, lookup);
    }
    Found own = folder.readable() ? find_of_any_version(folder.root(), lookup, newest_major) : std::nullopt;
    return own || readonly.empty() ? own : find_of_any_version(readonly, lookup, newest_major);
}

KernelCache::Result KernelCache::Impl::join_or_lead(const CacheLookup& lookup, Compiler& compiler) {
    std::promise<Result> promise;
    {
        std::unique_lock lock(mutex_);
        const auto [position, leads] = in_flight_.try_emplace(lookup.key);
        if (!leads) {
            const std::shared_future<Result> result = position->second;
            lock.unlock();
            return result.get();
        }
        position->second = promise.get_future().share();
    }
    try {
        promise.set_value(lead(lookup, compiler));
    } catch (...) {
        promise.set_exception(std::current_exception());
    }
    const std::scoped_lock lock(mutex_);
    const std::shared_future<Result> result = in_flight_.extract(lookup.key).mapped();
    return result.get();
}

KernelCache::Result KernelCache::Impl::lead(const CacheLookup& lookup, Compiler& compiler) {
    if (!folder.prepare()) return {compile(lookup, compiler, false), CacheSource::compiled, {}};
    const std::optional<FileLock> lock = folder.lock(lookup.key, kLockPatience);
    if (!lock) log().debug("no lock for {}", lookup.entry);
    return compile_under_lock(lookup, compiler);
}

KernelCache::Result KernelCache::Impl::compile_under_lock(const CacheLookup& lookup, Compiler& compiler) {
    // Another process may have stored it while this one waited.
    if (Found stored = find(lookup, compiler.newest_major())) return *std::move(stored);
    clear_the_way(lookup);
    CompiledKernel kernel = compile(lookup, compiler, true);
    std::string directory = store(lookup, kernel);
    return {std::move(kernel), CacheSource::compiled, std::move(directory)};
}

/// A damaged entry and what a killed process left are in the way of a new entry.
void KernelCache::Impl::clear_the_way(const CacheLookup& lookup) {
    folder.remove_leftovers(lookup.key);
    const std::string directory = folder.path(lookup.entry);
    if (!file_stamp(directory)) return;
    log().warn("rebuilding a damaged cache entry: {}: {}", directory, damage_of(directory, lookup.fields));
    try {
        folder.drop(lookup.entry);
    } catch (const std::exception& error) {
        folder.report(error.what());
    }
}

CompiledKernel KernelCache::Impl::compile(const CacheLookup& lookup, Compiler& compiler, bool writable) const {
    try {
        return compiler.compile(lookup.request);
    } catch (const CompileError& error) {
        if (error.log().empty() || !writable) throw;  // nothing was compiled, or nowhere to keep it
        // The body alone, so that the line numbers of the log hold.
        const std::string file = folder.keep_failed_source(lookup.entry, lookup.request.body);
        if (file.empty()) throw;
        throw CompileError(std::string(error.what()) + "\nsource: " + file, error.log());
    }
}

/// The path of the new entry; empty when it could not be stored.
std::string KernelCache::Impl::store(const CacheLookup& lookup, const CompiledKernel& kernel) {
    // The version is the compiler's last word: the library may have changed since it was asked first.
    const KeyFields fields = key_fields(lookup.request, kernel.nvrtc_version);
    const std::string entry = entry_name(lookup.request.name, fields);
    const std::string temporary = folder.temporary(key_in_entry_name(entry));
    try {
        write_entry(temporary, kernel, fields, lookup.kernel_cu, folder.durability());
        folder.publish(temporary, entry);
        return folder.path(entry);
    } catch (const std::exception& error) {
        remove_tree(temporary);
        folder.report(error.what());
        return {};
    }
}

KernelCache::KernelCache(std::string root, std::string readonly_root, Durability durability)
    : impl_(std::make_unique<Impl>(std::move(root), std::move(readonly_root), durability)) {}

KernelCache::~KernelCache() = default;

KernelCache::Result KernelCache::get_or_compile(const CompileRequest& request, Compiler& compiler,
                                                const std::string& kernel_cu) {
    KeyFields fields = key_fields(request, compiler.nvrtc_version());
    const std::string key = key_hash(fields);
    const CacheLookup lookup{request, kernel_cu, std::move(fields), key, entry_prefix(request.name) + key};
    if (Found hit = impl_->find(lookup, compiler.newest_major())) return *std::move(hit);
    return impl_->join_or_lead(lookup, compiler);
}

const std::string& KernelCache::root() const { return impl_->folder.root(); }

}  // namespace jitgemm
