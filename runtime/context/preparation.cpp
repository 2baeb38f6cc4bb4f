#include "runtime/context/preparation.hpp"

#include "jitgemm/error.hpp"
#include "jitgemm/gemm_kernel.hpp"
#include "runtime/support/fork.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::size_t kPreparedAlignment = 256;

char letter(Prepared operand) { return operand == Prepared::a ? 'a' : 'b'; }

/// Everything but the kernel.
std::unique_ptr<OperandPreparation> described(Prepared operand, const Problem& problem, const Arch& arch) {
    const GemmSpec& requested = problem.requested();
    auto made = std::make_unique<OperandPreparation>();
    made->what = preparation_of(operand, problem, arch);
    made->alignment = operand == Prepared::a ? requested.align_a : requested.align_b;
    if (made->what.bytes() != 0) made->problem = preparing_problem(operand, problem);
    return made;
}

void take_kernel(OperandPreparation& preparation, std::shared_ptr<const LoadedKernel> kernel, Device& device) {
    for (const std::shared_ptr<const EntryPlan>& plan : kernel->plans)
        preparation.entries.emplace_back(plan, preparation.problem, device);
    preparation.kernel = std::move(kernel);
}

LoadedKernel load_preparing(const KernelText& text, const Problem& problem, ContextState& context) {
    LoadedKernel kernel = context.load(text, text.body);
    for (std::size_t i = 0; i < kernel.functions.size(); ++i)
        kernel.plans.push_back(LoadedEntry(text.entries[i], kernel.functions[i], problem, *context.device).plan);
    return kernel;
}

std::unique_ptr<const OperandPreparation> load(Prepared operand, const Problem& problem, ContextState& context) {
    const Arch& arch = *context.device->model().arch;
    std::unique_ptr<OperandPreparation> made = described(operand, problem, arch);
    if (made->what.bytes() == 0) return made;
    const ContextState::SharedLoad shared = context.load_shared(preparing_name(made->problem), [&] {
        return load_preparing(preparing_text(made->problem, arch, context.templates), made->problem, context);
    });
    take_kernel(*made, shared.kernel, *context.device);
    return made;
}

std::unique_ptr<const OperandPreparation> resized(Prepared operand, const Problem& problem,
                                                  const OperandPreparation& known, Device& device) {
    std::unique_ptr<OperandPreparation> made = described(operand, problem, *device.model().arch);
    if (made->what.bytes() != 0 && known.kernel != nullptr) take_kernel(*made, known.kernel, device);
    return made;
}

/// Calls `make(operand)` for each operand that launches take prepared.
template <typename Make>
std::unique_ptr<const KernelPreparations> made_for(const Problem& problem, const Make& make) {
    const GemmSpec& spec = problem.requested();
    if (spec.prepared == Prepared::none) return nullptr;
    auto made = std::make_unique<KernelPreparations>();
    if (is_prepared_a(spec)) made->a = make(Prepared::a);
    if (is_prepared_b(spec)) made->b = make(Prepared::b);
    return made;
}

const OperandPreparation& preparation_in(const KernelState& state, Prepared operand) {
    const OperandPreparation* const found = state.preparations == nullptr ? nullptr : state.preparations->of(operand);
    if (found != nullptr) return *found;
    throw SpecError(fmt::format("cannot prepare {} for {}", letter(operand), state.info().name),
                    {fmt::format("its spec has prepared={}: ask for a kernel with prepared={}",
                                 to_string(state.problem.requested().prepared), to_string(operand))});
}

void check_operand(const OperandPreparation& preparation, Prepared operand, DevicePointer pointer,
                   std::vector<std::string>& problems) {
    const PreparedForm& form = preparation.what.form;
    if (form.lines == 0 || form.k == 0) return;
    const char title = static_cast<char>(letter(operand) - 'a' + 'A');
    if (!pointer)
        problems.push_back(fmt::format("{} is null", title));
    else if (pointer.address % static_cast<std::uint64_t>(preparation.alignment) != 0)
        problems.push_back(fmt::format("{} at {:#x} is less aligned than the {} bytes the spec promises", title,
                                       pointer.address, preparation.alignment));
}

void check_memory(std::size_t needed, DevicePointer memory, std::size_t bytes, std::vector<std::string>& problems) {
    if (!memory || needed == 0) return;
    if (bytes < needed)
        problems.push_back(fmt::format("the memory holds {} bytes, the prepared operand needs {}", bytes, needed));
    if (memory.address % kPreparedAlignment != 0)
        problems.push_back(
            fmt::format("the memory at {:#x} is not aligned to {} bytes", memory.address, kPreparedAlignment));
}

