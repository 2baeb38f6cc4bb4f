#include "runtime/device/launch.hpp"

#include "generator/epilogue/names.hpp"
#include "generator/text/nearest_name.hpp"
#include "jitgemm/device_pointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string_view>

namespace jitgemm {
namespace {

// Memory that a launch reads or writes: stretches of `run` bytes, `pitch` bytes apart.
struct Region {
    std::string name;
    std::uint64_t address;
    std::uint64_t bytes;  ///< from the first to one past the last
    std::uint64_t run;
    std::uint64_t pitch;
    int alignment;
    std::string_view rule = "the spec promises";  ///< of the alignment
};

// Of a line, the elements that the matrices of a batch have together: those of one, where they lie one behind the
// other; of all, where they lie side by side. Any other batch is one run.
std::int64_t run_of_batch(const GemmOperand& operand) {
    const std::int64_t pitch = operand.leading_dimension();
    std::int64_t run = operand.run();
    for (const auto& [count, stride] : {MemoryStep{operand.inner_matrices(), operand.batch_stride},
                                        MemoryStep{operand.outer_matrices(), operand.outer_stride}})
        if (count > 1 && pitch != 0 && stride % pitch != 0) run += (count - 1) * stride;
    return run <= std::max(pitch, operand.run()) ? run : operand.extent();
}

/// The array of addresses, not the matrices: their places are the device's.
Region region_of_addresses(const GemmOperand& operand, DevicePointer array) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(operand.batch) * kAddressBytes;
    return {fmt::format("the array of {}'s addresses", operand.title),
            array.address,
            bytes,
            bytes,
            bytes,
            kAddressBytes,
            "of an address"};
}

Region region(const GemmOperand& operand, const GemmArguments& arguments) {
    if (operand.by_addresses) return region_of_addresses(operand, address_of(operand, arguments));
    const auto in_bytes = [&](std::int64_t elements) {
        return static_cast<std::uint64_t>(elements) * static_cast<std::uint64_t>(bytes(operand.type));
    };
    return {std::string(operand.title),      address_of(operand, arguments).address, in_bytes(operand.extent()),
            in_bytes(run_of_batch(operand)), in_bytes(operand.leading_dimension()),  operand.alignment};
}

// A launch reads arrays of addresses, those of D, too.
bool is_written(const GemmOperand& operand) { return operand.is_written && !operand.by_addresses; }

// Of equal pitch, two matrices may interleave without touching: slices of columns of one larger matrix.
bool interleave(const Region& x, const Region& y) {
    if (x.pitch != y.pitch) return false;
    const Region& low = x.address <= y.address ? x : y;
    const Region& high = x.address <= y.address ? y : x;
    const std::uint64_t offset = (high.address - low.address) % low.pitch;
    return offset >= low.run && offset + high.run <= low.pitch;
}

bool overlap(const Region& x, const Region& y) {
    const bool apart = x.address + x.bytes <= y.address || y.address + y.bytes <= x.address;
    return !apart && x.bytes != 0 && y.bytes != 0 && !interleave(x, y);
}

// D may be a matrix that is read, where each element is read before it is written.
bool may_be_one(const GemmOperand& input, const GemmOperand& written) {
    return input.row == written.row && input.column == written.column && input.order == written.order &&
           !written.is_over_blocks();
}

bool same_place(const GemmOperand& input, const GemmOperand& written) {
    const bool one_stride = written.batch <= 1 ||
                            (input.batch_stride == written.batch_stride && input.outer_stride == written.outer_stride);
    return may_be_one(input, written) && input.type == written.type && input.pitch == written.pitch && one_stride;
}

// One run of all bytes that the caller gives: a better kernel may use more of them than this one.
Region region_of_workspace(const GemmArguments& arguments) {
    const std::uint64_t address = arguments.workspace.address;
    const std::uint64_t room = std::numeric_limits<std::uint64_t>::max() - address;
    const std::uint64_t bytes = address == 0 ? 0 : std::min<std::uint64_t>(arguments.workspace_bytes, room);
    return {"the workspace", address, bytes, bytes, bytes, static_cast<int>(kWorkspaceAlignment)};
}

void check_pointer(const Region& operand, std::vector<std::string>& problems) {
    if (operand.address == 0) {
        problems.push_back(fmt::format("{} is null", operand.name));
    } else if ((operand.address & (static_cast<std::uint64_t>(operand.alignment) - 1)) != 0) {
        problems.push_back(fmt::format("{} at {:#x} is less aligned than the {} bytes {}", operand.name,
                                       operand.address, operand.alignment, operand.rule));
    }
}

std::string text_of(const Region& region) {
    return fmt::format("{} [{:#x}, {:#x})", region.name, region.address, region.address + region.bytes);
}

std::string overlap_rule(const GemmOperand& input, const GemmOperand& written) {
    if (input.is_repeated() && input.pointer == nullptr)  // of a text
        return fmt::format("; many elements of {0} are made of one of {1}, so {0} must lie apart from it",
                           written.title, input.title);
    if (input.has_row_numbers()) return fmt::format("; {} must lie apart", input.title);
    if (input.is_repeated()) return fmt::format(", one row that is added to all of {}'s", written.title);
    if (!may_be_one(input, written)) return {};
    return fmt::format("; {} may only be exactly {}, of the same type{}", written.title, input.title,
                       written.batch > 1 ? ", leading dimension and batch stride" : " and leading dimension");
}

void check_overlap(const GemmOperand& input, const Region& in, const GemmOperand& written, const Region& out,
                   std::vector<std::string>& problems) {
    if (in.address == 0 || out.address == 0 || !overlap(out, in)) return;
    if (in.address == out.address && same_place(input, written)) return;
    problems.push_back(fmt::format("{} overlaps {}{}", text_of(out), text_of(in), overlap_rule(input, written)));
}

void check_outputs_apart(const Region& one, const Region& other, std::vector<std::string>& problems) {
    if (one.address == 0 || other.address == 0 || !overlap(one, other)) return;
    problems.push_back(
        fmt::format("{} overlaps {}; each output needs memory of its own", text_of(one), text_of(other)));
}

void check_apart(const Region& workspace, const Region& operand, std::vector<std::string>& problems) {
    if (operand.address == 0 || !overlap(workspace, operand)) return;
    problems.push_back(fmt::format("{} overlaps {}; a workspace is memory of its own, apart from all operands",
                                   text_of(workspace), text_of(operand)));
}

// The alignment is checked whether or not this kernel needs a workspace: tuning may bring one that does.
void check_workspace(const GemmArguments& arguments, std::size_t needed, std::vector<std::string>& problems) {
    if (!arguments.workspace) return;  // none given: the context's own is used
    if (arguments.workspace_bytes < needed) {
        problems.push_back(
            fmt::format("the workspace holds {} bytes, the kernel needs {}", arguments.workspace_bytes, needed));
    }
    if (arguments.workspace.address % kWorkspaceAlignment != 0) {
        problems.push_back(fmt::format("the workspace at {:#x} is not aligned to {} bytes", arguments.workspace.address,
                                       kWorkspaceAlignment));
    }
}

void check_operands(const OperandList& operands, const GemmSpec& spec, const GemmArguments& arguments,
                    std::vector<std::string>& problems) {
    const Region workspace = region_of_workspace(arguments);
    const auto checked = [&](const GemmOperand& operand) {
        const Region place = region(operand, arguments);
        check_pointer(place, problems);
        check_apart(workspace, place, problems);
        return place;
    };
    std::vector<Region> outputs;
    for (const GemmOperand& written : operands) {
        if (!is_written(written)) continue;
        const Region out = checked(written);
        for (const Region& other : outputs) check_outputs_apart(out, other, problems);
        outputs.push_back(out);
    }
    for (const GemmOperand& input : operands) {
        if (is_written(input) || !is_used(input, spec, arguments)) continue;
        const Region in = checked(input);
        for (const GemmOperand& written : operands)
            if (is_written(written)) check_overlap(input, in, written, region(written, arguments), problems);
    }
}

/// Of the operands that each launch has a place for.
constexpr std::array kAddresses{&GemmArguments::a, &GemmArguments::b,       &GemmArguments::c,
                                &GemmArguments::d, &GemmArguments::offsets, &GemmArguments::row_index};

bool lie_apart(std::uint64_t x, std::uint64_t x_bytes, std::uint64_t y, std::uint64_t y_bytes) {
    return x + x_bytes <= y || y + y_bytes <= x;
}

bool is_aligned(std::uint64_t address, std::uint64_t alignment) { return (address & (alignment - 1)) == 0; }

bool is_sound_workspace(const GemmArguments& arguments, std::size_t needed) {
    return arguments.workspace_bytes >= needed && is_aligned(arguments.workspace.address, kWorkspaceAlignment);
}

// Zeros of a launch beside the scalars of a text, which have the bits of their places.
constexpr std::uint32_t kNoAlpha = 1U << 16, kNoBeta = 1U << 17, kNoK = 1U << 18;
static_assert(OperandArguments::kMost <= 16);

std::uint32_t guards_of(const GemmOperand& operand) {
    const std::uint32_t of_k = operand.needs_k() ? kNoK : 0;
    switch (operand.guard) {
        case OperandGuard::alpha: return of_k | kNoAlpha;
        case OperandGuard::beta: return of_k | kNoBeta;
        case OperandGuard::epilogue: return of_k | bits_of(*operand.guards);
        default: return of_k;
    }
}

/// LaunchRegions::Place::outputs. Outputs behind the eighth have no bit: launch_problems() decides.
std::uint8_t outputs_of(const GemmOperand& operand, const OperandList& operands) {
    unsigned bits = 0, bit = 1;
    for (const GemmOperand& output : operands) {
        if (!is_written(output)) continue;
        if (&output == &operand || (!is_written(operand) && same_place(operand, output))) bits |= bit;
        bit <<= 1U;
    }
    return static_cast<std::uint8_t>(bits);
}

/// In kAddresses; behind them, the place in the text.
std::ptrdiff_t place_of_address(const GemmOperand& operand) {
    if (operand.pointer != nullptr) return std::ranges::find(kAddresses, operand.pointer) - kAddresses.begin();
    return std::ssize(kAddresses) + static_cast<std::ptrdiff_t>(argument_place(*operand.epilogue, operand.name));
}

/// Checks a launch's argument for a name of the text. alpha and beta have places of their own.
void check_given(const OperandArgument& given, const EpilogueOperand& operand, std::vector<std::string>& problems) {
    if (is_launch_scalar(given.name))
        problems.push_back(
            fmt::format("{0} is among the operands: a launch has a place of its own for {0}", given.name));
    else if (operand.is_scalar && given.pointer)
        problems.push_back(
            fmt::format("{0} has an address, but it is a scalar of the launch: give its value, or read "
                        "{0}[0] in the text",
                        given.name));
}

/// Names are the text's own, each once, and scalars and addresses stand where they belong.
void check_names(const EpilogueParts& parts, const GemmArguments& arguments, std::vector<std::string>& problems) {
    std::vector<std::string_view> missing, superfluous;
    for (const EpilogueOperand& operand : parts.operands)
        if (operand.is_scalar && !is_launch_scalar(operand.name) && arguments.operands.find(operand.name) == nullptr)
            missing.push_back(operand.name);
    const auto is_output = [&](std::string_view name) {
        return std::ranges::any_of(parts.outputs,
                                   [&](const auto& one) { return is_beside_d(one) && one.name == name; });
    };
    for (const OperandArgument& given : arguments.operands) {
        const auto named = std::ranges::find(parts.operands, given.name, &EpilogueOperand::name);
        if (named != parts.operands.end())
            check_given(given, *named, problems);
        else if (!is_output(given.name))
            superfluous.push_back(given.name);
    }
    if (!missing.empty())
        problems.push_back(fmt::format("{} missing: the epilogue needs a value", join_names(missing)));
    if (!superfluous.empty())
        problems.push_back(
            fmt::format("{}: the epilogue has no operand or output of that name", join_names(superfluous)));
}

/// A scalar of the default epilogue that the text does not have.
void check_scalar(const EpilogueParts& parts, std::string_view name, float value, float usual,
                  std::vector<std::string>& problems) {
    if (value != usual && std::ranges::find(parts.operands, name, &EpilogueOperand::name) == parts.operands.end())
        problems.push_back(fmt::format("{} is {}, but the epilogue has no {}", name, value, name));
}

void check_epilogue(const GemmSpec& spec, const GemmArguments& arguments, std::vector<std::string>& problems) {
    if (const EpilogueParts* const parts = parts_of(spec)) {
        check_names(*parts, arguments, problems);
        check_scalar(*parts, "alpha", arguments.alpha, 1.0F, problems);
        check_scalar(*parts, "beta", arguments.beta, 0.0F, problems);
    } else if (!arguments.operands.empty()) {
        problems.push_back(
            fmt::format("an operand '{}' is given, but the spec has no epilogue", arguments.operands.begin()->name));
    }
}

}  // namespace

