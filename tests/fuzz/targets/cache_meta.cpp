#include "runtime/cache/cache_meta.hpp"

#include "jitgemm/error.hpp"
#include "runtime/support/hash.hpp"
#include "runtime/support/json_limits.hpp"
#include "tests/fuzz/fuzz_targets.hpp"

#include <nlohmann/json.hpp>

namespace jitgemm::fuzz {
namespace {

/// The same with the checksum that it should have: no mutation finds it, and whoever writes a file can.
std::string with_checksum(std::string_view text) {
    check_json_limits(text);
    nlohmann::json fields = nlohmann::json::parse(text, nullptr, false);
    if (!fields.is_object()) return {};
    fields.erase("checksum");
    fields["checksum"] = hash_hex(fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
    return fields.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void cache_meta(std::string_view input) {
    try {
        static_cast<void>(parse_cache_meta(std::string(input)));
    } catch (const Error&) {
    }
    const CacheMeta meta = parse_cache_meta(with_checksum(input));
    if (parse_cache_meta(to_json(meta)).key != meta.key) __builtin_trap();
}

}  // namespace jitgemm::fuzz
