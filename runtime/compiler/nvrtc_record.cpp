#include "runtime/compiler/nvrtc_record.hpp"

#include "runtime/compiler/nvrtc_search.hpp"
#include "runtime/support/file_system.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/json_limits.hpp"
#include "runtime/support/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <exception>

namespace jitgemm {
namespace {

constexpr int kRecordFormat = 2;

/// One file for each list of candidates, so that programs with different settings do not overwrite each other's.
std::string record_path(const std::string& directory, const std::vector<std::string>& candidates, int newest_major) {
    const std::string search = fmt::format("{}\n{}", newest_major, fmt::join(candidates, "\n"));
    return fmt::format("{}/nvrtc-{}.json", directory, hash_hex(search).substr(0, 16));
}

NvrtcIdentity identity_in(const nlohmann::json& record, const std::string& fingerprint) {
    const bool same_search = record.at("format") == kRecordFormat && record.at("fingerprint") == fingerprint;
    if (!same_search) return {};
    const std::optional<FileStamp> now = file_stamp(record.at("library").get<std::string>());
    const FileStamp then{record.at("size").get<std::uint64_t>(), record.at("mtime_ns").get<std::int64_t>()};
    if (now != then) return {};
    return {record.at("nvrtc_version").get<int>(), record.at("nvrtc_build").get<std::string>()};
}

nlohmann::json make_record(const NvrtcIdentity& identity, const std::string& library, const FileStamp& stamp,
                           const std::string& fingerprint) {
    return {{"format", kRecordFormat},      {"fingerprint", fingerprint}, {"library", library},
            {"size", stamp.size},           {"mtime_ns", stamp.mtime_ns}, {"nvrtc_version", identity.version},
            {"nvrtc_build", identity.build}};
}

}  // namespace

NvrtcRecord::NvrtcRecord(std::string directory, const std::vector<std::string>& candidates, int newest_major)
    : directory_(std::move(directory)) {
    if (directory_.empty()) return;
    path_ = record_path(directory_, candidates, newest_major);
    fingerprint_ = search_fingerprint(candidates, newest_major);
}

NvrtcIdentity NvrtcRecord::read() const {
    if (directory_.empty() || !distrust(directory_).empty()) return {};
    try {
        const std::optional<std::string> text = read_file(path_);
        if (!text) return {};
        check_json_limits(*text);
        return identity_in(nlohmann::json::parse(*text), fingerprint_);
    } catch (const std::exception& error) {
        log().debug("ignoring {}: {}", path_, error.what());
        return {};
    }
}

void NvrtcRecord::write(const NvrtcIdentity& identity, const std::string& library) const {
    const std::optional<FileStamp> stamp = file_stamp(library);
    if (directory_.empty() || !stamp || !distrust(directory_).empty()) return;
    try {
        make_private_directories(directory_);
        write_file_atomically(path_, make_record(identity, library, *stamp, fingerprint_).dump(2) + "\n");
    } catch (const std::exception& error) {
        log().debug("cannot remember the NVRTC version: {}", error.what());
    }
}

}  // namespace jitgemm
