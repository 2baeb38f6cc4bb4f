#include "generator/layout/tiled_copy.hpp"

#include "generator/layout/copy_atom.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace jitgemm {
namespace {

constexpr int kWidestBytes = 16;
constexpr std::int64_t kMostCopyElements = std::int64_t{1} << 20;

void require_numbering(const Layout& layout, std::string_view name) {
    if (layout.rank() > 2) throw LayoutError(fmt::format("the {} {} have more modes than 2", name, to_string(layout)));
    if (layout.cosize() != layout.size() || right_inverse(layout).size() != layout.size())
        throw LayoutError(
            fmt::format("the {} {} are not numbered 0 to {}, each once", name, to_string(layout), layout.size() - 1));
}

/// (thread, (value, instruction)): a thread's values in instructions of `vector` each.
Layout by_instruction(const Layout& layout_tv, int vector) {
    const Layout value = layout_tv.mode(1);
    if (vector < 1 || value.size() % vector != 0)
        throw LayoutError(fmt::format("vectors of {} do not divide a thread's {} values", vector, value.size()));
    return make_layout({coalesce(layout_tv.mode(0)), logical_divide(value, Tiler(vector))});
}

/// (thread, (value, instruction), (RestM, RestN)) → offset in the tensor.
Layout by_thread(const TiledCopy& copy, const Layout& tensor, int vector) {
    const Layout passes = zipped_divide(tensor, by_mode(copy.rows(), copy.columns()));
    const Layout by_value = composition(passes.mode(0), by_instruction(copy.layout_tv(), vector));
    return make_layout({by_value.mode(0), by_value.mode(1), passes.mode(1)});
}

void require_countable(std::int64_t elements) {
    if (elements > kMostCopyElements)
        throw LayoutError(
            fmt::format("{} elements are more than the {} that are counted out", elements, kMostCopyElements));
}

void require_whole_passes(const TiledCopy& copy, const Layout& data) {
    require_countable(data.size());
    if (data.rank() != 2 || data.size(0) % copy.rows() != 0 || data.size(1) % copy.columns() != 0)
        throw LayoutError(fmt::format("a pass of {} threads covers {}x{}, which does not divide the tile {}",
                                      copy.threads(), copy.rows(), copy.columns(), to_string(data.shape())));
}

/// A stride along which not all vectors of `elements` elements would start on a multiple of their size, or 0.
std::int64_t misaligned_stride(const Layout& layout, std::int64_t elements) {
    const std::vector<std::int64_t> extents = flatten(layout.shape()), strides = flatten(layout.stride());
    for (std::size_t i = 0; i < strides.size(); ++i) {
        if (extents[i] > 1 && strides[i] % elements != 0) return strides[i];
    }
    return 0;
}

/// Why vectors of `elements` elements are not neighbours or not aligned among themselves, or "" if they are both.
std::string layout_violation(const TiledCopy& copy, const Layout& data, int elements) {
    if (copy.values() % elements != 0)
        return fmt::format("{} elements do not divide a thread's {} values", elements, copy.values());
    const Layout parts = by_thread(copy, data, elements);
    const Layout in_vector = coalesce(parts.mode(1).mode(0));
    if (elements > 1 && in_vector != Layout(IntTuple(elements)))
        return fmt::format("a thread's values are not neighbours in the data: {} of them lie at {}", elements,
                           to_string(in_vector));
    const Layout starts = make_layout({parts.mode(0), parts.mode(1).mode(1), parts.mode(2)});
    if (const std::int64_t stride = misaligned_stride(starts, elements); stride != 0)
        return fmt::format("a stride of {} elements is no multiple of {}", stride, elements);
    return {};
}

std::string instruction_name(int bytes, CopyKind path) {
    if (path == CopyKind::shared_to_register)
        return bytes == 16  ? "ld.shared.v4.b32"
               : bytes == 8 ? "ld.shared.v2.b32"
                            : fmt::format("ld.shared.b{}", 8 * bytes);
    const CpAsyncAtom* atom = bytes >= 4 ? widest_cp_async(bytes) : nullptr;
    return atom != nullptr ? std::string(atom->cute_name) : fmt::format("ld.global.b{0} + st.shared.b{0}", 8 * bytes);
}

CopyWidth width_of(const TiledCopy& copy, const Layout& data, int bits, int alignment, CopyKind path, int bytes) {
    CopyWidth width{.bytes = bytes, .elements = 8 * bytes / bits, .instruction = instruction_name(bytes, path)};
    if (8 * bytes % bits != 0) {
        width.elements = 0;
        width.reason = fmt::format("an element of {} bits is wider than {} bytes", bits, bytes);
    } else if (alignment % bytes != 0) {
        width.reason = fmt::format("the data are aligned to {} bytes, no multiple of {}", alignment, bytes);
    } else {
        width.reason = layout_violation(copy, data, width.elements);
    }
    width.legal = width.reason.empty();
    if (width.legal)
        width.reason =
            fmt::format("{} on multiples of {} bytes",
                        width.elements == 1 ? "single elements" : fmt::format("{} neighbours", width.elements), bytes);
    return width;
}

}  // namespace