LaunchRegions::LaunchRegions(const GemmSpec& asked)
    : has_k_(asked.k != 0), has_c_(asked.c.has_value()), broadcasts_c_(asked.broadcast_c) {
    if (is_empty(asked)) return;
    if (const EpilogueParts* const parts = parts_of(asked)) of_text_ = std::make_unique<OfText>(OfText{*parts, {}});
    const OperandList operands = gemm_operands(asked);
    if (of_text_ != nullptr) of_text_->places.reserve(operands.size());
    for (const GemmOperand& operand : operands) add(place_of(operand, operands));
}

LaunchRegions::Place LaunchRegions::place_of(const GemmOperand& operand, const OperandList& operands) {
    const Region of = region(operand, {});
    return {.bytes = of.bytes,
            .guards = guards_of(operand),
            .operand = static_cast<std::uint8_t>(place_of_address(operand)),
            .alignment = static_cast<std::uint8_t>(of.alignment),
            .is_written = is_written(operand),
            .outputs = outputs_of(operand, operands)};
}

void LaunchRegions::add(const Place& place) {
    if (of_text_ != nullptr)
        of_text_->places.push_back(place);
    else
        places_.at(count_++) = place;
}

bool LaunchRegions::have_sound_scalars(const GemmArguments& arguments, const GivenOperands& given) const {
    if (arguments.broadcast_c && !broadcasts_c_) return false;
    if (of_text_ != nullptr) return given.are_sound();
    return arguments.operands.empty() && (arguments.beta == 0.0F || has_c_);
}

