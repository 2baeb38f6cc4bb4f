#include "runtime/verify/guarded_problem.hpp"

#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "runtime/context/preparation.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/verify/epilogue_check.hpp"
#include "runtime/verify/filled_input.hpp"
#include "runtime/verify/group_sizes.hpp"
#include "runtime/verify/host_reference.hpp"
#include "runtime/verify/scattered_matrices.hpp"
#include "runtime/verify/verification_rules.hpp"
#include "runtime/verify/verification_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

constexpr std::uint8_t kGuardByte = 0x5a;
constexpr std::uint32_t kUnwritten = 0x8badf00d;  // D of integers has no NaN

Fill integer_fill(std::uint64_t seed, int range, FillFractions fractions = FillFractions::none) {
    return {.kind = FillKind::integers, .seed = seed, .range = range, .fractions = fractions};
}

Fill unread_fill() { return {.kind = FillKind::constant, .constant = kNanBits}; }

Fill sparse_fill(std::uint64_t seed, std::int64_t group) {
    return {.kind = FillKind::sparse, .seed = seed, .group = group};
}

Fill poison_of(DataType type) {
    const bool has_nan = fraction_bits(type) >= 0;
    return {.kind = FillKind::constant, .constant = has_nan ? kNanBits : kUnwritten};
}

DeviceMatrix rows_of(DeviceMatrix matrix, const GroupRows& rows) {
    matrix.data.address += static_cast<std::uint64_t>(rows.first * matrix.row_stride * bytes(matrix.type));
    matrix.rows = rows.count;
    return matrix;
}

DeviceMatrix columns_of(DeviceMatrix matrix, const GroupRows& columns) {
    matrix.data.address += static_cast<std::uint64_t>(columns.first * matrix.column_stride * bytes(matrix.type));
    matrix.columns = columns.count;
    return matrix;
}

DeviceMatrix transposed(DeviceMatrix matrix) {
    std::swap(matrix.rows, matrix.columns);
    std::swap(matrix.row_stride, matrix.column_stride);
    return matrix;
}

/// A matrix that a kernel writes.
struct GuardedOutput {
    std::string_view name;
    std::string title;  ///< in messages
    MatrixIndex index;
    GuardedMatrix memory;
};

/// The addresses of an operand's matrices, of problems in their order.
struct AddressArray {
    std::string_view name;             ///< of the operand
    std::vector<std::int64_t> places;  ///< of each problem's matrix in the operand's memory
    FilledInput memory;
};

/// Some rows, or some of K, lie behind the last group. Where sums are exact, a third of the groups is empty.
std::vector<std::int32_t> offsets_of(const GemmSpec& spec, InputKind kind, std::uint64_t seed) {
    if (!has_groups(spec)) return {};
    const GroupSizes sizes = kind == InputKind::integers ? GroupSizes::random : GroupSizes::skewed;
    const std::int64_t all = is_grouped(spec) ? spec.m : spec.k;
    return group_offsets(spec, all - all / 16, sizes, seed);
}

std::vector<std::int32_t> rows_of_a(const GemmSpec& spec, std::uint64_t seed) {
    return is_gathered(spec) ? row_index(spec, seed, true) : std::vector<std::int32_t>();
}

MatrixForm guarded_form_of(const GemmOperand& operand, Placement placement) {
    const MatrixForm form = form_of(operand, placement == Placement::generous);
    return operand.by_addresses ? scattered(form) : form;
}

/// In parts of 32 bits.
FilledInput filled_array(const std::shared_ptr<Device>& device, const GemmOperand& operand,
                         const std::vector<std::uint64_t>& addresses) {
    const auto words = 2 * static_cast<std::int64_t>(addresses.size());
    std::vector<std::int32_t> values(static_cast<std::size_t>(words));
    std::memcpy(values.data(), addresses.data(), addresses.size() * sizeof(std::uint64_t));
    const MatrixForm form{.rows = 1,
                          .columns = words,
                          .leading_dimension = words,
                          .type = DataType::s32,
                          .alignment = static_cast<int>(sizeof(std::uint64_t))};
    return {device, form, fmt::format("the array of {}'s addresses", operand.title), std::move(values)};
}

}  // namespace

