#include "generator/epilogue/epilogue.hpp"

#include "generator/epilogue/canonical.hpp"
#include "generator/epilogue/functions.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>

namespace jitgemm {
namespace {

constexpr int kColumnsOfPairs = 16;
constexpr int kFirstWithFp8 = 89;
constexpr int kDivisionSpecial = 1, kDivisionOthers = 7;  // f32, rounded to nearest

bool is_fp8(DataType type) { return type == DataType::e4m3 || type == DataType::e5m2; }

/// All types that an epilogue reads, rounds to or stores, but D's.
std::set<DataType> named_types(const EpilogueParts& parts) {
    std::set<DataType> types;
    for (const EpilogueOperand& operand : parts.operands) types.insert(operand.type);
    for (const EpilogueOutput& output : parts.outputs) types.insert(output.type.value_or(DataType::f32));
    for (const EpilogueNode& node : parts.nodes)
        if (node.operation == EpilogueOperation::cast) types.insert(static_cast<DataType>(node.which));
    return types;
}

EpilogueInstructions instructions_of(const EpilogueNode& node) {
    using enum EpilogueOperation;
    if (is_leaf(node.operation)) return {};
    if (node.operation == divide) return {kDivisionSpecial, kDivisionOthers};
    if (node.operation != function) return {0, 1};
    const EpilogueFunction& row = epilogue_functions()[static_cast<std::size_t>(node.which)];
    return {row.special, row.operations};
}

}  // namespace

Epilogue::Epilogue(EpilogueParts parts) : value_(interned(std::move(parts))) {}

std::shared_ptr<const Epilogue::Value> Epilogue::interned(EpilogueParts parts) {
    static std::mutex mutex;
    static std::unordered_map<std::string, std::weak_ptr<const Value>> known;
    std::string text = canonical_text(parts);
    const std::scoped_lock lock(mutex);
    if (const auto found = known.find(text); found != known.end())
        if (auto value = found->second.lock()) return value;
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    Value made{.parts = std::move(parts), .text = text, .structure = {}, .hash = {}};
    made.structure = structure_text(made.parts);
    made.hash = structure_hash(made.structure);
    auto value = std::make_shared<const Value>(std::move(made));
    known[std::move(text)] = value;
    return value;
}

Epilogue Epilogue::transposed() const {
    EpilogueParts turned = parts();
    turned.is_transposed = turned.pairs != EpiloguePairs::none && !turned.is_transposed;
    for (EpilogueOperand& operand : turned.operands) operand.index = jitgemm::transposed(operand.index);
    for (EpilogueOutput& output : turned.outputs) output.index = jitgemm::transposed(output.index);
    return Epilogue(std::move(turned));
}

EpilogueReading try_read_epilogue(std::string_view text, const EpilogueTypes& types) {
    EpilogueProblems problems;
    const std::vector<Statement> statements = parse_epilogue(text, problems);
    std::optional<EpilogueParts> parts = check_epilogue(statements, types, problems);
    if (!parts || !problems.empty()) return {std::nullopt, problems.sorted()};
    return {Epilogue(std::move(*parts)), {}};
}

Epilogue read_epilogue(std::string_view text, const EpilogueTypes& types) {
    EpilogueReading reading = try_read_epilogue(text, types);
    if (reading.epilogue) return *std::move(reading.epilogue);
    std::vector<std::string> reasons;
    for (const EpilogueProblem& problem : reading.problems) reasons.push_back(to_string(problem));
    throw SpecError(fmt::format("epilogue '{}'", text), std::move(reasons));
}

EpilogueInstructions count_instructions(const Epilogue& epilogue) {
    EpilogueInstructions all;
    for (const EpilogueNode& node : epilogue.parts().nodes) {
        const EpilogueInstructions one = instructions_of(node);
        all.special += one.special;
        all.others += one.others;
    }
    return all;
}

std::vector<std::string> epilogue_limits(const Epilogue& epilogue, std::int64_t n, std::string_view arch,
                                         int compute_capability) {
    std::vector<std::string> limits;
    const EpilogueParts& parts = epilogue.parts();
    if (parts.pairs != EpiloguePairs::none && n % kColumnsOfPairs != 0)
        limits.push_back(fmt::format("n is {}, but pairs of {} need n in multiples of {}", n,
                                     parts.pairs == EpiloguePairs::halves ? "halves" : "neighbours", kColumnsOfPairs));
    for (const DataType type : named_types(parts))
        if (is_fp8(type) && compute_capability < kFirstWithFp8)
            limits.push_back(fmt::format("{} needs sm_{}, not {}", to_string(type), kFirstWithFp8, arch));
    return limits;
}

}  // namespace jitgemm