std::uint32_t LaunchRegions::zeros(const GemmArguments& arguments, const GivenOperands& given) const {
    const std::uint32_t no_k = has_k_ ? 0 : kNoK;
    if (of_text_ != nullptr) return no_k | given.zeros();
    return no_k | (arguments.alpha == 0.0F ? kNoAlpha : 0) | (arguments.beta == 0.0F ? kNoBeta : 0);
}

bool LaunchRegions::are_sound(const GemmArguments& arguments, std::size_t workspace_bytes) const {
    if (places().empty()) return false;
    const GivenOperands given = of_text_ == nullptr ? GivenOperands() : GivenOperands(of_text_->parts, arguments);
    if (!have_sound_scalars(arguments, given)) return false;
    const Region workspace = region_of_workspace(arguments);
    if (workspace.address != 0 && !is_sound_workspace(arguments, workspace_bytes)) return false;
    const std::uint32_t zeros = this->zeros(arguments, given);
    const auto address_of = [&](const Place& place) {
        return place.operand < kAddresses.size() ? (arguments.*kAddresses[place.operand]).address
                                                 : given.address(place.operand - kAddresses.size());
    };
    const auto is_apart = [&](const Place& one, std::uint64_t address) {
        return std::ranges::all_of(places(), [&](const Place& place) {
            if (!place.is_written || &place == &one) return true;
            const std::uint64_t written = address_of(place);
            return lie_apart(address, one.bytes, written, place.bytes) ||
                   (address == written && !one.is_written && (one.outputs & place.outputs) != 0);
        });
    };
    return std::ranges::all_of(places(), [&](const Place& place) {
        if ((place.guards & zeros) != 0) return true;
        const std::uint64_t address = address_of(place);
        return address != 0 && is_aligned(address, place.alignment) &&
               lie_apart(workspace.address, workspace.bytes, address, place.bytes) && is_apart(place, address);
    });
}

