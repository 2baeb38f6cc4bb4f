#include "generator/kernel_set.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace jitgemm {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "kernel-set-v1";

[[noreturn]] void refuse(std::string reason) { throw SpecError("no kernel set", {std::move(reason)}); }

template <typename Value>
Value value_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end()) refuse(fmt::format("'{}' is missing", key));
    try {
        return found->get<Value>();
    } catch (const Json::exception&) {
        refuse(fmt::format("'{}' is {}, which has another type than expected", key, found->dump()));
    }
}

Json json_of(const SetKernel& kernel) {
    return {{"name", kernel_name(kernel.id)}, {"body", kernel.body},
            {"align_a", kernel.spec.align_a}, {"align_b", kernel.spec.align_b},
            {"align_c", kernel.spec.align_c}, {"align_d", kernel.spec.align_d}};
}

SetKernel kernel_of(const Json& json, const GemmSpec& spec) {
    SetKernel kernel{parse_kernel_name(value_of<std::string>(json, "name")), spec, value_of<std::size_t>(json, "body")};
    kernel.spec.align_a = value_of<int>(json, "align_a");
    kernel.spec.align_b = value_of<int>(json, "align_b");
    kernel.spec.align_c = value_of<int>(json, "align_c");
    kernel.spec.align_d = value_of<int>(json, "align_d");
    return kernel;
}

Json json_of(const KernelRange& range) {
    return {
        {"first_m", range.first_m}, {"last_m", range.last_m}, {"multiple", range.multiple}, {"kernel", range.kernel}};
}

KernelRange range_of(const Json& json, std::size_t kernels) {
    const KernelRange range{value_of<std::int64_t>(json, "first_m"), value_of<std::int64_t>(json, "last_m"),
                            value_of<std::int64_t>(json, "multiple"), value_of<std::size_t>(json, "kernel")};
    if (range.kernel >= kernels) refuse(fmt::format("kernel {} of a range: there are {}", range.kernel, kernels));
    if (range.multiple < 1) refuse(fmt::format("multiple {} of a range is less than 1", range.multiple));
    for (const std::int64_t m : {range.first_m, range.last_m})
        if (m % range.multiple != 0) refuse(fmt::format("a range ends at m={}, no multiple of {}", m, range.multiple));
    return range;
}

/// Each kernel serves a range, and bodies are numbered from 0.
void check_kernels(const KernelSet& set) {
    for (std::size_t i = 0; i < set.kernels.size(); ++i) {
        if (std::ranges::find(set.ranges, i, &KernelRange::kernel) == set.ranges.end())
            refuse(fmt::format("kernel {} has no range", i));
        const std::size_t body = set.kernels[i].body;
        if (body >= set.kernels.size()) refuse(fmt::format("body {} of kernel {} is too large", body, i));
    }
}

/// By multiple, the largest first; then by m; and each m of the set is in one.
void check_ranges(const KernelSet& set) {
    const KernelRange* before = nullptr;
    for (const KernelRange& range : set.ranges) {
        const bool follows = before == nullptr || range.multiple < before->multiple ||
                             (range.multiple == before->multiple && range.first_m > before->last_m);
        if (!follows || range.first_m > range.last_m || range.first_m < set.first_m || range.last_m > set.last_m)
            refuse(fmt::format("range {}:{} is out of order", range.first_m, range.last_m));
        before = &range;
    }
    for (const std::int64_t m : sampled_rows(set.first_m, set.last_m)) {
        const KernelRange* const range = set.find(m);
        if (range == nullptr) refuse(fmt::format("no range has m={}", m));
    }
}

const Json& list_of(const Json& json, const char* key) {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_array()) refuse(fmt::format("'{}' is no list", key));
    return *found;
}

}  // namespace

std::string to_json(const KernelSet& set) {
    Json json{{"format", kFormat},
              {"spec", to_string(set.spec)},
              {"first_m", set.first_m},
              {"last_m", set.last_m},
              {"gpu", set.gpu},
              {"mean_ratio", set.mean_ratio},
              {"worst_ratio", set.worst_ratio},
              {"worst_m", set.worst_m}};
    json["kernels"] = Json::array();
    json["ranges"] = Json::array();
    for (const SetKernel& kernel : set.kernels) json["kernels"].push_back(json_of(kernel));
    for (const KernelRange& range : set.ranges) json["ranges"].push_back(json_of(range));
    return json.dump(2) + "\n";
}

KernelSet parse_kernel_set(std::string_view text) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) refuse("the text is no JSON object");
    const auto format = value_of<std::string>(json, "format");
    if (format != kFormat) refuse(fmt::format("its format is {}, this version reads {}", format, kFormat));
    KernelSet set;
    set.spec = parse_gemm_spec(value_of<std::string>(json, "spec"));
    set.first_m = value_of<std::int64_t>(json, "first_m");
    set.last_m = value_of<std::int64_t>(json, "last_m");
    set.gpu = value_of<std::string>(json, "gpu");
    set.mean_ratio = value_of<double>(json, "mean_ratio");
    set.worst_ratio = value_of<double>(json, "worst_ratio");
    set.worst_m = value_of<std::int64_t>(json, "worst_m");
    for (const Json& one : list_of(json, "kernels")) set.kernels.push_back(kernel_of(one, set.spec));
    for (const Json& one : list_of(json, "ranges")) set.ranges.push_back(range_of(one, set.kernels.size()));
    check_kernels(set);
    check_ranges(set);
    return set;
}

std::string to_string(const KernelSet& set) {
    std::string text =
        fmt::format("{} {} m={}:{} n={} k={} on {}: {} kernels\n", operand_types(set.spec), to_string(set.spec.layout),
                    set.first_m, set.last_m, set.spec.n, set.spec.k, set.gpu, set.body_count());
    text += fmt::format("Predicted: best time over served time is {:.3f} in the mean, {:.3f} at worst (m={})\n\n",
                        set.mean_ratio, set.worst_ratio, set.worst_m);
    for (std::size_t i = 0; i < set.kernels.size(); ++i)
        text += fmt::format("{:>4}  {}\n", i, kernel_name(set.kernels[i].id));
    text += fmt::format("\n{:>10}  {:>10}  {:>8}  {:>6}\n", "first m", "last m", "multiple", "kernel");
    for (const KernelRange& range : set.ranges)
        text +=
            fmt::format("{:>10}  {:>10}  {:>8}  {:>6}\n", range.first_m, range.last_m, range.multiple, range.kernel);
    return text;
}

}  // namespace jitgemm