/// Whether launches may load the operand before the previous kernel of the stream, which may be this one, has ended.
bool is_constant(Prepared operand, const GemmSpec& requested) {
    return operand == Prepared::a ? requested.constant_a : requested.constant_b;
}

void enqueue(const OperandPreparation& preparation, const PreparedState& prepared, Stream stream) {
    KernelOperands operands;
    operands.a = prepared.operand;
    operands.workspace = prepared.data;
    PackedArguments packed;
    for (const LoadedEntry& entry : preparation.entries) {
        if (entry.shape.blocks == 0) continue;
        entry.plan->arguments.pack({preparation.problem, preparation.id}, operands, *prepared.device, packed);
        prepared.device->launch(entry.function(), entry.shape, packed.span(), stream);
    }
}

bool is_of_device(const PreparedState& prepared, const Device& device) {
    if (prepared.device.get() == &device) return true;
    return prepared.device->kind() == DeviceKind::cuda && device.kind() == DeviceKind::cuda &&
           prepared.device->ordinal() == device.ordinal();
}

/// The address that a launch passes for an operand.
DevicePointer address_for(const KernelState& state, const PreparedState& prepared) {
    return state.problem.asked.prepared == Prepared::none ? prepared.data : prepared.operand;
}

/// A launch of no problem has no operands, and A and B hold no element that could be prepared.
bool has_operands(const KernelState& state) { return state.problem.asked.batch != 0; }

void take_prepared(const KernelState& state, Prepared operand, const PreparedOperand* given, DevicePointer& address,
                   std::vector<std::string>& problems) {
    const OperandPreparation* const wanted = state.preparations == nullptr ? nullptr : state.preparations->of(operand);
    const bool is_given = given != nullptr && *given;
    const char name = letter(operand);
    if (wanted == nullptr) {
        if (is_given)
            problems.push_back(
                fmt::format("prepared_{} is given, but the spec has prepared={}: ask for a kernel with "
                            "prepared={}",
                            name, to_string(state.problem.requested().prepared), name));
        return;
    }
    if (!is_given) {
        if (!has_operands(state)) return;
        problems.push_back(
            fmt::format("prepared_{0} is not given, but the spec has prepared={1}: prepare_{0}() makes it", name,
                        to_string(state.problem.requested().prepared)));
        return;
    }
    const PreparedState& prepared = PreparedAccess::state(*given);
    if (prepared.form != wanted->what.form)
        problems.push_back(fmt::format("prepared_{} is {}; this kernel reads {}", name, to_string(prepared.form),
                                       to_string(wanted->what.form)));
    if (!is_of_device(prepared, *state.device))
        problems.push_back(fmt::format("prepared_{} lies on another device than the kernel's", name));
    address = address_for(state, prepared);
}

}  // namespace

std::unique_ptr<const KernelPreparations> preparations_of(const Problem& problem, ContextState& context) {
    return made_for(problem, [&](Prepared operand) { return load(operand, problem, context); });
}

bool are_preparations_loaded(const Problem& problem, ContextState& context) {
    const GemmSpec& spec = problem.requested();
    return std::ranges::all_of(std::array{Prepared::a, Prepared::b}, [&](Prepared operand) {
        if (!is_prepared(operand, spec)) return true;
        const Preparation what = preparation_of(operand, problem, *context.device->model().arch);
        return what.bytes() == 0 || context.is_loaded(preparing_name(preparing_problem(operand, problem)));
    });
}

std::unique_ptr<const KernelPreparations> preparations_of(const Problem& problem, const KernelPreparations& known,
                                                          Device& device) {
    return made_for(problem, [&](Prepared operand) { return resized(operand, problem, *known.of(operand), device); });
}

PreparedState::~PreparedState() {
    if (owned && generation == process_generation()) device->free(owned);
}

const PreparedState& PreparedAccess::state(const PreparedOperand& prepared) {
    if (prepared.state_ == nullptr) throw Error("this PreparedOperand is empty: prepare_a() and prepare_b() make one");
    return *prepared.state_;
}

PreparedOperand PreparedAccess::make(std::shared_ptr<const PreparedState> state) {
    PreparedOperand prepared;
    prepared.state_ = std::move(state);
    return prepared;
}