struct GuardedProblem::Impl {
    Impl(ContextState& context, const GemmSpec& asked, const OperandList& list, InputKind kind, std::uint64_t seed,
         float alpha_value, float beta_value, Placement placement);

    [[nodiscard]] bool uses(const GemmOperand& operand) const { return is_used(operand, spec, scalars); }
    /// Of all problems, or of one group or one problem with addresses.
    [[nodiscard]] std::optional<EpilogueInputs> epilogue_inputs(std::int64_t group = 0) const;
    [[nodiscard]] DeviceMatrix matrix(std::string_view name, std::int64_t group) const;
    [[nodiscard]] Check request(std::int64_t group = 0) const;
    [[nodiscard]] DeviceMatrix in_group(DeviceMatrix matrix, const MatrixIndex& index, std::int64_t group) const;
    [[nodiscard]] DeviceMatrix of_group(std::string_view name, const DeviceMatrix& matrix, const MatrixIndex& index,
                                        std::int64_t group) const;
    [[nodiscard]] const AddressArray* array_of(std::string_view name) const;
    [[nodiscard]] std::int64_t problem_at(std::string_view name, std::int64_t matrix) const;
    void add_array(const GemmOperand& operand, const GuardedMatrix& matrices);
    [[nodiscard]] std::int64_t parts() const { return has_groups(spec) ? spec.groups : spec.pointers ? spec.batch : 1; }
    [[nodiscard]] std::vector<GroupRows> rows_outside() const;
    void check_rows_outside(Verification& verdict, std::vector<std::string>& complaints) const;
    [[nodiscard]] const GuardedMatrix* output(std::string_view name) const;
    [[nodiscard]] const GuardedMatrix& d() const { return *output("d"); }
    [[nodiscard]] bool has_outputs_of(const Impl& right) const;
    [[nodiscard]] Fill fill_of(const GemmOperand& operand) const;
    [[nodiscard]] FillFractions fractions_of(const GemmOperand& operand) const;
    [[nodiscard]] std::optional<MatrixSize> read_part(const GemmOperand& operand) const;
    void gather_rows();
    [[nodiscard]] std::size_t workspace_bytes() const { return static_cast<std::size_t>(workspace.form().columns); }
    void poison_bands(const GuardedMatrix& memory) const;
    void poison(const GuardedMatrix& output) const;
    void poison_outputs() const;
    void poison_workspace(std::size_t bytes);
    void check_inputs(Verification& verdict, std::vector<std::string>& complaints) const;
    void check_bands(const GuardedMatrix& memory, std::string_view name, Verification& verdict,
                     std::vector<std::string>& complaints) const;
    void check_written(const EmulatorDevice& emulator, const GuardedOutput& output, Verification& verdict,
                       std::vector<std::string>& complaints) const;
    [[nodiscard]] std::vector<std::string> check_surroundings(Verification& verdict) const;
    void check_elements(Verification& verdict, const Reference& judge) const;
    void check_group(Verification& verdict, std::int64_t group, const Reference& judge) const;
    void add(Verification& verdict, std::int64_t group, const DeviceMatrix& output, std::string_view name,
             const CheckResult& found) const;

    std::shared_ptr<Device> device;
    std::unique_ptr<Reference> reference;
    GemmSpec spec;
    InputKind inputs;
    GemmArguments scalars;  ///< those of the launch, and nothing else
    IntegerInputs integers;
    bool exact;
    std::uint64_t seed;
    OperandList operands;
    std::vector<std::int32_t> offsets;   ///< of the groups
    std::vector<std::int32_t> sources;   ///< rows of A, if an index names them
    DeviceMemory gathered;               ///< these rows (m, k), which the reference multiplies
    std::vector<FilledInput> filled;     ///< the inputs in their order
    std::vector<GuardedOutput> outputs;  ///< D and others in their order
    std::vector<AddressArray> arrays;    ///< of operands that have them
    GuardedMatrix workspace;             ///< empty until a kernel wants one
};

