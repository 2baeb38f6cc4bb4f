#include "generator/epilogue/epilogue.hpp"

#include "generator/epilogue/canonical.hpp"
#include "generator/epilogue/functions.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>

namespace jitgemm {
namespace {

constexpr int kFirstWithFp8 = 89;
constexpr int kDivisionSpecial = 1, kDivisionOthers = 7;  // f32, rounded to nearest

/// All types that an epilogue reads, rounds to or stores, but D's.
std::set<DataType> named_types(const EpilogueParts& parts) {
    std::set<DataType> types;
    for (const EpilogueOperand& operand : parts.operands) types.insert(operand.type);
    for (const EpilogueOutput& output : parts.outputs) types.insert(output.type.value_or(DataType::f32));
    for (const EpilogueNode& node : parts.nodes)
        if (node.operation == EpilogueOperation::cast) types.insert(static_cast<DataType>(node.which));
    return types;
}

EpilogueCounts instructions_of(const EpilogueNode& node) {
    using enum EpilogueOperation;
    if (is_leaf(node.operation)) return {};
    if (node.operation == divide) return {kDivisionSpecial, kDivisionOthers};
    if (node.operation != function) return {0, 1};
    const EpilogueFunction& row = epilogue_functions()[static_cast<std::size_t>(node.which)];
    return {row.special, row.operations};
}

EpilogueCounts counts_of(const EpilogueParts& parts) {
    EpilogueCounts all;
    for (const EpilogueNode& node : parts.nodes) {
        const EpilogueCounts one = instructions_of(node);
        all.special += one.special;
        all.others += one.others;
    }
    for (const EpilogueOperand& operand : parts.operands) {
        if (operand.is_scalar || operand.is_block_scale() || operand.index.is_element()) continue;
        ++(operand.index.is_matrix() ? all.matrices : all.vectors);
    }
    return all;
}

}  // namespace

Epilogue::Epilogue(EpilogueParts parts) : value_(interned(std::move(parts))) {}

struct Epilogue::Known {
    std::mutex mutex;
    std::unordered_map<std::string, std::unique_ptr<const Value>> by_text;
    std::unordered_map<std::string_view, const Value*> by_hash;
};

Epilogue::Known& Epilogue::known() {
    static Known all;
    return all;
}

const Epilogue::Value* Epilogue::interned(EpilogueParts parts) {
    std::string text = canonical_text(parts);
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    if (const auto found = all.by_text.find(text); found != all.by_text.end()) return found->second.get();
    auto made = std::make_unique<Value>();
    made->hash = hash_digits(text);
    made->counts = counts_of(parts);
    made->parts = std::move(parts);
    made->text = text;
    const auto [other, is_new] = all.by_hash.emplace(made->hash, made.get());
    if (!is_new)
        throw Error(fmt::format("the epilogues '{}' and '{}' have one name, ep{}: change the name of an operand",
                                other->second->text, text, made->hash));
    return (all.by_text[std::move(text)] = std::move(made)).get();
}

std::optional<Epilogue> Epilogue::of_hash(std::string_view hash) {
    Known& all = known();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.by_hash.find(hash);
    return found == all.by_hash.end() ? std::nullopt : std::optional(Epilogue(found->second));
}

Epilogue Epilogue::transposed() const {
    if (const Value* const known = value_->transposed) return Epilogue(known);
    EpilogueParts turned = parts();
    turned.is_transposed = turned.pairs != EpiloguePairs::none && !turned.is_transposed;
    for (EpilogueOperand& operand : turned.operands) operand.index = jitgemm::transposed(operand.index);
    for (EpilogueOutput& output : turned.outputs) output.index = jitgemm::transposed(output.index);
    const Epilogue made(std::move(turned));
    value_->transposed = made.value_;
    return made;
}

EpilogueReading try_read_epilogue(std::string_view text, const EpilogueTypes& types) {
    EpilogueProblems problems;
    const std::vector<Statement> statements = parse_epilogue(text, problems);
    std::optional<EpilogueParts> parts = check_epilogue(statements, types, problems);
    if (!parts || !problems.empty()) return {std::nullopt, problems.sorted()};
    return {Epilogue(std::move(*parts)), {}};
}

std::string place_in_text(const Epilogue& epilogue, std::string_view name) {
    EpilogueProblems none;
    const std::vector<Statement> statements = parse_epilogue(epilogue.text(), none);
    const auto found = std::ranges::find(statements, name, &Statement::name);
    const TextPosition at = found == statements.end() ? TextPosition() : found->at;
    return fmt::format("epilogue '{}', {}", epilogue.text(), to_string(EpilogueProblem{at, {}}));
}

Epilogue read_epilogue(std::string_view text, const EpilogueTypes& types) {
    EpilogueReading reading = try_read_epilogue(text, types);
    if (reading.epilogue) return *std::move(reading.epilogue);
    std::vector<std::string> reasons;
    for (const EpilogueProblem& problem : reading.problems) reasons.push_back(to_string(problem));
    throw SpecError(fmt::format("epilogue '{}'", text), std::move(reasons));
}

std::vector<std::string> epilogue_limits(const Epilogue& epilogue, std::string_view arch, int compute_capability) {
    std::vector<std::string> limits;
    const EpilogueParts& parts = epilogue.parts();
    for (const DataType type : named_types(parts))
        if (is_float8(type) && compute_capability < kFirstWithFp8)
            limits.push_back(fmt::format("{} needs sm_{}, not {}", to_string(type), kFirstWithFp8, arch));
    return limits;
}

}  // namespace jitgemm
