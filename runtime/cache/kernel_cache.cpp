#include "runtime/cache/kernel_cache.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cache/cache_entry.hpp"
#include "runtime/cache/kernel_cache_impl.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/lock_holder.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/trust.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

using Found = std::optional<KernelCache::Result>;

/// Writers without a lock may put an entry there again and again; one of theirs is as good as ours.
constexpr int kPublishAttempts = 4;

Found found(CompiledKernel kernel, const std::string& directory) {
    return KernelCache::Result{std::move(kernel), CacheSource::disk, directory};
}

CompiledKernel load_own_entry(const std::string& directory, const KeyFields& wanted) {
    require_trusted_entry(directory, EntryOwner::user);
    std::optional<CompiledKernel> kernel = load_entry(directory, wanted);
    if (!kernel) throw DamagedEntry("it is gone");
    return *std::move(kernel);
}

enum class EntryState : std::uint8_t { sound, damaged, unreadable };

struct EntryCheck {
    EntryState state = EntryState::sound;
    std::string reason;  ///< unless it is sound
};

EntryCheck check_entry(const std::string& directory, const KeyFields& wanted) {
    try {
        static_cast<void>(load_own_entry(directory, wanted));
        return {};
    } catch (const DamagedEntry& damage) {
        return {EntryState::damaged, damage.what()};
    } catch (const UnreadableEntry& error) {
        return {EntryState::unreadable, error.what()};
    }
}

/// Nothing where `load` finds an entry that must not, or just now cannot, be used.
template <typename Load>
Found unless_unusable(const std::string& directory, Load load) {
    try {
        return load();
    } catch (const DamagedEntry& damage) {
        log().debug("{}: {}", directory, damage.what());
    } catch (const UnreadableEntry& error) {
        log().debug("{}: {}", directory, error.what());
    }
    return std::nullopt;
}

/// One of the two folders that a request is looked up in.
struct Layer {
    const std::string& root;
    EntryOwner owner = EntryOwner::user;
    std::function<void(const std::string& reason)> refuse;  ///< told why an entry cannot be trusted

    [[nodiscard]] Found load(const std::string& entry, const KeyFields& wanted) const {
        const std::string directory = root + "/" + entry;
        if (!file_stamp(directory)) return std::nullopt;
        if (const std::string reason = entry_distrust(directory, owner); !reason.empty()) {
            refuse(reason);
            return std::nullopt;
        }
        return unless_unusable(directory, [&] {
            std::optional<CompiledKernel> kernel = load_entry(directory, wanted);
            if (kernel && owner == EntryOwner::user) mark_used(directory);
            return kernel ? found(*std::move(kernel), directory) : std::nullopt;
        });
    }
};

bool may_serve(int nvrtc_version, int newest_major) { return newest_major == 0 || nvrtc_version / 10 <= newest_major; }

KeyFields made_by(KeyFields fields, int nvrtc_version, const std::string& nvrtc_build) {
    fields.nvrtc_version = nvrtc_version;
    fields.nvrtc_build = nvrtc_build;
    return fields;
}

/// The entry of the newest NVRTC that is known to have made any in this layer: its name follows.
Found find_of_known_compiler(const Layer& layer, const CacheLookup& lookup, int newest_major) {
    for (const auto& [version, build] : compilers_in(layer.root)) {
        if (!may_serve(version, newest_major)) continue;
        const KeyFields fields = made_by(lookup.fields, version, build);
        if (Found hit = layer.load(entry_name(lookup.request.name, fields), fields)) return hit;
    }
    return std::nullopt;
}

/// The same by listing the layer, for folders that entries were copied into: dear where there are many.
Found find_by_listing(const Layer& layer, const CacheLookup& lookup, int newest_major) {
    Found best;
    for (const std::string& entry : entries_in(layer.root, entry_prefix(lookup.request.name))) {
        const std::string directory = layer.root + "/" + entry;
        Found candidate = unless_unusable(directory, [&]() -> Found {
            const KeyFields key = read_entry_meta(directory).key;
            const bool newer = !best || key.nvrtc_version > best->kernel.nvrtc_version;
            if (!newer || !may_serve(key.nvrtc_version, newest_major)) return std::nullopt;
            return layer.load(entry, made_by(lookup.fields, key.nvrtc_version, key.nvrtc_build));
        });
        if (candidate) best = std::move(candidate);
    }
    return best;
}

}  // namespace

Found KernelCache::Impl::find(const CacheLookup& lookup, int newest_major) const {
    std::vector<Layer> layers;
    // An entry of the user's own folder is made again, which says why.
    if (folder.readable()) layers.push_back({folder.root(), EntryOwner::user, [](const std::string&) {}});
    if (reads_readonly())
        layers.push_back({readonly, EntryOwner::anybody, [&](const std::string& reason) { refuse_readonly(reason); }});
    const auto first_hit = [&](auto find_in) {
        Found hit;
        for (const Layer& layer : layers) {
            if (!hit) hit = find_in(layer);
        }
        return hit;
    };
    if (lookup.fields.nvrtc_version != 0)
        return first_hit([&](const Layer& layer) { return layer.load(lookup.entry, lookup.fields); });
    Found hit = first_hit([&](const Layer& layer) { return find_of_known_compiler(layer, lookup, newest_major); });
    return hit ? hit : first_hit([&](const Layer& layer) { return find_by_listing(layer, lookup, newest_major); });
}