GuardedProblem::Impl::Impl(ContextState& context, const GemmSpec& asked, const OperandList& list, InputKind kind,
                           std::uint64_t base_seed, float alpha_value, float beta_value, Placement placement)
    : device(context.device),
      reference(make_reference(context)),
      spec(asked),
      inputs(kind),
      scalars(scalar_arguments(asked, alpha_value, beta_value)),
      integers(integer_inputs(asked, scalars.alpha, scalars.beta)),
      exact(kind == InputKind::integers && integers.exact),
      seed(3 * base_seed),
      operands(list),
      offsets(offsets_of(asked, kind, base_seed)),
      sources(rows_of_a(asked, base_seed)) {
    for (const GemmOperand& operand : operands) {
        const MatrixForm form = guarded_form_of(operand, placement);
        const std::string title(operand.title);
        if (operand.is_written)
            outputs.push_back({operand.name, title, {operand.row, operand.column}, GuardedMatrix(device, form, title)});
        else if (operand.has_row_numbers())
            filled.emplace_back(device, form, title, operand.column == OperandIndex::groups ? offsets : sources)
                .fill(*reference);
        else
            filled.emplace_back(device, form, title, fill_of(operand), read_part(operand)).fill(*reference);
        if (operand.by_addresses)
            add_array(operand, operand.is_written ? outputs.back().memory : filled.back().memory());
    }
    if (is_gathered(spec) && uses(operands[0])) gather_rows();
}

/// An array that is not read holds no addresses.
void GuardedProblem::Impl::add_array(const GemmOperand& operand, const GuardedMatrix& matrices) {
    std::vector<std::int64_t> places = random_places(spec.batch, seed + arrays.size());
    std::vector<std::uint64_t> addresses = addresses_at(matrices.form(), matrices.matrix().data, places);
    if (!uses(operand)) std::ranges::fill(addresses, ~std::uint64_t{0});
    arrays.push_back({operand.name, std::move(places), filled_array(device, operand, addresses)});
    arrays.back().memory.fill(*reference);
}

const AddressArray* GuardedProblem::Impl::array_of(std::string_view name) const {
    const auto found = std::ranges::find(arrays, name, &AddressArray::name);
    return found == arrays.end() ? nullptr : &*found;
}

/// The problem that has this matrix of the operand.
std::int64_t GuardedProblem::Impl::problem_at(std::string_view name, std::int64_t matrix) const {
    const AddressArray* const array = array_of(name);
    return array == nullptr ? matrix : std::ranges::find(array->places, matrix) - array->places.begin();
}

/// A row that A does not have is zeros.
void GuardedProblem::Impl::gather_rows() {
    const GuardedMatrix& a = filled.front().memory();
    const auto line = static_cast<std::size_t>(spec.k * bytes(spec.a));
    std::vector<std::byte> held(static_cast<std::size_t>(a.form().extent_bytes())), rows(sources.size() * line);
    device->copy_to_host(held.data(), a.matrix().data, held.size());
    for (std::size_t i = 0; i < sources.size(); ++i) {
        if (sources[i] < 0 || sources[i] >= spec.source_rows) continue;
        const std::int64_t first = sources[i] * a.matrix().row_stride * bytes(spec.a);
        std::memcpy(rows.data() + i * line, held.data() + first, line);
    }
    gathered = DeviceMemory(device, static_cast<std::int64_t>(rows.size()));
    device->copy_to_device(gathered.data(), rows.data(), rows.size());
}

/// K behind the last group is not read.
std::optional<MatrixSize> GuardedProblem::Impl::read_part(const GemmOperand& operand) const {
    if (!is_grouped_by_k(spec) || !operand.is_factor()) return std::nullopt;
    const std::int64_t k = offsets.back();
    return operand.row == OperandIndex::k ? MatrixSize{k, operand.columns} : MatrixSize{operand.rows, k};
}

/// A row of the first factor may have only one nonzero element in each group of this many.
Fill GuardedProblem::Impl::fill_of(const GemmOperand& operand) const {
    const std::uint64_t own_seed = seed + filled.size();
    if (!uses(operand)) return unread_fill();
    if (inputs == InputKind::normal) return {.kind = FillKind::normal, .seed = own_seed};
    if (operand.is_block_scale()) return integer_fill(own_seed, integers.range_scale);
    if (!operand.is_factor()) return integer_fill(own_seed, integers.range_c);
    if (filled.empty() && integers.group > 1) return sparse_fill(own_seed, integers.group);
    return integer_fill(own_seed, integers.range, fractions_of(operand));
}