std::vector<std::string> launch_problems(const Problem& problem, const GemmArguments& arguments,
                                         std::size_t workspace_bytes) {
    const GemmSpec& spec = problem.asked;
    std::vector<std::string> problems;
    const bool reads_c = arguments.beta != 0.0F;
    check_epilogue(spec, arguments, problems);
    if (reads_c && !spec.c && spec.epilogue.empty())
        problems.push_back(fmt::format("beta is {} but the spec has no C", arguments.beta));
    if (arguments.broadcast_c && !spec.c) problems.emplace_back("broadcast_c is set but the spec has no C");
    check_workspace(arguments, workspace_bytes, problems);
    if (is_empty(spec)) return problems;

    check_operands(gemm_operands(spec, broadcasts_c(spec, arguments)), spec, arguments, problems);
    return problems;
}

std::vector<std::string> operand_problems(const OperandList& operands, const Problem& problem,
                                          const GemmArguments& arguments) {
    std::vector<std::string> problems;
    check_operands(operands, problem.asked, arguments, problems);
    return problems;
}

std::vector<std::string> address_problems(const GemmSpec& spec, const GemmArguments& arguments,
                                          const ReadAddresses& read) {
    std::vector<std::string> problems;
    for (const GemmOperand& operand : gemm_operands(spec, broadcasts_c(spec, arguments))) {
        if (!operand.by_addresses || !is_used(operand, spec, arguments)) continue;
        const std::vector<std::uint64_t> addresses = read(operand, address_of(operand, arguments));
        const auto wrong = std::ranges::find_if(addresses, [&](std::uint64_t address) {
            return address == 0 || !is_aligned(address, static_cast<std::uint64_t>(operand.alignment));
        });
        if (wrong == addresses.end()) continue;
        check_pointer({.name = fmt::format("{} of problem {}", operand.title, wrong - addresses.begin()),
                       .address = *wrong,
                       .bytes = 0,
                       .run = 0,
                       .pitch = 0,
                       .alignment = operand.alignment},
                      problems);
    }
    return problems;
}

}  // namespace jitgemm