TiledCopy::TiledCopy(const Layout& threads, const Layout& values) {
    require_numbering(threads, "threads");
    require_numbering(values, "values");
    require_countable(checked_product(threads.size(), values.size()));
    const Layout numbers = raked_product(threads, values);  // (m, n) → thread + value · threads
    layout_tv_ = composition(right_inverse(numbers), Layout(pair_of(threads.size(), values.size())));
    rows_ = static_cast<int>(numbers.size(0));
    columns_ = numbers.rank() > 1 ? static_cast<int>(numbers.size(1)) : 1;
}

TiledCopy::TiledCopy(const TiledMma& mma, Operand operand) {
    const TvLayout tv = mma.layout_tv(operand);
    layout_tv_ = tv.layout();
    rows_ = tv.rows();
    columns_ = tv.columns();
}

Slice TiledCopy::partition(const Layout& tensor, int vector, int thread) const {
    if (thread < 0 || thread >= threads())
        throw LayoutError(fmt::format("thread {} of {}: there is none", thread, threads()));
    const Layout parts = by_thread(*this, tensor, vector);
    const Layout rest = parts.mode(2);
    return {make_layout({parts.mode(1), rest.mode(0), rest.mode(1)}), parts.mode(0)(thread)};
}

std::vector<CopyVector> copy_vectors(const TiledCopy& copy, const Layout& data, int vector, int thread) {
    require_whole_passes(copy, data);
    const auto starts = [&](const Layout& tensor) {
        const Slice part = copy.partition(tensor, vector, thread);
        std::vector<std::int64_t> offsets =
            table(make_layout({part.layout.mode(0).mode(1), part.layout.mode(1), part.layout.mode(2)}));
        for (std::int64_t& offset : offsets) offset += part.offset;
        return offsets;
    };
    const IntTuple shape = pair_of(data.size(0), data.size(1));  // the identity tensor says rows and columns
    const std::vector<std::int64_t> rows = starts(Layout(shape, pair_of(1, 0))),
                                    columns = starts(Layout(shape, pair_of(0, 1))), offsets = starts(data);
    std::vector<CopyVector> vectors;
    for (std::size_t i = 0; i < offsets.size(); ++i)
        vectors.push_back({static_cast<int>(rows[i]), static_cast<int>(columns[i]), offsets[i]});
    return vectors;
}

std::vector<CopyWidth> copy_widths(const TiledCopy& copy, const Layout& data, int bits, int alignment, CopyKind path) {
    require_whole_passes(copy, data);
    std::vector<CopyWidth> widths;
    for (int bytes = kWidestBytes; bytes >= 1; bytes /= 2)
        widths.push_back(width_of(copy, data, bits, alignment, path, bytes));
    return widths;
}

const CopyWidth* widest(const std::vector<CopyWidth>& widths) {
    const auto found = std::ranges::find_if(widths, &CopyWidth::legal);
    return found == widths.end() ? nullptr : &*found;
}

}  // namespace jitgemm