/// Elements of A and of B have them by turns along K, so that both products of an upper and a lower part count, and no
/// two lower parts meet. Where A has no places along K, B has all of them, and the other way round.
FillFractions GuardedProblem::Impl::fractions_of(const GemmOperand& operand) const {
    if (!integers.fractions) return FillFractions::none;
    const auto has_places = [&](const GemmOperand& one) {
        return !guarded_form_of(one, Placement::exact).do_overlap();
    };
    const bool by_a = has_places(operands[0]) && integers.group == 1, by_b = has_places(operands[1]);
    const bool is_a = operand.name == operands[0].name;
    if (by_a && by_b) return is_a ? FillFractions::even_columns : FillFractions::odd_rows;
    return is_a == by_a ? FillFractions::all : FillFractions::none;
}

void GuardedProblem::Impl::poison_bands(const GuardedMatrix& memory) const {
    device->fill_bytes(memory.memory().data(), kGuardByte, static_cast<std::size_t>(memory.memory().size_bytes()));
}

void GuardedProblem::Impl::poison(const GuardedMatrix& output) const {
    poison_bands(output);
    reference->fill(output.matrix(), poison_of(output.form().type));
    if (EmulatorDevice* const emulator = as_emulator(*device))
        emulator->undefine_memory(output.matrix().data, static_cast<std::size_t>(output.form().extent_bytes()), true);
}

void GuardedProblem::Impl::poison_outputs() const {
    for (const GuardedOutput& output : outputs) poison(output.memory);
    device->synchronize(nullptr);  // whatever stream the kernel runs on
}

const GuardedMatrix* GuardedProblem::Impl::output(std::string_view name) const {
    const auto found = std::ranges::find(outputs, name, &GuardedOutput::name);
    return found == outputs.end() ? nullptr : &found->memory;
}

/// Of just the size a kernel asks for, so that the bands lie where it must not go.
void GuardedProblem::Impl::poison_workspace(std::size_t bytes) {
    if (workspace_bytes() != bytes) {
        workspace = {};
        if (bytes != 0)
            workspace = GuardedMatrix(device, workspace_form(static_cast<std::int64_t>(bytes)), "the workspace");
    }
    if (bytes == 0) return;
    poison_bands(workspace);
    device->fill_bytes(workspace.matrix().data, kNanByte, bytes);
    if (EmulatorDevice* const emulator = as_emulator(*device))
        emulator->undefine_memory(workspace.matrix().data, bytes, false);
}

/// Without data where the operand is not read, or not there.
DeviceMatrix GuardedProblem::Impl::matrix(std::string_view name, std::int64_t group) const {
    std::size_t place = 0;
    for (const GemmOperand& operand : operands) {
        if (operand.is_written) continue;
        if (operand.row == OperandIndex::source_rows && operand.name == name && uses(operand))
            return in_group({gathered.data(), spec.m, spec.k, spec.k, 1, spec.a}, {OperandIndex::m, OperandIndex::k},
                            group);
        if (operand.name == name)
            return uses(operand) ? of_group(name, filled[place].memory().matrix(), {operand.row, operand.column}, group)
                                 : DeviceMatrix{};
        ++place;
    }
    return {};
}

/// The rows (or the part of K) of a group, of a matrix that has those of all groups; else the group's matrix, if each
/// has one. Without data if it has no element.
DeviceMatrix GuardedProblem::Impl::in_group(DeviceMatrix matrix, const MatrixIndex& index, std::int64_t group) const {
    if (!has_groups(spec)) return spec.pointers && matrix.matrices > 1 ? matrix.part(group, 1) : matrix;
    const GroupRows part = rows_of_group(offsets, spec, group);
    const bool has_k = index.row == OperandIndex::k || index.column == OperandIndex::k;
    if (is_grouped_by_k(spec) && has_k && part.count == 0) return {};
    if (is_grouped_by_k(spec) && has_k)
        return index.row == OperandIndex::k ? rows_of(matrix, part) : columns_of(matrix, part);
    if (is_grouped(spec) && index.row == OperandIndex::m) return rows_of(matrix, part);
    if (is_grouped(spec) && index.column == OperandIndex::m) return columns_of(matrix, part);
    return matrix.matrices > 1 ? matrix.part(group, 1) : matrix;
}

