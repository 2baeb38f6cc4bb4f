#include "generator/families/shared/cost_table.hpp"

#include "jitgemm/error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>

namespace jitgemm {
namespace {

using Json = nlohmann::json;

/// The table for GPUs whose architecture has none.
constexpr std::string_view kOtherArchitectures = "h200";

Json parsed(std::string_view text, const std::string& file) {
    Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) throw Error(fmt::format("{} is no JSON object", file));
    return json;
}

const GpuModel& gpu_of(const Json& json, const std::string& file) {
    if (!json.contains("gpu") || !json["gpu"].is_string()) throw Error(fmt::format("{} names no \"gpu\"", file));
    try {
        return find_gpu(json["gpu"].get<std::string>());
    } catch (const SpecError& error) {
        throw Error(fmt::format("{}: {}", file, error.what()));
    }
}

/// Fits vary constants by factors, so that none may be zero.
double value_of(const Json& value, const std::string& file, const std::string& section, const std::string& name) {
    if (value.is_number() && value.get<double>() > 0) return value.get<double>();
    throw Error(fmt::format("{}: {}.{} is {}, but must be a positive number", file, section, name, value.dump()));
}

/// Zero for the same SMs and bandwidth, else larger the less alike the GPUs are.
double difference(const GpuModel& one, const GpuModel& other) {
    if (one.arch != other.arch && one.arch->name != other.arch->name) return std::numeric_limits<double>::infinity();
    const auto ratio = [](double a, double b) { return std::max(a / b, b / a); };
    return ratio(one.sm_count, other.sm_count) * ratio(one.dram_bytes_per_second, other.dram_bytes_per_second) - 1;
}

}  // namespace

CostTable::CostTable(std::string_view text, std::string file) : file_(std::move(file)) {
    const Json json = parsed(text, file_);
    gpu_ = &gpu_of(json, file_);
    for (const auto& [section, constants] : json.items()) {
        if (section == "gpu" || section == "measured") continue;
        if (!constants.is_object()) throw Error(fmt::format("{}: {} is no JSON object", file_, section));
        for (const auto& [name, value] : constants.items())
            sections_[section][name] = value_of(value, file_, section, name);
    }
}

std::vector<std::string> CostTable::sections() const {
    std::vector<std::string> names;
    for (const auto& [name, constants] : sections_) names.push_back(name);
    return names;
}

std::vector<double> CostTable::values(const CostSection& section) const {
    const auto found = sections_.find(std::string(section.name));
    if (found == sections_.end()) throw Error(fmt::format("{} has no {}", file_, section.name));
    std::vector<double> values;
    for (const CostField& field : section.fields) {
        const auto constant = found->second.find(std::string(field.name));
        if (constant == found->second.end())
            throw Error(
                fmt::format("{} has no {}.{} ({}): {}", file_, section.name, field.name, field.unit, field.meaning));
        values.push_back(constant->second);
    }
    for (const auto& [name, value] : found->second)
        if (std::ranges::find(section.fields, name, &CostField::name) == section.fields.end())
            throw Error(fmt::format("{}: {}.{} is no constant of this model", file_, section.name, name));
    return values;
}

const std::vector<CostTable>& cost_tables() {
    static const std::vector<CostTable> tables = [] {
        std::vector<CostTable> read;
        for (const auto& [name, text] : embedded_cost_tables()) read.emplace_back(text, "cost/" + name);
        if (std::ranges::none_of(read, [](const CostTable& one) { return one.gpu().name == kOtherArchitectures; }))
            throw Error(fmt::format("cost/ has no table of the {}", kOtherArchitectures));
        return read;
    }();
    return tables;
}

std::size_t nearest_cost_table(const GpuModel& gpu) {
    const std::vector<CostTable>& tables = cost_tables();
    if (tables.size() == 1) return 0;  // every prediction asks for its table
    std::size_t nearest = 0;
    while (tables[nearest].gpu().name != kOtherArchitectures) ++nearest;
    for (std::size_t i = 0; i < tables.size(); ++i)
        if (difference(tables[i].gpu(), gpu) < difference(tables[nearest].gpu(), gpu)) nearest = i;
    return nearest;
}

}  // namespace jitgemm
