#include "runtime/verify/problem.hpp"

#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "runtime/emulator_device/emulator_device.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/verify/cpu_reference.hpp"
#include "runtime/verify/filled_input.hpp"
#include "runtime/verify/reference.hpp"
#include "runtime/verify/verification_rules.hpp"
#include "runtime/verify/verification_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::uint8_t kGuardByte = 0x5a;
constexpr std::uint32_t kUnwritten = 0x8badf00d;  // D of integers has no NaN

Fill normal_fill(std::uint64_t seed) { return {.kind = FillKind::normal, .seed = seed}; }

Fill integer_fill(std::uint64_t seed, int range) { return {.kind = FillKind::integers, .seed = seed, .range = range}; }

Fill unread_fill() { return {.kind = FillKind::constant, .constant = kNanBits}; }

Fill sparse_fill(std::uint64_t seed, std::int64_t group) {
    return {.kind = FillKind::sparse, .seed = seed, .group = group};
}

}  // namespace

struct Problem::Impl {
    Impl(ContextState& context, const GemmSpec& asked, InputKind kind, std::uint64_t seed, float alpha_value,
         float beta_value, Placement placement);

    [[nodiscard]] bool reads_ab() const { return alpha != 0.0F && spec.k != 0; }
    [[nodiscard]] bool reads_c() const { return spec.c.has_value() && beta != 0.0F; }
    [[nodiscard]] Check check_request() const;
    [[nodiscard]] bool has_d_of(const Impl& right) const;
    [[nodiscard]] Fill fill_of_a(std::uint64_t seed) const;
    [[nodiscard]] Fill fill_of_b(std::uint64_t seed) const;
    [[nodiscard]] Fill fill_of_c(std::uint64_t seed) const;
    [[nodiscard]] std::size_t workspace_bytes() const { return static_cast<std::size_t>(workspace.form().columns); }
    void poison_bands(const GuardedMatrix& memory) const;
    void poison_d() const;
    void poison_workspace(std::size_t bytes);
    void check_inputs(Verification& verdict, std::vector<std::string>& complaints) const;
    void check_bands(const GuardedMatrix& memory, const char* name, Verification& verdict,
                     std::vector<std::string>& complaints) const;
    void check_written(const EmulatorDevice& emulator, Verification& verdict,
                       std::vector<std::string>& complaints) const;
    [[nodiscard]] std::vector<std::string> check_surroundings(Verification& verdict) const;
    void check_elements(Verification& verdict) const;
    void add_first(Verification& verdict, std::int64_t row, std::int64_t column, double expected, double got) const;

    std::shared_ptr<Device> device;
    std::unique_ptr<Reference> reference;
    GemmSpec spec;
    InputKind inputs;
    float alpha;
    float beta;
    IntegerInputs integers;
    bool exact;
    std::vector<FilledInput> operands;  ///< A, B and, where the spec has one, C
    GuardedMatrix d;
    GuardedMatrix workspace;  ///< empty until a kernel wants one
};

Problem::Impl::Impl(ContextState& context, const GemmSpec& asked, InputKind kind, std::uint64_t seed, float alpha_value,
                    float beta_value, Placement placement)
    : device(context.device),
      reference(make_reference(context)),
      spec(asked),
      inputs(kind),
      alpha(alpha_value),
      beta(beta_value),
      integers(integer_inputs(asked, alpha_value, beta_value)),
      exact(kind == InputKind::integers && integers.exact) {
    const ProblemForms forms = problem_forms(spec, placement == Placement::generous);
    operands.emplace_back(device, forms.a, "A", reads_ab() ? fill_of_a(3 * seed) : unread_fill());
    operands.emplace_back(device, forms.b, "B", reads_ab() ? fill_of_b(3 * seed + 1) : unread_fill());
    if (spec.c) operands.emplace_back(device, forms.c, "C", reads_c() ? fill_of_c(3 * seed + 2) : unread_fill());
    for (const FilledInput& operand : operands) operand.fill(*reference);
    d = GuardedMatrix(device, forms.d, "D");
}

Fill Problem::Impl::fill_of_a(std::uint64_t seed) const {
    if (inputs == InputKind::normal) return normal_fill(seed);
    return integers.group > 1 ? sparse_fill(seed, integers.group) : integer_fill(seed, integers.range);
}

Fill Problem::Impl::fill_of_b(std::uint64_t seed) const {
    return inputs == InputKind::normal ? normal_fill(seed) : integer_fill(seed, integers.range);
}

Fill Problem::Impl::fill_of_c(std::uint64_t seed) const {
    return inputs == InputKind::normal ? normal_fill(seed) : integer_fill(seed, integers.range_c);
}