PreparedOperand prepare(const GemmKernel& kernel, Prepared operand, DevicePointer pointer, Stream stream,
                        DevicePointer memory, std::size_t bytes, std::shared_ptr<const void> kept) {
    const KernelState& state = state_of(kernel);
    const OperandPreparation& preparation = preparation_in(state, operand);
    const auto needed = static_cast<std::size_t>(preparation.what.bytes());
    std::vector<std::string> problems;
    check_operand(preparation, operand, pointer, problems);
    check_memory(needed, memory, bytes, problems);
    if (!problems.empty())
        throw SpecError(fmt::format("cannot prepare {} for {}", letter(operand), state.info().name),
                        std::move(problems));
    auto made = std::make_shared<PreparedState>();
    made->form = preparation.what.form;
    made->device = state.device;
    made->operand = made->data = pointer;
    const bool is_read = needed == 0 || preparation.what.form.parts != Math::ieee;  // by some kernel
    if (is_read) made->kept = std::move(kept);
    if (needed != 0) {
        made->bytes = needed;
        made->data = memory ? memory : made->owned = state.device->allocate(needed);
        enqueue(preparation, *made, stream);
        if (is_constant(operand, state.problem.requested())) state.device->synchronize(stream);
    }
    return PreparedAccess::make(std::move(made));
}

GemmArguments with_prepared(const KernelState& state, const GemmArguments& given) {
    GemmArguments arguments = given;
    std::vector<std::string> problems;
    take_prepared(state, Prepared::a, given.prepared_a, arguments.a, problems);
    take_prepared(state, Prepared::b, given.prepared_b, arguments.b, problems);
    if (!problems.empty()) throw SpecError("cannot launch " + state.info().name, std::move(problems));
    return arguments;
}

// ---- the public handles ---------------------------------------------------------------------------------------------

std::string PreparedOperand::form() const { return to_string(PreparedAccess::state(*this).form); }
DevicePointer PreparedOperand::data() const { return PreparedAccess::state(*this).data; }
DevicePointer PreparedOperand::operand() const { return PreparedAccess::state(*this).operand; }
std::size_t PreparedOperand::bytes() const { return PreparedAccess::state(*this).bytes; }

PreparedOperand GemmKernel::prepare_a(DevicePointer a, Stream stream, DevicePointer memory, std::size_t bytes) const {
    return prepare(*this, Prepared::a, a, stream, memory, bytes);
}
PreparedOperand GemmKernel::prepare_b(DevicePointer b, Stream stream, DevicePointer memory, std::size_t bytes) const {
    return prepare(*this, Prepared::b, b, stream, memory, bytes);
}
std::size_t GemmKernel::prepared_a_bytes() const {
    return static_cast<std::size_t>(preparation_in(state_of(*this), Prepared::a).what.bytes());
}
std::size_t GemmKernel::prepared_b_bytes() const {
    return static_cast<std::size_t>(preparation_in(state_of(*this), Prepared::b).what.bytes());
}

// ---- launches that prepare by themselves ----------------------------------------------------------------------------

PreparingLaunch::PreparingLaunch(GemmKernel kernel) : kernel_(std::move(kernel)) {}

const PreparedOperand* PreparingLaunch::prepared(Prepared operand, DevicePointer address, std::vector<Known>& known) {
    const KernelState& state = state_of(kernel_);
    if (state.preparations == nullptr || state.preparations->of(operand) == nullptr) return nullptr;
    if (!has_operands(state)) return nullptr;
    const auto found = std::ranges::find(known, address, &Known::address);
    if (found != known.end()) return &found->prepared;
    return &known.emplace_back(Known{address, jitgemm::prepare(kernel_, operand, address, nullptr)}).prepared;
}

void PreparingLaunch::prepare(const GemmArguments& arguments) {
    std::erase_if(a_, [&](const Known& known) { return known.address == arguments.a; });
    std::erase_if(b_, [&](const Known& known) { return known.address == arguments.b; });
    static_cast<void>(prepared(Prepared::a, arguments.a, a_));
    static_cast<void>(prepared(Prepared::b, arguments.b, b_));
    state_of(kernel_).device->synchronize(nullptr);
}

void PreparingLaunch::launch(const GemmArguments& arguments, Stream stream) {
    if (state_of(kernel_).preparations == nullptr) return kernel_.launch(arguments, stream);
    GemmArguments with = arguments;
    with.prepared_a = prepared(Prepared::a, arguments.a, a_);
    with.prepared_b = prepared(Prepared::b, arguments.b, b_);
    kernel_.launch(with, stream);
}

}  // namespace jitgemm
