#include "runtime/verify/filled_input.hpp"

#include "runtime/support/element_codec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>
#include <vector>

namespace jitgemm {
namespace {

struct BitTexts {
    std::string was;
    std::string is;
};

/// Values, or bits where the values read the same: NaNs, zeros.
BitTexts texts_of(std::uint32_t was, std::uint32_t is, DataType type) {
    const double before = element_value(&was, type, 0);
    const double after = element_value(&is, type, 0);
    if (before == after || (std::isnan(before) && std::isnan(after)))
        return {fmt::format("{:#x}", was), fmt::format("{:#x}", is)};
    return {fmt::format("{}", before), fmt::format("{}", after)};
}

}  // namespace

FilledInput::FilledInput(std::shared_ptr<Device> device, const MatrixForm& form, std::string name, const Fill& fill)
    : device_(std::move(device)), name_(std::move(name)), fill_(fill), memory_(device_, form, name_) {}

/// Matrices of a batch differ.
Fill FilledInput::fill_of(std::size_t matrix) const {
    constexpr std::uint64_t kApart = 0x10001;
    Fill fill = fill_;
    fill.seed += matrix * kApart;
    return fill;
}

void FilledInput::fill(const Reference& reference) const {
    device_->fill_bytes(memory_.memory().data(), kNanByte, static_cast<std::size_t>(memory_.memory().size_bytes()));
    for (std::size_t i = 0; const DeviceMatrix& matrix : memory_.disjoint_matrices())
        reference.fill(matrix, fill_of(i++));
}

InputDamage FilledInput::damage(const Reference& reference) const {
    InputDamage damage;
    std::string first;
    for (std::size_t i = 0; const DeviceMatrix& matrix : memory_.disjoint_matrices()) {
        const CheckResult found = reference.compare(matrix, fill_of(i));
        damage.elements += static_cast<std::int64_t>(found.wrong);
        if (found.wrong != 0 && first.empty()) first = first_change(reference, i, found.first);
        ++i;
    }
    for (const GuardedLines& lines : memory_.guarded_lines()) damage.outside += reference.guard_damage(lines, kNanByte);
    if (damage.elements != 0)
        damage.text = fmt::format("{} elements of {} were changed, first {}", damage.elements, name_, first);
    if (damage.outside != 0)
        damage.text += fmt::format("{}{} bytes outside {} were overwritten", damage.text.empty() ? "" : "\n",
                                   damage.outside, name_);
    return damage;
}

std::string FilledInput::first_change(const Reference& reference, std::size_t place, std::uint64_t number) const {
    const std::vector<DeviceMatrix> matrices = memory_.disjoint_matrices();
    const DeviceMatrix& matrix = matrices.at(place);
    const CheckResult bits = reference.compared_element(matrix, fill_of(place), number);
    const BitTexts texts =
        texts_of(static_cast<std::uint32_t>(bits.expected), static_cast<std::uint32_t>(bits.got), matrix.type);
    const std::string name = matrices.size() > 1 ? fmt::format("{}[{}]", name_, place) : name_;
    return fmt::format("{}: was {}, is {}", element_name(name, place_of(matrix, number)), texts.was, texts.is);
}

}  // namespace jitgemm
