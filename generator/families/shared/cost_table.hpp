#pragma once

#include "generator/base/arch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jitgemm {

/// \file The constants of the cost models are data: a file cost/<gpu>.json for each GPU that was measured, which the
/// build embeds. A model lists its constants once, as a CostSection, and reads them by name: costs["launch_us"]. A name
/// that the section lacks does not compile.

/// A constant of a cost model.
struct CostField {
    std::string_view name;
    std::string_view unit;
    std::string_view meaning;  ///< one sentence
};

/// The constants of one model: a family's, or those that belong to the GPU.
struct CostSection {
    std::string_view name;
    std::span<const CostField> fields;
};

/// One file of cost/.
class CostTable {
public:
    /// Throws Error, which names the file and the constant, for a text that is no table.
    CostTable(std::string_view text, std::string file);

    [[nodiscard]] const GpuModel& gpu() const { return *gpu_; }
    [[nodiscard]] std::vector<std::string> sections() const;
    /// The section's values in the order of its fields. Throws Error, which names the file and the constant, where one
    /// is missing or unknown.
    [[nodiscard]] std::vector<double> values(const CostSection& section) const;

private:
    std::string file_;
    const GpuModel* gpu_;
    std::map<std::string, std::map<std::string, double>> sections_;
};

/// The files of cost/ by name, as they were when the library was built (cmake/embed.cmake writes the definition).
[[nodiscard]] std::map<std::string, std::string, std::less<>> embedded_cost_tables();
[[nodiscard]] const std::vector<CostTable>& cost_tables();

/// The index of the table of the most similar GPU: of the same architecture, and of the nearest size and bandwidth. A
/// GPU whose architecture has no table takes that of the H200: relations between units change less from one generation
/// to the next than their peaks, which the GPU model knows.
[[nodiscard]] std::size_t nearest_cost_table(const GpuModel& gpu);

/// A constant's place in a section, found at compile time.
template <const auto& Fields>
struct CostKey {
    consteval CostKey(const char* name)  // NOLINT(google-explicit-constructor): costs["launch_us"]
        : index(static_cast<std::size_t>(std::ranges::find(Fields, std::string_view(name), &CostField::name) -
                                         std::ranges::begin(Fields))) {
        if (index == std::size(Fields)) throw "the section has no constant of this name";
    }
    std::size_t index;
};

/// The values of one section. `Fields` is its array of CostField, `Name` what the tables call it.
template <const auto& Name, const auto& Fields>
class Costs {
public:
    static constexpr CostSection kSection{Name, Fields};

    explicit Costs(std::span<const double> values) { std::ranges::copy(values, values_.begin()); }
    /// From the table that serves the GPU; read once.
    [[nodiscard]] static const Costs& of(const GpuModel& gpu) {
        static const std::vector<Costs> by_table = [] {
            std::vector<Costs> all;
            for (const CostTable& table : cost_tables()) all.emplace_back(table.values(kSection));
            return all;
        }();
        return by_table[nearest_cost_table(gpu)];
    }

    [[nodiscard]] double operator[](CostKey<Fields> key) const { return values_[key.index]; }
    [[nodiscard]] std::span<const double> values() const { return values_; }

private:
    std::array<double, std::size(Fields)> values_{};
};

}  // namespace jitgemm
