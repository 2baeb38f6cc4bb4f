#include "runtime/c_api/kernel_query.hpp"

#include "jitgemm/kernel_info.hpp"
#include "runtime/c_api/find_row.hpp"
#include "runtime/c_api/status.hpp"
#include "runtime/context/context_state.hpp"
#include "runtime/support/spec_json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

namespace jitgemm::c_api {
namespace {

using Json = nlohmann::ordered_json;

/// The problem's fields as in every document of the tool's, then the kernel's.
std::string json_of(const GemmKernel& kernel) {
    const KernelInfo& info = kernel.info();
    Json json = to_json(kernel.spec());
    json["kernel"] = info.name;
    json["arch"] = info.arch;
    json["registers"] = info.registers;
    json["spill_bytes"] = info.spill_bytes;
    json["stack_bytes"] = info.stack_bytes;
    json["threads"] = info.threads;
    json["shared_bytes"] = info.shared_bytes;
    json["blocks"] = info.blocks;
    json["workspace_bytes"] = kernel.workspace_bytes();
    json["compile_ms"] = info.compile_ms;
    json["cache"] = to_string(info.cache);
    json["choice"] = to_string(info.choice);
    json["choice_reason"] = info.choice_reason;
    json["warnings"] = info.warnings;
    return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// With its closing 0.
std::string text(std::string answer) {
    answer.push_back('\0');
    return answer;
}

std::string bytes_of(std::uint64_t number) {
    std::string bytes(sizeof number, '\0');
    std::memcpy(bytes.data(), &number, sizeof number);
    return bytes;
}

struct Question {
    std::string_view what;
    std::string (*answer)(const GemmKernel&);
};

constexpr std::array kQuestions{
    Question{"name", [](const GemmKernel& kernel) { return text(kernel.info().name); }},
    Question{"spec", [](const GemmKernel& kernel) { return text(to_string(kernel.spec())); }},
    Question{"source", [](const GemmKernel& kernel) { return text(kernel.source()); }},
    Question{"json", [](const GemmKernel& kernel) { return text(json_of(kernel)); }},
    Question{"cubin", [](const GemmKernel& kernel) { return state_of(kernel).compiled().binary; }},
    Question{"prepared-a", [](const GemmKernel& kernel) { return bytes_of(kernel.prepared_a_bytes()); }},
    Question{"prepared-b", [](const GemmKernel& kernel) { return bytes_of(kernel.prepared_b_bytes()); }},
    Question{"workspace", [](const GemmKernel& kernel) { return bytes_of(kernel.workspace_bytes()); }},
};

}  // namespace

void write_answer(const std::string& answer, std::string_view what, void* buffer, std::size_t& size) {
    const std::size_t room = std::exchange(size, answer.size());
    if (buffer == nullptr) return;
    if (room < answer.size())
        throw InvalidArgument(fmt::format("{} needs {} bytes, but the buffer has {}", what, answer.size(), room));
    std::memcpy(buffer, answer.data(), answer.size());
}

void query(const GemmKernel& kernel, std::string_view what, void* buffer, std::size_t& size) {
    write_answer(find_row(kQuestions, &Question::what, "query", what).answer(kernel), what, buffer, size);
}

}  // namespace jitgemm::c_api
