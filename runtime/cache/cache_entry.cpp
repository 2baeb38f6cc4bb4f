#include "runtime/cache/cache_entry.hpp"

#include "jitgemm/error.hpp"
#include "jitgemm/version.hpp"
#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/trust.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace jitgemm {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMetaFile = "/meta.json";
constexpr const char* kSourceFile = "/kernel.cu";
constexpr mode_t kFileMode = 0600;
constexpr std::array kFiles{kMetaFile, "/kernel.cubin", "/kernel.ptx", kSourceFile};

std::string binary_file_name(const std::string& arch) {
    return arch.starts_with("compute_") ? "kernel.ptx" : "kernel.cubin";
}

/// Errors that stay: the next attempt fares no better. Any other may pass, and what it hides may be sound.
bool is_lasting(const std::system_error& error) {
    constexpr std::array kLasting{std::errc::invalid_argument, std::errc::is_a_directory,
                                  std::errc::too_many_symbolic_link_levels, std::errc::no_such_device_or_address,
                                  std::errc::io_error};
    return std::any_of(kLasting.begin(), kLasting.end(), [&](std::errc one) { return error.code() == one; });
}

/// A file an entry must have.
std::string need(const std::string& directory, const std::string& file) {
    try {
        if (std::optional<std::string> text = read_file(directory + file)) return *std::move(text);
    } catch (const std::system_error& error) {
        if (is_lasting(error)) throw DamagedEntry(error.what());
        throw UnreadableEntry(error.what());
    }
    throw DamagedEntry(file.substr(1) + " is missing");
}

CacheMeta meta_of(const CompiledKernel& kernel, const KeyFields& key, const std::string& kernel_cu) {
    return {.name = kernel.name,
            .key = key,
            .binary_file = binary_file_name(kernel.arch),
            .binary_bytes = kernel.binary.size(),
            .binary_hash = hash_hex(kernel.binary),
            .source_bytes = kernel_cu.size(),
            .source_hash = hash_hex(kernel_cu),
            .report = kernel.report,
            .log = kernel.log,
            .compile_ms = kernel.compile_ms,
            .jitgemm_version = kVersion};
}

void check_key(const CacheMeta& meta, const KeyFields& wanted) {
    if (meta.key == wanted) return;
    throw DamagedEntry(
        fmt::format("meta.json is another kernel's: {} differ", fmt::join(differing_fields(meta.key, wanted), ", ")));
}

/// kernel.cu is a banner, of the shape that was asked first, and the body that was compiled.
void verify_source(const std::string& directory, const CacheMeta& meta) {
    const std::string source = need(directory, kSourceFile);
    const bool long_enough = source.size() >= meta.key.body_bytes;
    const std::string_view body =
        std::string_view(source).substr(long_enough ? source.size() - meta.key.body_bytes : 0);
    if (!long_enough || hash_hex(body) != meta.key.body_hash)
        throw DamagedEntry("kernel.cu is not the compiled source");
    if (!meta.source_hash.empty() && hash_hex(source) != meta.source_hash)
        throw DamagedEntry("kernel.cu does not match its checksum");
}

}  // namespace

bool holds_entry(const std::string& directory) {
    return is_folder(directory) && is_file(directory + kMetaFile) &&
           std::any_of(kFiles.begin(), kFiles.end(), [&](const char* file) {
               return file != std::string_view(kMetaFile) && is_file(directory + file);
           });
}

std::string foreign_file_in(const std::string& directory) {
    if (!is_folder(directory)) return {};
    std::error_code error;
    for (fs::directory_iterator file(directory, error), end; !error && file != end; file.increment(error)) {
        const std::string name = file->path().filename().string();
        const bool ours = std::find(kFiles.begin(), kFiles.end(), "/" + name) != kFiles.end();
        if (!ours || (is_folder(file->path()) && !fs::is_empty(file->path(), error))) return name;
    }
    return {};
}