bool KernelCache::Impl::reads_readonly() const {
    if (readonly.empty()) return false;
    const std::string reason = open_to_all(readonly);
    if (!reason.empty()) refuse_readonly(reason);
    return reason.empty();
}

void KernelCache::Impl::refuse_readonly(const std::string& reason) const {
    if (readonly_refused_.exchange(true)) return;
    log().warn("{}: the read-only kernel cache does not use it; 'chmod -R o-w {}' makes it safe", reason, readonly);
}

std::optional<FileLock> KernelCache::Impl::wait_for_lock(const CacheLookup& lookup) const {
    const std::string file = folder.lock_path(lookup.key);
    std::error_code hindrance;
    std::optional<FileLock> held = FileLock::acquire(file, patience_.quiet, hindrance);
    if (held || hindrance) return held;
    const std::chrono::milliseconds rest = patience_.longest - patience_.quiet;
    log().warn("waiting for {}, which holds {} and compiles {}; this process compiles it as well in {:.0f} s",
               lock_holder(file), file, lookup.request.name, std::chrono::duration<double>(rest).count());
    return FileLock::acquire(file, rest);
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
    const std::optional<FileLock> held = wait_for_lock(lookup);
    if (!held) log().debug("no lock for {}", lookup.entry);
    // Another process may have stored it while this one waited.
    if (Found stored = find(lookup, compiler.newest_major())) return *std::move(stored);
    if (held) clear_the_way(lookup);
    CompiledKernel kernel = compile(lookup, compiler, true);
    std::string directory = store(lookup, kernel);
    return {std::move(kernel), CacheSource::compiled, std::move(directory)};
}

/// A damaged entry and what a killed process left are in the way of a new entry. Only under the lock: without it they
/// may be a living writer's.
void KernelCache::Impl::clear_the_way(const CacheLookup& lookup) {
    folder.remove_leftovers(lookup.key);
    const std::string directory = folder.path(lookup.entry);
    if (!file_stamp(directory)) return;
    const EntryCheck check = check_entry(directory, lookup.fields);
    if (check.state != EntryState::damaged) return;
    log().warn("rebuilding a damaged cache entry: {}: {}", directory, check.reason);
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
    const KeyFields fields = key_fields(lookup.request, kernel.nvrtc_version, kernel.nvrtc_build);
    const std::string entry = entry_name(lookup.request.name, fields);
    const std::string temporary = folder.temporary(key_in_entry_name(entry));
    try {
        write_entry(temporary, kernel, fields, lookup.kernel_cu, folder.durability());
        publish(temporary, entry, fields);
        folder.remember_compiler(fields.nvrtc_version, fields.nvrtc_build);
        return folder.path(entry);
    } catch (const std::exception& error) {
        remove_entry_files(temporary);
        folder.report(error.what());
        return {};
    }
}

/// An entry may lie there already: a process without a lock has put it there, or it could not be read before. A sound
/// entry stays, and a damaged one is replaced. Throws if neither is possible.
void KernelCache::Impl::publish(const std::string& temporary, const std::string& entry, const KeyFields& fields) const {
    for (int attempt = 0; attempt < kPublishAttempts; ++attempt) {
        if (folder.publish(temporary, entry)) return;
        const EntryCheck check = check_entry(folder.path(entry), fields);
        if (check.state == EntryState::unreadable) throw Error(check.reason);
        if (check.state == EntryState::sound) return remove_entry_files(temporary);
        folder.drop(entry);
    }
    throw Error(fmt::format("{} stays damaged after several repairs", folder.path(entry)));
}

KernelCache::KernelCache(std::string root, std::string readonly_root, Durability durability, CachePatience patience)
    : impl_(std::make_unique<Impl>(std::move(root), std::move(readonly_root), durability, patience)) {}

KernelCache::~KernelCache() = default;

namespace {

CacheLookup lookup_of(const CompileRequest& request, Compiler& compiler, const std::string& kernel_cu) {
    KeyFields fields = key_fields(request, compiler.nvrtc_version(), compiler.nvrtc_build());
    const std::string key = key_hash(fields);
    return {request, kernel_cu, std::move(fields), key, entry_prefix(request.name) + key};
}

}  // namespace

bool KernelCache::has(const CompileRequest& request, Compiler& compiler) const {
    const std::string no_text;
    return impl_->find(lookup_of(request, compiler, no_text), compiler.newest_major()).has_value();
}

KernelCache::Result KernelCache::get_or_compile(const CompileRequest& request, Compiler& compiler,
                                                const std::string& kernel_cu) {
    const CacheLookup lookup = lookup_of(request, compiler, kernel_cu);
    if (Found hit = impl_->find(lookup, compiler.newest_major())) return *std::move(hit);
    return impl_->join_or_lead(lookup, compiler);
}

const std::unordered_set<std::string>& KernelCache::Impl::first_prefixes() const {
    std::call_once(listed_, [&] {
        for (const std::string& root : {folder.root(), readonly}) {
            if (root.empty()) continue;
            for (const std::string& entry : entries_in(root))
                first_prefixes_.insert(entry.substr(0, entry.size() - key_in_entry_name(entry).size()));
        }
    });
    return first_prefixes_;
}

bool KernelCache::held(const std::string& kernel) const {
    return impl_->first_prefixes().contains(entry_prefix(kernel));
}

const std::string& KernelCache::root() const { return impl_->folder.root(); }

}  // namespace jitgemm