/// Of the operand with this name. A problem's matrix lies at the place that its array of addresses has.
DeviceMatrix GuardedProblem::Impl::of_group(std::string_view name, const DeviceMatrix& matrix, const MatrixIndex& index,
                                            std::int64_t group) const {
    const AddressArray* const array = array_of(name);
    return in_group(matrix, index, array == nullptr ? group : array->places[static_cast<std::size_t>(group)]);
}

/// Those that belong to no group.
std::vector<GroupRows> GuardedProblem::Impl::rows_outside() const {
    std::vector<GroupRows> list;
    std::int64_t next = 0;
    for (std::int64_t group = 0; is_grouped(spec) && group < spec.groups; ++group) {
        const GroupRows rows = rows_of_group(offsets, spec, group);
        if (rows.first > next) list.push_back({next, rows.first - next});
        next = rows.first + rows.count;
    }
    if (is_grouped(spec) && spec.m > next) list.push_back({next, spec.m - next});
    return list;
}

Check GuardedProblem::Impl::request(std::int64_t group) const {
    const DeviceMatrix a = matrix("a", group);
    return {.a = a,
            .b = spec.symmetric ? transposed(a) : matrix("b", group),
            .c = matrix("c", group),
            .d = of_group("d", d().matrix(), {}, group),
            .k = !a.data                 ? 0
                 : is_grouped_by_k(spec) ? rows_of_group(offsets, spec, group).count
                                         : spec.k,
            .alpha = static_cast<double>(scalars.alpha),
            .beta = static_cast<double>(scalars.beta),
            .bound = error_bound(spec),
            .exact = exact};
}

std::optional<EpilogueInputs> GuardedProblem::Impl::epilogue_inputs(std::int64_t group) const {
    const std::optional<Epilogue> meaning = meaning_of(spec.epilogue, spec.d);
    if (!meaning) return std::nullopt;
    EpilogueInputs text{.epilogue = *meaning, .operands = {}, .scalars = {}, .outputs = {}};
    for (const EpilogueOperand& operand : meaning->parts().operands) {
        text.operands.push_back(operand.is_scalar ? DeviceMatrix{} : matrix(operand.name, group));
        text.scalars.push_back(operand.is_scalar ? scalar_of(operand.name, scalars) : 0.0F);
    }
    for (const EpilogueOutput& one : meaning->parts().outputs)
        text.outputs.push_back(of_group(one.name, output(one.name)->matrix(), {}, group));
    return text;
}

/// Each element against 1 · the other's: the sum has no terms, the other output stands in for C.
bool GuardedProblem::Impl::has_outputs_of(const Impl& right) const {
    return std::ranges::all_of(outputs, [&](const GuardedOutput& output) {
        const DeviceMatrix other = right.output(output.name)->matrix();
        const Check same{.c = other, .d = output.memory.matrix(), .alpha = 0, .beta = 1, .exact = true};
        return reference->check(same).wrong == 0;
    });
}

/// Inputs that a kernel changed are restored. So D is judged by the right inputs, and the next kernel finds them.
void GuardedProblem::Impl::check_inputs(Verification& verdict, std::vector<std::string>& complaints) const {
    const auto check = [&](const FilledInput& input) {
        const InputDamage damage = input.damage(*reference);
        if (damage.text.empty()) return;
        verdict.changed_inputs += damage.elements;
        verdict.guard_damage += damage.outside;
        complaints.push_back(damage.text);
        input.fill(*reference);
    };
    for (const FilledInput& input : filled) check(input);
    for (const AddressArray& array : arrays) check(array.memory);
}

void GuardedProblem::Impl::check_bands(const GuardedMatrix& memory, std::string_view name, Verification& verdict,
                                       std::vector<std::string>& complaints) const {
    const std::int64_t damage = reference->guard_damage(memory.guarded_lines(), kGuardByte);
    if (damage == 0) return;
    verdict.guard_damage += damage;
    complaints.push_back(fmt::format("{} bytes outside {} were overwritten", damage, name));
}