void remove_entry_files(const std::string& directory) {
    const auto remove = [](const std::string& path) {
        if (std::remove(path.c_str()) == 0 || errno == ENOENT) return;
        log().debug("cannot remove {}: {}", path, std::generic_category().message(errno));
    };
    if (is_folder(directory)) {
        for (const char* file : kFiles) remove(directory + file);
    }
    remove(directory);
}

std::string entry_distrust(const std::string& directory, EntryOwner owner) {
    const auto reason_of = [&](const std::string& path) {
        const std::string reason = owner == EntryOwner::user ? foreign_owner(path) : std::string();
        return reason.empty() ? open_to_all(path) : reason;
    };
    std::string reason = reason_of(directory);
    for (const char* file : kFiles) {
        if (reason.empty()) reason = reason_of(directory + file);
    }
    return reason;
}

void require_trusted_entry(const std::string& directory, EntryOwner owner) {
    if (const std::string reason = entry_distrust(directory, owner); !reason.empty()) throw DamagedEntry(reason);
}

CacheMeta read_entry_meta(const std::string& directory) {
    const std::string text = need(directory, kMetaFile);
    try {
        return parse_cache_meta(text);
    } catch (const Error& error) {
        throw DamagedEntry(fmt::format("meta.json: {}", error.what()));
    }
}

CompiledKernel read_entry_binary(const std::string& directory, const CacheMeta& meta) {
    std::string binary = need(directory, "/" + binary_file_name(meta.key.arch));
    if (binary.size() != meta.binary_bytes) {
        throw DamagedEntry(fmt::format("{} has {} bytes, not {}", meta.binary_file, binary.size(), meta.binary_bytes));
    }
    if (hash_hex(binary) != meta.binary_hash) throw DamagedEntry(meta.binary_file + " does not match its checksum");
    return {.name = meta.name,
            .arch = meta.key.arch,
            .binary = std::move(binary),
            .log = meta.log,
            .report = meta.report,
            .compile_ms = meta.compile_ms,
            .nvrtc_version = meta.key.nvrtc_version,
            .nvrtc_build = meta.key.nvrtc_build};
}

std::optional<CompiledKernel> load_entry(const std::string& directory, const KeyFields& wanted) {
    std::error_code ignored;
    if (!fs::exists(directory, ignored)) return std::nullopt;
    const CacheMeta meta = read_entry_meta(directory);
    check_key(meta, wanted);
    return read_entry_binary(directory, meta);
}

void write_entry(const std::string& directory, const CompiledKernel& kernel, const KeyFields& key,
                 const std::string& kernel_cu, Durability durability) {
    if (::mkdir(directory.c_str(), 0700) != 0) throw_system_error("cannot make", directory);
    write_new_file(directory + kSourceFile, kernel_cu, kFileMode, durability);
    write_new_file(directory + "/" + binary_file_name(kernel.arch), kernel.binary, kFileMode, durability);
    write_new_file(directory + kMetaFile, to_json(meta_of(kernel, key, kernel_cu)), kFileMode, durability);
    if (durability == Durability::synced) sync_directory(directory);
}

void verify_entry(const std::string& directory) {
    const CacheMeta meta = read_entry_meta(directory);
    const std::string name = fs::path(directory).filename().string();
    if (key_hash(meta.key) != key_in_entry_name(name))
        throw DamagedEntry("meta.json is another kernel's: the folder's key differs");
    static_cast<void>(read_entry_binary(directory, meta));
    verify_source(directory, meta);
}

std::int64_t last_use(const std::string& directory) {
    const std::optional<FileStamp> stamp = file_stamp(directory + kMetaFile);
    return stamp ? stamp->mtime_ns / 1'000'000'000 : 0;
}

void mark_used(const std::string& directory) {
    if (::time(nullptr) - last_use(directory) < kMarkSeconds) return;
    ::utimensat(AT_FDCWD, (directory + kMetaFile).c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

}  // namespace jitgemm
