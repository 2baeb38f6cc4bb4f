#include "runtime/cache_entry.hpp"

#include "runtime/file_descriptor.hpp"
#include "runtime/file_system.hpp"
#include "runtime/hash.hpp"
#include "runtime/jitgemm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace jitgemm {
namespace {

constexpr const char* kMetaFile = "/meta.json";
constexpr const char* kSourceFile = "/kernel.cu";
constexpr mode_t kFileMode = 0600;
constexpr std::size_t kKeyDigits = 32;
constexpr std::size_t kMostNameLetters = 200;

bool is_hex_digit(char letter) { return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'); }

bool has_place_in_a_name(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '.' || letter == '-';
}

std::string binary_file_name(const std::string& arch) {
    return arch.starts_with("compute_") ? "kernel.ptx" : "kernel.cubin";
}

/// A file an entry must have.
std::string need(const std::string& directory, const std::string& file) {
    try {
        if (std::optional<std::string> text = read_file(directory + file)) return *std::move(text);
    } catch (const std::system_error& error) {
        throw DamagedEntry(error.what());
    }
    throw DamagedEntry(file.substr(1) + " is missing");
}

CacheMeta meta_of(const CompiledKernel& kernel, const KeyFields& key) {
    return {.name = kernel.name,
            .key = key,
            .binary_file = binary_file_name(kernel.arch),
            .binary_bytes = kernel.binary.size(),
            .binary_hash = hash_hex(kernel.binary),
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

/// kernel.cu is a banner that may differ between shapes, then the body that was compiled.
void verify_source(const std::string& directory, const KeyFields& key) {
    const std::string source = need(directory, kSourceFile);
    const bool long_enough = source.size() >= key.body_bytes;
    const std::string_view body = std::string_view(source).substr(long_enough ? source.size() - key.body_bytes : 0);
    if (!long_enough || hash_hex(body) != key.body_hash) throw DamagedEntry("kernel.cu is not what was compiled");
}

}  // namespace

std::string entry_prefix(const std::string& kernel_name) {
    std::string prefix = kernel_name.substr(0, kMostNameLetters);
    std::replace_if(
        prefix.begin(), prefix.end(), [](char letter) { return !has_place_in_a_name(letter); }, '_');
    if (prefix.empty() || prefix.front() == '.') prefix.insert(0, "_");
    return prefix + "-";
}

std::string entry_name(const std::string& kernel_name, const KeyFields& key) {
    return entry_prefix(kernel_name) + key_hash(key);
}

bool is_entry_name(std::string_view text) {
    if (text.size() < kKeyDigits + 2 || text[text.size() - kKeyDigits - 1] != '-') return false;
    const std::string_view key = key_in_entry_name(text);
    return std::all_of(key.begin(), key.end(), is_hex_digit);
}

std::string_view key_in_entry_name(std::string_view entry) { return entry.substr(entry.size() - kKeyDigits); }

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
            .nvrtc_version = meta.key.nvrtc_version};
}

std::optional<CompiledKernel> load_entry(const std::string& directory, const KeyFields& wanted) {
    std::error_code ignored;
    if (!std::filesystem::exists(directory, ignored)) return std::nullopt;
    const CacheMeta meta = read_entry_meta(directory);
    check_key(meta, wanted);
    return read_entry_binary(directory, meta);
}

void write_entry(const std::string& directory, const CompiledKernel& kernel, const KeyFields& key,
                 const std::string& kernel_cu, Durability durability) {
    if (::mkdir(directory.c_str(), 0700) != 0) throw_system_error("cannot make", directory);
    write_new_file(directory + kSourceFile, kernel_cu, kFileMode, durability);
    write_new_file(directory + "/" + binary_file_name(kernel.arch), kernel.binary, kFileMode, durability);
    write_new_file(directory + kMetaFile, to_json(meta_of(kernel, key)), kFileMode, durability);
    if (durability == Durability::synced) sync_directory(directory);
}

void verify_entry(const std::string& directory) {
    const CacheMeta meta = read_entry_meta(directory);
    const std::string name = std::filesystem::path(directory).filename().string();
    if (key_hash(meta.key) != key_in_entry_name(name))
        throw DamagedEntry("meta.json is another kernel's: the folder's key differs");
    static_cast<void>(read_entry_binary(directory, meta));
    verify_source(directory, meta.key);
}

}  // namespace jitgemm