void GuardedProblem::Impl::check_written(const EmulatorDevice& emulator, const GuardedOutput& output,
                                         Verification& verdict, std::vector<std::string>& complaints) const {
    const MatrixForm& form = output.memory.form();
    const DeviceMatrix matrix = output.memory.matrix();
    const DevicePointer data = matrix.data;
    const bool by_row = form.order == Order::row;
    const auto unwritten = [&](std::int64_t problem, std::int64_t line, std::int64_t first, std::int64_t count) {
        const auto size = static_cast<std::uint64_t>(bytes(form.type));
        const std::int64_t element = matrix.begin_of(problem) + line * form.leading_dimension + first;
        return static_cast<std::int64_t>(
            emulator.unwritten_bytes(DevicePointer{data.address + static_cast<std::uint64_t>(element) * size},
                                     static_cast<std::uint64_t>(count) * size));
    };
    std::string place;  // of the first element
    std::int64_t all = 0;
    const std::vector<GroupRows> outside =
        output.index.row == OperandIndex::m ? rows_outside() : std::vector<GroupRows>();
    const auto is_outside = [&](std::int64_t line) {
        return std::ranges::any_of(
            outside, [&](const GroupRows& rows) { return line >= rows.first && line < rows.first + rows.count; });
    };
    for (std::int64_t problem = 0; problem < matrix.matrices; ++problem)
        for (std::int64_t line = 0; form.run() != 0 && line < form.lines(); ++line) {
            if (is_outside(line)) continue;
            const std::int64_t missing = unwritten(problem, line, 0, form.run());
            all += missing;
            if (missing == 0 || !place.empty()) continue;
            std::int64_t first = 0;
            while (unwritten(problem, line, first, 1) == 0) ++first;
            place = element_name(output.title,
                                 {problem_at(output.name, problem), by_row ? line : first, by_row ? first : line},
                                 matrix.matrices > 1);
        }
    verdict.unwritten += all;
    if (!place.empty())
        complaints.push_back(
            fmt::format("{} bytes of {} were never written, first those of {}", all, output.title, place));
}

/// Outputs keep their poison in rows outside the groups.
void GuardedProblem::Impl::check_rows_outside(Verification& verdict, std::vector<std::string>& complaints) const {
    if (!is_grouped(spec)) return;
    for (const GuardedOutput& output : outputs) {
        std::int64_t wrong = 0;
        for (const GroupRows& rows : rows_outside()) {
            const DeviceMatrix outside = rows_of(output.memory.matrix(), rows);
            if (outside.columns != 0)
                wrong += static_cast<std::int64_t>(reference->compare(outside, poison_of(outside.type)).wrong);
        }
        verdict.guard_damage += wrong;
        if (wrong != 0)
            complaints.push_back(
                fmt::format("{} elements of {} outside the groups were overwritten", wrong, output.title));
    }
}

std::vector<std::string> GuardedProblem::Impl::check_surroundings(Verification& verdict) const {
    std::vector<std::string> complaints;
    verdict.inputs = inputs;
    check_inputs(verdict, complaints);
    for (const GuardedOutput& output : outputs) check_bands(output.memory, output.title, verdict, complaints);
    check_rows_outside(verdict, complaints);
    if (workspace_bytes() != 0) check_bands(workspace, "the workspace", verdict, complaints);
    if (const EmulatorDevice* const emulator = as_emulator(*device))
        for (const GuardedOutput& output : outputs) check_written(*emulator, output, verdict, complaints);
    return complaints;
}

void GuardedProblem::Impl::check_elements(Verification& verdict, const Reference& judge) const {
    for (std::int64_t group = 0; group < parts(); ++group) check_group(verdict, group, judge);
}

/// All problems of a batch, or one group or one problem with addresses.
void GuardedProblem::Impl::check_group(Verification& verdict, std::int64_t group, const Reference& judge) const {
    const Check check = request(group);
    if (const std::optional<EpilogueInputs> text = epilogue_inputs(group)) {
        const std::vector<CheckResult> found = check_epilogue(*device, check, *text, judge);
        for (std::size_t i = 0; i < found.size(); ++i) {
            const std::string& name = text->epilogue.parts().outputs[i].name;
            add(verdict, group, text->outputs[i], name == "d" ? "D" : name, found[i]);
        }
        return;
    }
    CheckResult found = judge.check(check);
    if (found.wrong != 0) {
        const CheckResult element = judge.element(check, found.first);
        found.expected = element.expected;
        found.got = element.got;
    }
    add(verdict, group, check.d, "D", found);
}

