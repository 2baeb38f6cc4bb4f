#include "runtime/verify/filled_input.hpp"

#include "runtime/support/element_codec.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

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

FilledInput::FilledInput(std::shared_ptr<Device> device, const MatrixForm& form, std::string name, const Fill& fill,
                         std::optional<MatrixSize> read)
    : device_(std::move(device)), name_(std::move(name)), fill_(fill), read_(read), memory_(device_, form, name_) {}

FilledInput::FilledInput(std::shared_ptr<Device> device, const MatrixForm& form, std::string name,
                         std::vector<std::int32_t> values)
    : device_(std::move(device)), name_(std::move(name)), memory_(device_, form, name_) {
    if (form.extent_bytes() != 0) values_ = std::move(values);  // D may have no element
}

void FilledInput::fill(const Reference& reference) const {
    device_->fill_bytes(memory_.memory().data(), kNanByte, static_cast<std::size_t>(memory_.memory().size_bytes()));
    if (values_.empty())
        reference.fill(read_part(), fill_);
    else
        device_->copy_to_device(memory_.matrix().data, values_.data(), values_.size() * sizeof(std::int32_t));
}

DeviceMatrix FilledInput::read_part() const {
    DeviceMatrix part = memory_.disjoint_matrix();
    if (read_) part.rows = read_->rows, part.columns = read_->columns;
    return part;
}

/// Some rows are not read, or some columns.
DeviceMatrix FilledInput::unread_part() const {
    const DeviceMatrix all = memory_.disjoint_matrix(), part = read_part();
    DeviceMatrix rest = all;
    const bool by_row = part.rows != all.rows;
    const std::int64_t read = by_row ? part.rows * all.row_stride : part.columns * all.column_stride;
    rest.data.address += static_cast<std::uint64_t>(read * bytes(all.type));
    (by_row ? rest.rows : rest.columns) -= by_row ? part.rows : part.columns;
    return rest;
}

/// Compares with the values.
CheckResult FilledInput::changed_values() const {
    std::vector<std::int32_t> held(values_.size());
    device_->copy_to_host(held.data(), memory_.matrix().data, held.size() * sizeof(std::int32_t));
    CheckResult found;
    for (std::size_t i = 0; i < held.size(); ++i) {
        if (held[i] == values_[i] || found.wrong++ != 0) continue;
        found.first = i;
        found.expected = static_cast<std::uint32_t>(values_[i]);
        found.got = static_cast<std::uint32_t>(held[i]);
    }
    return found;
}

InputDamage FilledInput::damage(const Reference& reference) const {
    const CheckResult found = values_.empty() ? reference.compare(read_part(), fill_) : changed_values();
    const DeviceMatrix unread = unread_part();
    const bool has_unread = read_ && unread.rows != 0 && unread.columns != 0;
    const Fill nan{.kind = FillKind::constant, .constant = kNanBits};
    const auto changed = has_unread ? static_cast<std::int64_t>(reference.compare(unread, nan).wrong) : 0;
    InputDamage damage{.elements = static_cast<std::int64_t>(found.wrong),
                       .outside = changed + reference.guard_damage(memory_.guarded_lines(), kNanByte),
                       .text = {}};
    if (damage.elements != 0)
        damage.text =
            fmt::format("{} elements of {} were changed, first {}", damage.elements, name_, change(reference, found));
    if (damage.outside != 0)
        damage.text += fmt::format("{}{} bytes outside {} were overwritten", damage.text.empty() ? "" : "\n",
                                   damage.outside, name_);
    return damage;
}

std::string FilledInput::change(const Reference& reference, const CheckResult& found) const {
    const DeviceMatrix matrix = read_part();
    const CheckResult bits = values_.empty() ? reference.compared_element(matrix, fill_, found.first) : found;
    const BitTexts texts =
        texts_of(static_cast<std::uint32_t>(bits.expected), static_cast<std::uint32_t>(bits.got), matrix.type);
    return fmt::format("{}: was {}, is {}", element_name(name_, place_of(matrix, found.first), matrix.matrices > 1),
                       texts.was, texts.is);
}

}  // namespace jitgemm