void Problem::Impl::poison_bands(const GuardedMatrix& memory) const {
    device->fill_bytes(memory.memory().data(), kGuardByte, static_cast<std::size_t>(memory.memory().size_bytes()));
}

void Problem::Impl::poison_d() const {
    poison_bands(d);
    const bool has_nan = fraction_bits(spec.d) >= 0;
    reference->fill(d.matrix(), d.form().rows, d.form().columns,
                    {.kind = FillKind::constant, .constant = has_nan ? kNanBits : kUnwritten});
    if (EmulatorDevice* const emulator = as_emulator(*device))
        emulator->undefine_memory(d.matrix().data, static_cast<std::size_t>(d.form().extent_bytes()), true);
    device->synchronize(nullptr);  // whatever stream the kernel runs on
}

/// Of just the size a kernel asks for, so that the bands lie where it must not go.
void Problem::Impl::poison_workspace(std::size_t bytes) {
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

Check Problem::Impl::check_request() const {
    const ErrorBound bound = error_bound(spec);
    return {.a = operands[0].matrix(),
            .b = operands[1].matrix(),
            .c = reads_c() ? operands[2].matrix() : DeviceMatrix{},
            .d = d.matrix(),
            .m = spec.m,
            .n = spec.n,
            .k = reads_ab() ? spec.k : 0,
            .alpha = static_cast<double>(alpha),
            .beta = static_cast<double>(beta),
            .sum_unit = bound.sum_unit,
            .output_unit = bound.output_unit,
            .output_floor = bound.output_floor,
            .exact = exact};
}

/// Each element against 1 · the other's: the sum has no terms, the other D stands in for C.
bool Problem::Impl::has_d_of(const Impl& right) const {
    Check request = check_request();
    request.c = right.d.matrix();
    request.k = 0;
    request.alpha = 0;
    request.beta = 1;
    return reference->check(request).wrong == 0;
}

/// What a kernel changed is made anew: D is judged by the inputs as they should be, and the next kernel finds them so.
void Problem::Impl::check_inputs(Verification& verdict, std::vector<std::string>& complaints) const {
    for (const FilledInput& operand : operands) {
        const InputDamage damage = operand.damage(*reference);
        if (damage.text.empty()) continue;
        verdict.changed_inputs += damage.elements;
        verdict.guard_damage += damage.outside;
        complaints.push_back(damage.text);
        operand.fill(*reference);
    }
}

void Problem::Impl::check_bands(const GuardedMatrix& memory, const char* name, Verification& verdict,
                                std::vector<std::string>& complaints) const {
    const std::int64_t damage = reference->guard_damage(memory.guarded_lines(), kGuardByte);
    if (damage == 0) return;
    verdict.guard_damage += damage;
    complaints.push_back(fmt::format("{} bytes outside {} were overwritten", damage, name));
}

void Problem::Impl::check_written(const EmulatorDevice& emulator, Verification& verdict,
                                  std::vector<std::string>& complaints) const {
    const DeviceMatrix matrix = d.matrix();
    const MatrixForm& form = d.form();
    const auto size = static_cast<std::uint64_t>(bytes(form.type));
    const auto unwritten = [&](std::int64_t line, std::int64_t first, std::int64_t count) {
        const std::uint64_t element = static_cast<std::uint64_t>(line * form.leading_dimension + first);
        return static_cast<std::int64_t>(emulator.unwritten_bytes(DevicePointer{matrix.data.address + element * size},
                                                                  static_cast<std::uint64_t>(count) * size));
    };
    std::int64_t first_line = -1;
    for (std::int64_t line = 0; form.run() != 0 && line < form.lines(); ++line) {
        const std::int64_t missing = unwritten(line, 0, form.run());
        if (missing != 0 && first_line < 0) first_line = line;
        verdict.unwritten += missing;
    }
    if (first_line < 0) return;
    std::int64_t first = 0;
    while (unwritten(first_line, first, 1) == 0) ++first;
    const bool by_row = form.order == Order::row;
    complaints.push_back(fmt::format("{} bytes of D were never written, first those of D[{}, {}]", verdict.unwritten,
                                     by_row ? first_line : first, by_row ? first : first_line));
}

std::vector<std::string> Problem::Impl::check_surroundings(Verification& verdict) const {
    std::vector<std::string> complaints;
    verdict.inputs = inputs;
    check_inputs(verdict, complaints);
    check_bands(d, "D", verdict, complaints);
    if (workspace_bytes() != 0) check_bands(workspace, "the workspace", verdict, complaints);
    if (const EmulatorDevice* const emulator = as_emulator(*device)) check_written(*emulator, verdict, complaints);
    return complaints;
}

void Problem::Impl::check_elements(Verification& verdict) const {
    const Check request = check_request();
    const CheckResult found = reference->check(request);
    verdict.wrong = static_cast<std::int64_t>(found.wrong);
    verdict.largest_error = found.largest_error;
    if (verdict.wrong == 0) return;
    const auto row = static_cast<std::int64_t>(found.first / static_cast<std::uint64_t>(request.n));
    const auto column = static_cast<std::int64_t>(found.first % static_cast<std::uint64_t>(request.n));
    const CheckResult element = reference->element(request, row, column);
    add_first(verdict, row, column, element.expected, element.got);
}

void Problem::Impl::add_first(Verification& verdict, std::int64_t row, std::int64_t column, double expected,
                              double got) const {
    verdict.first = Mismatch{.row = row, .column = column, .expected = expected, .got = got, .owner = {}};
}

Problem::Problem(ContextState& context, const GemmSpec& resolved_spec, InputKind inputs, std::uint64_t seed,
                 float alpha, float beta, Placement placement)
    : impl_(std::make_unique<Impl>(context, resolved_spec, inputs, seed, alpha, beta, placement)) {
    poison_d();
}

Problem::~Problem() = default;
Problem::Problem(Problem&&) noexcept = default;
Problem& Problem::operator=(Problem&&) noexcept = default;

GemmArguments Problem::arguments() const {
    GemmArguments arguments;
    arguments.a = impl_->operands[0].matrix().data;
    arguments.b = impl_->operands[1].matrix().data;
    if (impl_->spec.c) arguments.c = impl_->operands[2].matrix().data;
    arguments.d = impl_->d.matrix().data;
    arguments.alpha = impl_->alpha;
    arguments.beta = impl_->beta;
    arguments.workspace_bytes = impl_->workspace_bytes();
    if (arguments.workspace_bytes != 0) arguments.workspace = impl_->workspace.matrix().data;
    return arguments;
}

void Problem::poison_d() { impl_->poison_d(); }

void Problem::run(const GemmKernel& kernel) {
    poison_d();
    impl_->poison_workspace(kernel.workspace_bytes());
    kernel.launch(arguments());
    impl_->device->synchronize(nullptr);
}

Verification Problem::check() const {
    Verification verdict;
    std::vector<std::string> complaints = impl_->check_surroundings(verdict);
    impl_->check_elements(verdict);
    describe(verdict, impl_->spec, impl_->exact, std::move(complaints));
    return verdict;
}

bool Problem::is_exact() const { return impl_->exact; }

Verification Problem::check_against(const Problem& right) const {
    Verification verdict;
    std::vector<std::string> complaints = impl_->check_surroundings(verdict);
    if (!is_exact() || !impl_->has_d_of(*right.impl_)) impl_->check_elements(verdict);
    describe(verdict, impl_->spec, impl_->exact, std::move(complaints));
    return verdict;
}

Verification Problem::check_on_cpu() const {
    const GemmSpec& spec = impl_->spec;
    const double work = static_cast<double>(spec.m) * static_cast<double>(spec.n) * static_cast<double>(spec.k);
    if (work > kCpuReferenceLimit) {
        throw Error(fmt::format(
            "the CPU reference is for small problems: {}x{}x{} takes {:.3g} multiply-adds, the limit is {:.3g}", spec.m,
            spec.n, spec.k, work, kCpuReferenceLimit));
    }
    const auto host = [&](std::size_t operand) { return impl_->operands[operand].memory().to_host(*impl_->device); };
    const std::vector<std::byte> a = host(0);
    const std::vector<std::byte> b = host(1);
    const std::vector<std::byte> c = impl_->reads_c() ? host(2) : std::vector<std::byte>{};
    const std::vector<std::byte> d = impl_->d.to_host(*impl_->device);
    const std::vector<ReferenceElement> expected =
        cpu_reference(spec, {.a = a.data(), .b = b.data(), .c = c.data()}, impl_->alpha, impl_->beta);

    Verification verdict;
    verdict.inputs = impl_->inputs;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const auto row = static_cast<std::int64_t>(i) / spec.n;
        const auto column = static_cast<std::int64_t>(i) % spec.n;
        const double got = element_value(d.data(), spec.d, element_index(spec.d_order, spec.ldd, row, column));
        const double error = relative_error(spec, expected[i], got, impl_->exact);
        verdict.largest_error = std::max(verdict.largest_error, error);
        if (error <= 1) continue;
        if (verdict.wrong++ == 0) impl_->add_first(verdict, row, column, expected[i].value, got);
    }
    describe(verdict, spec, impl_->exact, {});
    if (!verdict.ok) verdict.message = "CPU reference: " + verdict.message;
    return verdict;
}

}  // namespace jitgemm