/// The first wrong element is the first one of the first output that has one. Rows are those of all groups.
void GuardedProblem::Impl::add(Verification& verdict, std::int64_t group, const DeviceMatrix& output,
                               std::string_view name, const CheckResult& found) const {
    verdict.wrong += static_cast<std::int64_t>(found.wrong);
    verdict.largest_error = std::max(verdict.largest_error, found.largest_error);
    if (found.wrong == 0 || verdict.first) return;
    const auto [problem, row, column] = place_of(output, found.first);
    const std::int64_t above = is_grouped(spec) ? rows_of_group(offsets, spec, group).first : 0;
    const std::int64_t before = is_grouped_by_k(spec) || spec.pointers ? group : 0;
    verdict.first = Mismatch{std::string(name), before + problem, above + row, column, found.expected, found.got, {}};
}

GuardedProblem::GuardedProblem(ContextState& context, const GemmSpec& resolved_spec, InputKind inputs,
                               std::uint64_t seed, float alpha, float beta, Placement placement)
    : GuardedProblem(context, resolved_spec, gemm_operands(resolved_spec), inputs, seed, alpha, beta, placement) {}

GuardedProblem::GuardedProblem(ContextState& context, const GemmSpec& resolved_spec, const OperandList& operands,
                               InputKind inputs, std::uint64_t seed, float alpha, float beta, Placement placement)
    : impl_(std::make_unique<Impl>(context, resolved_spec, operands, inputs, seed, alpha, beta, placement)) {
    impl_->poison_outputs();
}

GuardedProblem::~GuardedProblem() = default;
GuardedProblem::GuardedProblem(GuardedProblem&&) noexcept = default;
GuardedProblem& GuardedProblem::operator=(GuardedProblem&&) noexcept = default;

GemmArguments GuardedProblem::arguments() const {
    GemmArguments arguments = impl_->scalars;
    point(arguments);
    arguments.workspace_bytes = impl_->workspace_bytes();
    if (arguments.workspace_bytes != 0) arguments.workspace = impl_->workspace.matrix().data;
    return arguments;
}

void GuardedProblem::point(GemmArguments& arguments) const {
    auto input = impl_->filled.begin();
    auto output = impl_->outputs.begin();
    for (const GemmOperand& operand : impl_->operands) {
        const GuardedMatrix& memory = operand.is_written ? (output++)->memory : (input++)->memory();
        const AddressArray* const array = impl_->array_of(operand.name);
        set_address(operand, arguments, (array == nullptr ? memory : array->memory.memory()).matrix().data);
    }
}

Check GuardedProblem::request() const { return impl_->request(); }

void GuardedProblem::poison_outputs() { impl_->poison_outputs(); }

void GuardedProblem::run(const GemmKernel& kernel) {
    poison_outputs();
    impl_->poison_workspace(kernel.workspace_bytes());
    PreparingLaunch(kernel).launch(arguments());
    impl_->device->synchronize(nullptr);
}

Verification GuardedProblem::check() const {
    Verification verdict;
    std::vector<std::string> complaints = impl_->check_surroundings(verdict);
    impl_->check_elements(verdict, *impl_->reference);
    describe(verdict, impl_->spec, impl_->exact, std::move(complaints));
    return verdict;
}

bool GuardedProblem::is_exact() const { return impl_->exact; }

Verification GuardedProblem::check_against(const GuardedProblem& right) const {
    Verification verdict;
    std::vector<std::string> complaints = impl_->check_surroundings(verdict);
    if (!is_exact() || !impl_->has_outputs_of(*right.impl_)) impl_->check_elements(verdict, *impl_->reference);
    describe(verdict, impl_->spec, impl_->exact, std::move(complaints));
    return verdict;
}

Verification GuardedProblem::check_on_cpu() const {
    const GemmSpec& spec = impl_->spec;
    const double work = flops(spec) / 2;
    if (work > kCpuReferenceLimit) {
        throw Error(
            fmt::format("the CPU is for small problems: {}x{}x{} takes {:.3g} multiply-adds, the limit is {:.3g}",
                        spec.m, spec.n, spec.k, work, kCpuReferenceLimit));
    }
    Verification verdict;
    verdict.inputs = impl_->inputs;
    impl_->check_elements(verdict, HostReference(impl_->device));
    describe(verdict, spec, impl_->exact, {});
    if (!verdict.ok) verdict.message = "on the CPU: " + verdict.message;
    return verdict;
}

}  // namespace jitgemm
