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
    bool is_ptx = false;   ///< no registers yet: the driver's or the emulator's to choose
    bool damaged = false;  ///< not to be used, and in the way of a sound one
    std::string state;     ///< "ok", what is wrong with it (verify), or why it cannot be read just now
};

/// What a removal did. Files that are not the cache's, or not the user's, stay, and `kept` says which and why.
struct CacheRemoval {
    int removed = 0;
    std::int64_t bytes = 0;  ///< of what was removed
    std::vector<std::string> kept;
};

/// Which entries may stay; none of both: all.
struct CacheLimits {
    std::optional<std::int64_t> bytes;        ///< of all entries together; those not used for longest go first
    std::optional<std::chrono::seconds> age;  ///< since the last use, which is known to a day: none used since goes
};

/// How long a process waits for another one that compiles the same kernel.
struct CachePatience {
    std::chrono::milliseconds quiet{5'000};  ///< without a word: longer than most compiles take
    /// In all: longer than any compile takes. Past it the holder is stopped or stuck, and a second compile does no
    /// harm.
    std::chrono::milliseconds longest{30'000};
};

/// Compiled kernels on disk: <root>/<kernel name>-<hash>/{kernel.cu, kernel.cubin | kernel.ptx, meta.json}. Atomic
/// (written aside, synced, renamed), checked on load, self-healing, one compile per key across threads and processes. A
/// folder that cannot be used (unwritable, foreign, full) is reported once on the log and the cache works as if empty.
class KernelCache {
public:
    /// Either root may be empty. The writable root is made 0700 and must belong to the user. The other may belong to
    /// anybody, but not everybody may write to it. A scratch cache does not wait for the disk.
    KernelCache(std::string root, std::string readonly_root, Durability durability = Durability::synced,
                CachePatience patience = {});
    ~KernelCache();

    struct Result {
        CompiledKernel kernel;
        CacheSource source = CacheSource::compiled;  ///< disk or compiled
        std::string directory;                       ///< absolute path of the entry; empty when nothing was stored
    };
    /// `kernel_cu` is stored beside the binary as kernel.cu (banner and body) and never enters the key.
    [[nodiscard]] Result get_or_compile(const CompileRequest& request, Compiler& compiler,
                                        const std::string& kernel_cu);

    /// Whether the folders had an entry of that kernel's name when this was called first: they are listed once.
    [[nodiscard]] bool held(const std::string& kernel) const;
    /// Whether get_or_compile() would find the kernel.
    [[nodiscard]] bool has(const CompileRequest& request, Compiler& compiler) const;

    [[nodiscard]] const std::string& root() const;
    [[nodiscard]] std::vector<CacheEntry> entries(bool verify) const;
    [[nodiscard]] std::int64_t total_bytes() const;
    /// Why the folder is not used: it is somebody else's, or others may write to it; empty when it is, or is not there.
    [[nodiscard]] std::string distrusted() const;
    /// Removes every entry (not tuning/).
    CacheRemoval clear();
    /// Removes damaged entries and left-over temporary folders.
    CacheRemoval drop_damaged();
    /// Removes entries beyond the limits, and left-over temporary folders; `dry`: only tells which would go.
    CacheRemoval prune(const CacheLimits& limits, bool dry = false);
    /// For each stored entry of that kernel name, which key fields differ from the request ("options", "nvrtc_version"
    /// ...); `cache why`.
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
