#pragma once

#include "runtime/compiler.hpp"
#include "runtime/file_system.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace jitgemm {

/// One entry as `cache ls` shows it.
struct CacheEntry {
    std::string directory;  ///< "<kernel name>-<hash>"
    std::string name;
    std::string arch;
    int nvrtc_version = 0;
    std::int64_t bytes = 0;  ///< all files of the entry
    double compile_ms = 0;
    int registers = 0;
    int spill_bytes = 0;
    std::string state;  ///< "ok", or what is wrong with it (verify)
};

/// Compiled kernels on disk: <root>/<kernel name>-<hash>/{kernel.cu, kernel.cubin | kernel.ptx, meta.json}.
/// Atomic (written aside, synced, renamed), checked on load, self-healing, one compile a key across threads and processes.
/// A folder that cannot be used (unwritable, foreign, full) is reported once on the log and the cache works as if empty.
class KernelCache {
public:
    /// Either root may be empty. The writable root is made 0700 and must belong to the user.
    /// A scratch cache does not wait for the disk.
    KernelCache(std::string root, std::string readonly_root, Durability durability = Durability::synced);
    ~KernelCache();

    struct Result {
        CompiledKernel kernel;
        CacheSource source = CacheSource::compiled;  ///< disk or compiled
        std::string directory;                       ///< absolute path of the entry; empty when nothing was stored
    };
    /// `kernel_cu` is stored beside the binary as kernel.cu (banner and body) and never enters the key.
    [[nodiscard]] Result get_or_compile(const CompileRequest& request, Compiler& compiler,
                                        const std::string& kernel_cu);

    [[nodiscard]] const std::string& root() const;
    [[nodiscard]] std::vector<CacheEntry> entries(bool verify) const;
    [[nodiscard]] std::int64_t total_bytes() const;
    /// Removes every entry (not tuning/); returns how many.
    int clear();
    /// Removes damaged entries and left-over temporary folders; returns how many.
    int drop_damaged();
    /// For each stored entry of that kernel name, which key fields differ from the request ("options", "nvrtc_version" ...); `cache why`.
    [[nodiscard]] std::vector<std::pair<std::string, std::vector<std::string>>> explain_miss(
        const CompileRequest& request, int nvrtc_version) const;

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// The 32-digit hexadecimal XXH3-128 of all key fields.
[[nodiscard]] std::string cache_key(const CompileRequest& request, int nvrtc_version);

}  // namespace jitgemm
