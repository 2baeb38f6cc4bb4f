#include "runtime/compiler/nvrtc_options.hpp"

#include "jitgemm/error.hpp"
#include "runtime/compiler/nvrtc.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace jitgemm {
namespace {

struct OptionRow {
    std::string_view prefix;
    int first_nvrtc;
};

/// Options newer than kOldestNvrtc, each tried on the wheels 12.4, 12.8 and 12.9.
constexpr std::array<OptionRow, 5> kNewOptions{{
    {"--no-cache", 129},
    {"-no-cache", 129},
    {"--pch", 128},
    {"-pch", 128},
    {"--fdevice-time-trace", 128},
}};

/// NVRTC keeps a cache of its own beside the driver's, from 12.9 on. Ours makes it useless, and compile times are to be
/// true.
constexpr const char* kNoCache = "--no-cache";

void require(const std::string& option, int nvrtc_version) {
    const int first = first_nvrtc_of_option(option);
    if (first <= nvrtc_version) return;
    throw CompileError(fmt::format("option {} needs NVRTC {}, but this is {}", option, nvrtc_version_text(first),
                                   nvrtc_version_text(nvrtc_version)),
                       {});
}

}  // namespace

int first_nvrtc_of_option(const std::string& option) {
    for (const OptionRow& row : kNewOptions) {
        if (option.starts_with(row.prefix)) return row.first_nvrtc;
    }
    return kOldestNvrtc;
}

std::vector<std::string> nvrtc_options(const CompileRequest& request, int nvrtc_version) {
    std::vector<std::string> options{"--gpu-architecture=" + request.arch};
    for (const std::string& option : request.options) {
        require(option, nvrtc_version);
        options.push_back(option);
    }
    if (first_nvrtc_of_option(kNoCache) <= nvrtc_version) options.emplace_back(kNoCache);
    return options;
}

}  // namespace jitgemm
