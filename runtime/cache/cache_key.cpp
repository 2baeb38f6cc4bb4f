#include "runtime/cache/cache_key.hpp"

#include "runtime/cache/kernel_cache.hpp"
#include "runtime/support/hash.hpp"

#include <fmt/format.h>

namespace jitgemm {

KeyFields key_fields(const CompileRequest& request, int nvrtc_version, const std::string& nvrtc_build) {
    return {.body_hash = hash_hex(request.body),
            .body_bytes = request.body.size(),
            .arch = request.arch,
            .options = request.options,
            .nvrtc_version = nvrtc_version,
            .nvrtc_build = nvrtc_build};
}

std::string key_hash(const KeyFields& fields) {
    std::string text = fmt::format("jitgemm cache {}\nbody {} {}\narch {}\nnvrtc {}\n", fields.format, fields.body_hash,
                                   fields.body_bytes, fields.arch, fields.nvrtc_version);
    if (!fields.nvrtc_build.empty()) text += fmt::format("build {}\n", fields.nvrtc_build);  // format 1 has none
    // With its length in front no option can pass for two.
    for (const std::string& option : fields.options) text += fmt::format("option {} {}\n", option.size(), option);
    return hash_hex(text);
}

std::vector<std::string> differing_fields(const KeyFields& one, const KeyFields& other) {
    std::vector<std::string> names;
    if (one.format != other.format) names.emplace_back("format");
    if (one.body_hash != other.body_hash || one.body_bytes != other.body_bytes) names.emplace_back("body");
    if (one.arch != other.arch) names.emplace_back("arch");
    if (one.options != other.options) names.emplace_back("options");
    if (one.nvrtc_version != other.nvrtc_version) names.emplace_back("nvrtc_version");
    if (one.nvrtc_build != other.nvrtc_build) names.emplace_back("nvrtc_build");
    return names;
}

std::string cache_key(const CompileRequest& request, int nvrtc_version, const std::string& nvrtc_build) {
    return key_hash(key_fields(request, nvrtc_version, nvrtc_build));
}

}  // namespace jitgemm
