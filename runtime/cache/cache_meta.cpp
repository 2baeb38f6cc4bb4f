#include "runtime/cache/cache_meta.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/json_limits.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <concepts>
#include <cstdint>
#include <utility>

namespace jitgemm {
namespace {

using nlohmann::json;

/// NVRTC's log quotes source lines, which may hold any bytes. Bytes that are not UTF-8 are replaced.
std::string text_of(const json& value, int indent) {
    return value.dump(indent, ' ', false, json::error_handler_t::replace);
}

std::string checksum(const json& fields) { return hash_hex(text_of(fields, -1)); }

/// nlohmann would cut a number that is no whole one, or too large, to what the type can hold.
template <std::integral T>
T whole_number(const json& fields, const char* name) {
    const json& value = fields.at(name);
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<T>(value.get<std::uint64_t>())
                          : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
    if (!fits) throw Error(fmt::format("{} is not an integer or is out of range", name));
    return value.get<T>();
}

json key_json(const KeyFields& key) {
    return {{"format", key.format},          {"body_hash", key.body_hash},
            {"body_bytes", key.body_bytes},  {"arch", key.arch},
            {"options", key.options},        {"nvrtc_version", key.nvrtc_version},
            {"nvrtc_build", key.nvrtc_build}};
}

json report_json(const PtxasReport& report) {
    return {{"registers", report.registers},
            {"spill_store_bytes", report.spill_store_bytes},
            {"spill_load_bytes", report.spill_load_bytes},
            {"stack_bytes", report.stack_bytes},
            {"static_shared_bytes", report.static_shared_bytes},
            {"warnings", report.warnings}};
}

KeyFields parse_key(const json& fields) {
    return {.format = whole_number<int>(fields, "format"),
            .body_hash = fields.at("body_hash"),
            .body_bytes = whole_number<std::size_t>(fields, "body_bytes"),
            .arch = fields.at("arch"),
            .options = fields.at("options"),
            .nvrtc_version = whole_number<int>(fields, "nvrtc_version"),
            .nvrtc_build = fields.value("nvrtc_build", "")};
}

PtxasReport parse_report(const json& fields) {
    return {.registers = whole_number<int>(fields, "registers"),
            .spill_store_bytes = whole_number<int>(fields, "spill_store_bytes"),
            .spill_load_bytes = whole_number<int>(fields, "spill_load_bytes"),
            .stack_bytes = whole_number<int>(fields, "stack_bytes"),
            .static_shared_bytes = whole_number<int>(fields, "static_shared_bytes"),
            .warnings = fields.at("warnings")};
}

CacheMeta parse_fields(json fields) {
    const std::string stored = fields.at("checksum");
    fields.erase("checksum");
    if (checksum(fields) != stored) throw Error("its checksum does not match");
    const json source = fields.value("source", json::object());
    return {.name = fields.at("name"),
            .key = parse_key(fields.at("key")),
            .binary_file = fields.at("binary").at("file"),
            .binary_bytes = whole_number<std::size_t>(fields.at("binary"), "bytes"),
            .binary_hash = fields.at("binary").at("hash"),
            .source_bytes = source.empty() ? 0 : whole_number<std::size_t>(source, "bytes"),
            .source_hash = source.value("hash", ""),
            .report = parse_report(fields.at("ptxas")),
            .log = fields.at("log"),
            .compile_ms = fields.at("compile_ms"),
            .jitgemm_version = fields.at("jitgemm")};
}

}  // namespace

std::string to_json(const CacheMeta& meta) {
    json fields{{"name", meta.name},
                {"key", key_json(meta.key)},
                {"binary", {{"file", meta.binary_file}, {"bytes", meta.binary_bytes}, {"hash", meta.binary_hash}}},
                {"source", {{"bytes", meta.source_bytes}, {"hash", meta.source_hash}}},
                {"ptxas", report_json(meta.report)},
                {"log", meta.log},
                {"compile_ms", meta.compile_ms},
                {"jitgemm", meta.jitgemm_version}};
    fields["checksum"] = checksum(fields);
    return text_of(fields, 2) + "\n";
}

CacheMeta parse_cache_meta(const std::string& text) {
    check_json_limits(text);
    try {
        return parse_fields(json::parse(text));
    } catch (const json::exception& error) {
        throw Error(error.what());
    }
}

}  // namespace jitgemm
