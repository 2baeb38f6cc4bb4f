#include "generator/families/shared/cost_table.hpp"

#include "generator/families/family.hpp"
#include "generator/families/shared/hardware_costs.hpp"
#include "generator/families/shared/simt_cost_constants.hpp"
#include "generator/families/wgmma_warp_specialized/cost_constants.hpp"
#include "jitgemm/error.hpp"
#include "tests/catch.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::string_view kModelName = "a_model";
constexpr auto kModelFields = std::to_array<CostField>({{"launch_us", "us", "A launch."}, {"share", "share", "Lost."}});
constexpr CostSection kModel{kModelName, kModelFields};

std::vector<double> values_in(std::string_view model) {
    return CostTable(fmt::format(R"({{"gpu": "h100", "a_model": {}}})", model), "cost/h100.json").values(kModel);
}

}  // namespace

TEST_CASE("cost table: values come in the order of the fields, whatever the file's") {
    CHECK(values_in(R"({"share": 0.25, "launch_us": 3})") == std::vector{3.0, 0.25});
}

TEST_CASE("cost table: an error names the file and the constant") {
    const auto refused = [](std::string_view model, const char* constant) {
        INFO(model);
        CHECK_THROWS_WITH(values_in(model), ContainsSubstring("cost/h100.json") && ContainsSubstring(constant));
    };
    refused(R"({"launch_us": 3})", "a_model.share");
    refused(R"({"launch_us": 3, "share": 0.25, "lunch_us": 3})", "a_model.lunch_us");
    refused(R"({"launch_us": 3, "share": "a quarter"})", "a_model.share");
    refused(R"({"launch_us": 3, "share": 0})", "a_model.share");
    refused("3", "a_model");
    CHECK_THROWS_WITH(CostTable(R"({"gpu": "h100"})", "cost/h100.json").values(kModel), ContainsSubstring("a_model"));
}

TEST_CASE("cost table: a text that is none, or of no known GPU, is an error that names the file") {
    for (const char* text : {"", "[]", "{", R"({"a_model": {}})", R"({"gpu": "h101"})", R"({"gpu": 100})"}) {
        INFO(text);
        CHECK_THROWS_WITH(CostTable(text, "cost/h100.json"), ContainsSubstring("cost/h100.json"));
    }
}

TEST_CASE("cost tables: each is named for its GPU, and has the constants of every family and no others") {
    std::set<std::string> known{std::string(HardwareCosts::kSection.name), std::string(SimtCosts::kSection.name)};
    for (const Family& family : family_table())
        if (family.cost_constants != nullptr) known.insert(std::string(family.name));
    for (const auto& [name, text] : embedded_cost_tables()) {
        INFO(name);
        const CostTable table(text, name);
        CHECK(name == table.gpu().name + ".json");
        const std::vector<std::string> sections = table.sections();
        CHECK(std::set(sections.begin(), sections.end()) == known);
    }
    for (const GpuModel& gpu : gpu_table()) {
        static_cast<void>(HardwareCosts::of(gpu));
        for (const Family& family : family_table())
            if (family.cost_constants != nullptr) CHECK_FALSE(family.cost_constants(gpu).empty());
    }
}

TEST_CASE("cost tables: a GPU takes its own, or that of the nearest GPU of its architecture") {
    const std::vector<CostTable>& tables = cost_tables();
    for (std::size_t i = 0; i < tables.size(); ++i) CHECK(nearest_cost_table(tables[i].gpu()) == i);
    for (const GpuModel& gpu : gpu_table()) {
        const CostTable& nearest = tables[nearest_cost_table(gpu)];
        INFO(gpu.name);
        if (nearest.gpu().arch != gpu.arch) CHECK(nearest.gpu().name == "h200");
    }
}

TEST_CASE("cost constants: each has a name, a unit and a sentence") {
    std::set<std::string_view> names;
    for (const CostField& field : WgmmaCosts::kSection.fields) {
        INFO(field.name);
        CHECK(names.insert(field.name).second);
        CHECK_FALSE(field.unit.empty());
        CHECK(field.meaning.ends_with('.'));
    }
    CHECK(WgmmaCosts::of(find_gpu("h200"))["launch_us"] == WgmmaCosts::of(find_gpu("gh200"))["launch_us"]);
}
