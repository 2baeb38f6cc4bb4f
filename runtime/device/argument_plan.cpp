#include "runtime/device/argument_plan.hpp"

#include "generator/base/matrix_storage.hpp"
#include "generator/base/overloaded.hpp"
#include "generator/base/round_up.hpp"
#include "generator/epilogue/names.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <string>

namespace jitgemm {
namespace {

constexpr std::uint64_t kMostMaps = kMaxArgumentBytes / sizeof(EncodedTensorMap);
constexpr std::uint64_t kPitchUnit = 16;  // of a tensor map, bytes

/// The map of a matrix whose lines are pairs: an element of a line, one of eight pairs, which of its two lines, and a
/// group of eight pairs; behind these the problem of a batch. `matrix` has the rank of the whole map.
TiledTensorMap by_pairs(const TiledTensorMap& matrix, EpiloguePairs pairs) {
    const std::uint64_t count = matrix.extents[1] / 2;
    const std::uint64_t line = matrix.pitches[0];
    const bool in_halves = pairs == EpiloguePairs::halves;
    const std::uint64_t to_next = in_halves ? line : 2 * line;
    TiledTensorMap map = matrix;
    map.extents = {matrix.extents[0], kLinesOfGroup, 2, count / kLinesOfGroup, matrix.extents[2]};
    map.pitches = {to_next, in_halves ? count * line : line, kLinesOfGroup * to_next, matrix.pitches[1]};
    map.box = {matrix.box[0], kLinesOfGroup, 2, matrix.box[1] / (2 * kLinesOfGroup), matrix.box[2]};
    return map;
}

// The pitch of a dimension of one element does not matter, but a map may refuse it. The map gets the least legal pitch.
TiledTensorMap map_of(const TensorMapArgument& argument, const Problem& problem, const OperandList& operands,
                      bool of_one_row) {
    const MatrixStorage matrix = storage_of(argument.role, operands, problem.row_major().math);
    const auto element = static_cast<std::uint64_t>(bytes(matrix.type));
    const auto number = [&](const ArgumentRole& role) {
        return static_cast<std::uint64_t>(extent(role, problem, operands));
    };
    TiledTensorMap map;
    map.type = matrix.type;
    map.rank = argument.rank();
    std::uint64_t pitch = element;
    for (std::size_t i = 0; const TensorMapDimension& dimension : named_dimensions(argument, matrix)) {
        map.extents.at(i) = of_one_row && i == 1 ? 1 : number(dimension.extent);
        map.box.at(i) = dimension.box;
        if (i > 0) {
            const std::uint64_t least = ceil_div(map.extents[i - 1] * pitch, kPitchUnit) * kPitchUnit;
            pitch = map.extents[i] == 1 ? least : number(dimension.pitch) * element;
            map.pitches[i - 1] = pitch;
        }
        ++i;
    }
    map.swizzle = argument.swizzle;
    map.promotion = argument.promotion;
    return argument.pairs == EpiloguePairs::none ? map : by_pairs(map, argument.pairs);
}

void check_rank(const TensorMapArgument& map) {
    if (map.rank() < 1 || map.rank() > kMaxTensorRank)
        throw ConfigError("no launch", {fmt::format("{} has {} dimensions, a tensor map 1 to {}", field_name(map),
                                                    map.rank(), kMaxTensorRank)});
}

/// The spec's own number, where it has it; null for a copy's pitch, and for a further operand's.
std::int64_t GemmSpec::*field_of(const ArgumentRole& role, const OperandList& operands) {
    if (role == ArgumentRole::m) return &GemmSpec::m;
    if (role == ArgumentRole::n) return &GemmSpec::n;
    if (role == ArgumentRole::k) return &GemmSpec::k;
    if (role == ArgumentRole::batch) return &GemmSpec::batch;
    if (role.part == ArgumentPart::batch_stride && !role.is_packed) {
        const GemmOperand* const operand = operands.find(role.name);
        return operand == nullptr ? nullptr : operand->batch_stride_field;
    }
    if (role.part != ArgumentPart::pitch || role.is_packed) return nullptr;
    const GemmOperand* const operand = operands.find(role.name);
    return operand == nullptr ? nullptr : operand->pitch_field;
}

/// The pitch of a text's matrix, as gemm_operands() has it, without a list of all operands.
std::int64_t pitch_in_text(std::string_view name, const RunInText& run, const GemmSpec& row_major) {
    return pitch_of(row_major.epilogue.layout_of(name),
                    ceil_div<std::int64_t>(size_of(run.index, row_major), run.over));
}

[[noreturn]] void throw_no_map(ArgumentRole role, std::vector<std::string> problems) {
    throw SpecError(fmt::format("no tensor map of {}", to_string(role)), std::move(problems));
}

}  // namespace

std::uint64_t new_problem_id() {
    static std::atomic<std::uint64_t> next = 0;
    return next.fetch_add(1, std::memory_order_relaxed);
}

ArgumentPlan::ArgumentPlan(std::span<const KernelArgument> arguments, const OperandList& operands) {
    const ArgumentLayout layout = argument_layout(arguments);
    bytes_ = layout.bytes;
    if (bytes_ > kMaxArgumentBytes) {
        throw ConfigError("no launch", {fmt::format("the kernel's arguments have {} bytes, a launch passes on {}",
                                                    bytes_, kMaxArgumentBytes)});
    }
    if (const GemmOperand* const a = operands.find("a")) factor_ = *a;
    text_ = factor_.epilogue;
    for (std::size_t i = 0; i < arguments.size(); ++i) add(arguments[i], layout.fields[i], operands);
    if (!maps_.empty()) kept_ = std::make_unique<TensorMapCache>();
}

ArgumentPlan ArgumentPlan::of_one_problem(std::span<const KernelArgument> arguments, const OperandList& operands) {
    ArgumentPlan plan(arguments, operands);
    plan.only_operands_ = std::make_shared<const OperandList>(operands);
    for (ExtentPatch& patch : plan.extents_) {
        patch.field = nullptr;
        patch.run = RunInText();
    }
    return plan;
}

std::size_t ArgumentPlan::place_of(std::string_view name) const {
    return text_ == nullptr ? 0 : argument_place(*text_, name);
}

std::optional<ArgumentPlan::Address> ArgumentPlan::address_of(const ArgumentRole& role,
                                                              const OperandList& operands) const {
    if (role == ArgumentRole::counters) return Address{&KernelOperands::counters};
    if (role == ArgumentRole::reduction_parts) return Address{&KernelOperands::reduction_parts};
    if (role.is_prepared) return Address{role.name == "a" ? &KernelOperands::copy_a : &KernelOperands::copy_b};
    if (role == ArgumentRole::workspace || role.is_packed) return Address{&GemmArguments::workspace};
    const GemmOperand* const operand = operands.find(role.name);
    if (operand == nullptr) return std::nullopt;
    return Address{operand->pointer, operand->pointer != nullptr ? 0 : place_of(operand->name)};
}

/// A scalar of the default epilogue, or of the text.
void ArgumentPlan::add_scalar(std::string_view name, std::size_t offset) {
    if (is_launch_scalar(name)) {
        scalars_.push_back({offset, name == "alpha" ? &GemmArguments::alpha : &GemmArguments::beta, 0});
        return;
    }
    const std::size_t place = place_of(name);
    if (text_ == nullptr || place >= text_->operands.size())
        throw ConfigError("no launch", {fmt::format("no launch has a scalar {}", name)});
    scalars_.push_back({offset, nullptr, place});
}

void ArgumentPlan::add(const KernelArgument& argument, const ArgumentField& field, const OperandList& operands) {
    const auto run_in_text = [&](const ArgumentRole& role) {
        const GemmOperand* const operand = operands.find(role.name);
        const bool has_pitch = role.part == ArgumentPart::pitch && operand != nullptr && operand->pointer == nullptr;
        return has_pitch ? RunInText{operand->column, operand->column_over} : RunInText();
    };
    std::visit(Overloaded{[&](PointerArgument of) {
                              if (const auto address = address_of(of.role, operands))
                                  pointers_.push_back({field.offset, *address});
                          },
                          [&](ScalarArgument of) { add_scalar(of.role.name, field.offset); },
                          [&](const TensorMapArgument& of) {
                              check_rank(of);
                              maps_.push_back({field.offset, address_of(of.role, operands).value_or(Address{}),
                                               *operands.find(of.role.name), of.role.is_packed && !of.role.is_prepared,
                                               of.role == ArgumentRole::c, of});
                          },
                          [&](ExtentArgument of) {
                              extents_.push_back({field.offset, field.bytes, of.role, field_of(of.role, operands),
                                                  run_in_text(of.role), of.role == ArgumentRole::k,
                                                  of.role == ArgumentRole::ldc});
                          }},
               argument);
}

OperandList ArgumentPlan::operands_of(const Problem& problem) const {
    return only_operands_ != nullptr ? *only_operands_ : kernel_operands(problem.row_major());
}

std::int64_t ArgumentPlan::value_of(const ExtentPatch& patch, const Problem& problem) const {
    if (patch.field != nullptr) return problem.row_major().*patch.field;
    if (patch.run.index != OperandIndex::one) return pitch_in_text(patch.role.name, patch.run, problem.row_major());
    if (patch.role == ArgumentRole::h) return size_of(OperandIndex::half_n, problem.row_major());
    return extent(patch.role, problem, operands_of(problem));
}

void ArgumentPlan::pack(const PackedProblem& packed_problem, const KernelOperands& operands, Device& device,
                        PackedArguments& packed) const {
    std::byte* const bytes = packed.bytes.data();
    packed.size = bytes_;
    std::memset(bytes, 0, bytes_);
    const GivenOperands given = text_ == nullptr ? GivenOperands() : GivenOperands(*text_, operands);
    const Launch launch{operands, given};
    const bool reads_product = reads(factor_, true, launch);
    for (const ExtentPatch& patch : extents_) {
        const bool is_zero = (patch.is_k && !reads_product) || (patch.is_ldc && operands.broadcast_c);
        const std::int64_t value = is_zero ? 0 : value_of(patch, packed_problem.problem);
        std::memcpy(bytes + patch.offset, &value, patch.bytes);  // of a little-endian machine
    }
    for (const PointerPatch& patch : pointers_) {
        const std::uint64_t address = patch.address.in(launch);
        std::memcpy(bytes + patch.offset, &address, sizeof address);
    }
    for (const ScalarPatch& patch : scalars_) {
        const float value = patch.member != nullptr ? operands.*patch.member : given.value(patch.place);
        std::memcpy(bytes + patch.offset, &value, sizeof value);
    }
    for (std::size_t i = 0; i < maps_.size(); ++i) pack_map(i, packed_problem, launch, device, bytes + maps_[i].offset);
}

bool ArgumentPlan::reads(const GemmOperand& operand, bool has_k, const Launch& launch) const {
    if (text_ == nullptr) return is_used(operand, has_k, launch.operands);
    if (operand.needs_k() && !has_k) return false;
    return operand.guards == nullptr || (bits_of(*operand.guards) & launch.given.zeros()) == 0;
}

void ArgumentPlan::pack_map(std::size_t index, const PackedProblem& packed_problem, const Launch& launch,
                            Device& device, std::byte* bytes) const {
    const MapPatch& patch = maps_[index];
    const Problem& problem = packed_problem.problem;
    const GemmSpec& spec = problem.row_major();
    const ArgumentRole& role = patch.argument.role;
    if (!reads(patch.operand, spec.k != 0, launch)) return;
    const bool of_one_row = patch.is_c && (launch.operands.broadcast_c || spec.broadcast_c);
    const auto in_workspace = patch.is_in_workspace ? static_cast<std::uint64_t>(packed_offset(role, spec)) : 0;
    const std::uint64_t address = patch.address.in(launch) + in_workspace;
    const TensorMapCache::Key key{address, (packed_problem.id * kMostMaps + index) * 2 + (of_one_row ? 1 : 0)};
    if (kept_->find(key, bytes)) [[likely]]
        return;
    TiledTensorMap map = map_of(patch.argument, problem, operands_of(problem), of_one_row);
    map.address = address;
    if (std::vector<std::string> problems = tensor_map_problems(map); !problems.empty())
        throw_no_map(role, std::move(problems));
    const EncodedTensorMap encoded = device.encode_tensor_map(map);
    kept_->insert(key, encoded);
    std::memcpy(bytes, encoded.bytes.data(), sizeof encoded);
}

}  // namespace jitgemm
