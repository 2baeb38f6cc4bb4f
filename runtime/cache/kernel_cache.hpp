#pragma once

#include "jitgemm/kernel_info.hpp"
#include "runtime/compiler/compiler.hpp"
#include "runtime/support/file_system.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace jitgemm {

/// One entry as `cache ls` shows it.
struct CacheEntry {
    std::string directory;  ///< "<kernel name>-<hash>"
    std::string name = {};
    std::string arch = {};
    int nvrtc_version = 0;
    std::int64_t bytes = 0;      ///< all files of the entry
    std::int64_t last_used = 0;  ///< seconds since 1970, to a day
    double compile_ms = 0;
    int registers = 0;
    int spill_bytes = 0;
    bool is_ptx = false;   ///< there are no registers yet: the driver or the emulator chooses them
    bool damaged = false;  ///< it must not be used, and it blocks the place of a sound one
    std::string state;     ///< "ok", the flaw (verify), or why it cannot be read now
};

/// The result of a removal. Files of others, or of another user, stay. `kept` names them and the reasons.
struct CacheRemoval {
    int removed = 0;
    std::int64_t bytes = 0;  ///< of the removed entries
    std::vector<std::string> kept;
};

/// The entries that may stay. Without limits, all may stay.
struct CacheLimits {
    std::optional<std::int64_t> bytes;  ///< of all entries together; the least recently used ones go first
    std::optional<std::chrono::seconds>
        age;  ///< since the last use, which is known to a day; entries unused for longer go
};

/// How long a process waits for another process that compiles the same kernel.
struct CachePatience {
    std::chrono::milliseconds quiet{5'000};  ///< without a message: longer than most compiles take
    /// In all. No compile takes this long. Past it, the holder is stopped or stuck, and a second compile does no harm.
    std::chrono::milliseconds longest{30'000};
};

/// Compiled kernels on disk: <root>/<kernel name>-<hash>/{kernel.cu, kernel.cubin | kernel.ptx, meta.json}. Entries are
/// atomic (written aside, synced, renamed), checked on load, and rebuilt if damaged. Threads and processes compile a
/// key once. A folder that cannot be used (unwritable, foreign, full) is logged once, and the cache then works as if
/// empty.
class KernelCache {
public:
    /// Either root may be empty. The writable root is made 0700 and must belong to the user. The read-only root may
    /// belong to anybody, but not everybody may write to it. A scratch cache does not wait for the disk.
    KernelCache(std::string root, std::string readonly_root, Durability durability = Durability::synced,
                CachePatience patience = {});
    ~KernelCache();

    struct Result {
        CompiledKernel kernel;
        CacheSource source = CacheSource::compiled;  ///< disk or compiled
        std::string directory;                       ///< absolute path of the entry; empty if nothing was stored
    };
    /// `kernel_cu` (banner and body) is stored beside the binary as kernel.cu. It never enters the key.
    [[nodiscard]] Result get_or_compile(const CompileRequest& request, Compiler& compiler,
                                        const std::string& kernel_cu);

    /// Whether the folders had an entry of that kernel's name when this was called first: they are listed once.
    [[nodiscard]] bool held(const std::string& kernel) const;
    /// Whether get_or_compile() would find the kernel.
    [[nodiscard]] bool has(const CompileRequest& request, Compiler& compiler) const;

    [[nodiscard]] const std::string& root() const;
    [[nodiscard]] std::vector<CacheEntry> entries(bool verify) const;
    [[nodiscard]] std::int64_t total_bytes() const;
    /// Why the folder is not used: somebody else owns it, or others may write to it. Empty if it is used, or if there
    /// is no folder.
    [[nodiscard]] std::string distrusted() const;
    /// Removes every entry (not tuning/).
    CacheRemoval clear();
    /// Removes damaged entries and left-over temporary folders.
    CacheRemoval drop_damaged();
    /// Removes entries beyond the limits, and left-over temporary folders. `dry` only reports them.
    CacheRemoval prune(const CacheLimits& limits, bool dry = false);
    /// For each stored entry of this kernel name: the key fields that differ from the request ("options",
    /// "nvrtc_version" ...), for `cache why`.
    [[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> explain_miss(
        const CompileRequest& request, int nvrtc_version, const std::string& nvrtc_build = {}) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The 32-digit hexadecimal XXH3-128 of all key fields.
[[nodiscard]] std::string cache_key(const CompileRequest& request, int nvrtc_version,
                                    const std::string& nvrtc_build = {});

}  // namespace jitgemm
