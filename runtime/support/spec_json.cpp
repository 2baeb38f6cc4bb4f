#include "runtime/support/spec_json.hpp"

#include "generator/base/gemm_spec_fields.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

namespace jitgemm {
namespace {

/// The option's, with underscores.
std::string json_name(const GemmSpecField& field) {
    std::string name(field.option);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

}  // namespace

nlohmann::ordered_json to_json(const GemmSpec& spec) {
    using Json = nlohmann::ordered_json;
    Json json{
        {"type", operand_types(spec)}, {"layout", to_string(spec.layout)}, {"m", spec.m}, {"n", spec.n}, {"k", spec.k}};
    for (const GemmSpecField& field : gemm_spec_fields()) {
        const std::string name = json_name(field);
        if (json.contains(name) || (field.format > 1 && is_usual(field, spec))) continue;
        if (field.is_of_c && !spec.c)
            json[name] = nullptr;
        else
            json[name] = field.is_number ? Json(field.value(spec)) : Json(field.print(spec));
    }
    return json;
}

}  // namespace jitgemm
