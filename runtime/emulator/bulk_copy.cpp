#include "runtime/emulator/bulk_copy.hpp"

#include "generator/base/round_up.hpp"
#include "generator/layout/composed_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace jitgemm::emulator {
namespace {

constexpr std::uint32_t kTmaSectorBytes = 32;

/// Bytes [first, end) of a row of `bytes` lie in the tensor, at `address` the first of them.
struct BulkRow {
    std::uint32_t bytes = 0;
    std::uint32_t first = 0;
    std::uint32_t end = 0;
    DeviceAddress address = 0;
};

void count_row(Tally& tally, const BulkRow& row, Access access) {
    const std::uint64_t bytes = row.end - row.first;
    (writes(access) ? tally.global_written_bytes : tally.global_read_bytes) += bytes;
    const std::uint64_t sectors = (row.address + bytes - 1) / kTmaSectorBytes - row.address / kTmaSectorBytes + 1;
    tally.sectors += sectors;
    tally.l2_sectors += sectors;
}

/// Rounded to the nearest, ties to even. Inf and NaN stay. Subnormals and carries need no care.
void round_to_tf32(std::byte* elements) {
    constexpr std::uint32_t kExponent = 0x7f800000, kHalf = 0xfff, kKept = 0xffffe000;
    std::array<std::uint32_t, kBulkChunkBytes / 4> words{};
    std::memcpy(words.data(), elements, kBulkChunkBytes);
    for (std::uint32_t& word : words)
        if ((word & kExponent) != kExponent) word = (word + kHalf + (word >> 13U & 1U)) & kKept;
    std::memcpy(elements, words.data(), kBulkChunkBytes);
}

/// Appends the row's chunks; `place(byte)` says where in shared memory the row's byte lies.
void append_row(Warp& warp, const BulkRow& row, Access access, BulkChunks& chunks, const auto& place) {
    GlobalPlace global;
    if (row.end > row.first) {
        global = resolve_global(warp, row.address, row.end - row.first, kBulkChunkBytes, access);
        count_row(warp.tally(), row, access);
    }
    for (std::uint32_t byte = 0; byte < row.bytes; byte += kBulkChunkBytes) {
        BulkChunk chunk{.offset = place(byte)};
        if (global.host != nullptr && byte >= row.first && byte < row.end) {
            chunk.valid = std::min(row.end - byte, kBulkChunkBytes);
            chunk.address = row.address + (byte - row.first);
            chunk.host = global.host + (byte - row.first);
            chunk.once = global.once;
        }
        chunks.push_back(chunk);
    }
}

/// Shared memory takes a line of 128 bytes at a time.
void count_shared_lines(Tally& tally, const BulkChunks& chunks) {
    constexpr std::uint32_t kLine = 128;
    std::uint64_t lines = 0;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        lines += i == 0 || chunks[i].offset / kLine != chunks[i - 1].offset / kLine ? 1 : 0;
    }
    tally.wavefronts += lines;
    tally.ideal_wavefronts += lines;
}

void require_legal_start(const TiledTensorMap& map, const BoxStart& start, Access access) {
    if (start[0] * bytes(map.type) % kBulkChunkBytes != 0) {
        throw AccessFault{FaultKind::illegal_instruction,
                          fmt::format("a box that begins at element {} of {} bytes: dimension 0 has to begin at a "
                                      "multiple of {} bytes",
                                      start[0], bytes(map.type), kBulkChunkBytes)};
    }
    for (int dimension = 0; dimension < map.rank && writes(access); ++dimension) {
        const std::int64_t first = start.at(static_cast<std::size_t>(dimension));
        if (first >= 0) continue;
        throw AccessFault{
            FaultKind::illegal_instruction,
            fmt::format("a store of a box that begins at {} in dimension {}: only a load may begin before "
                        "the tensor",
                        first, dimension)};
    }
}

std::uint32_t rows_of_box(const TiledTensorMap& map) {
    std::uint32_t rows = 1;
    for (int dimension = 1; dimension < map.rank; ++dimension) rows *= map.box.at(static_cast<std::size_t>(dimension));
    return rows;
}

// A store writes whole chunks: what lies in shared memory behind the last element of a row goes to global memory as
// well, up to 16 bytes (tried on an H200, elements of 1, 2 and 4 bytes, with and without swizzle).
BulkRow row_of_box(const TiledTensorMap& map, const BoxStart& start, std::uint32_t number, Access access) {
    const std::int64_t element = bytes(map.type);
    BulkRow row{.bytes = map.box[0] * static_cast<std::uint32_t>(element)};
    DeviceAddress address = map.address;
    for (std::size_t i = 1; i < static_cast<std::size_t>(map.rank); ++i) {
        const std::int64_t coordinate = start.at(i) + number % map.box.at(i);
        number /= map.box.at(i);
        if (coordinate < 0 || coordinate >= static_cast<std::int64_t>(map.extents.at(i))) return row;
        address += static_cast<std::uint64_t>(coordinate) * map.pitches.at(i - 1);
    }
    const auto within = [&](std::int64_t byte) {
        return static_cast<std::uint32_t>(std::clamp<std::int64_t>(byte, 0, row.bytes));
    };
    row.first = within(-start[0] * element);
    const std::int64_t end = (static_cast<std::int64_t>(map.extents[0]) - start[0]) * element;
    row.end = within(writes(access) ? round_up(std::max<std::int64_t>(end, 0), std::int64_t{kBulkChunkBytes}) : end);
    row.address = address + static_cast<std::uint64_t>(start[0] * element + row.first);
    return row;
}

/// None where the map has none.
const Swizzle* swizzle_of(TensorMapSwizzle swizzle) {
    const auto all = tma_swizzles();
    const auto found = std::ranges::find(all, to_string(swizzle), &TmaSwizzle::name);
    return found == all.end() ? nullptr : &found->swizzle;
}

}  // namespace

BulkChunks line_chunks(Warp& warp, DeviceAddress address, std::uint32_t bytes, std::uint32_t shared_offset,
                       Access access) {
    BulkChunks chunks;
    append_row(warp, {.bytes = bytes, .end = bytes, .address = address}, access, chunks,
               [&](std::uint32_t byte) { return shared_offset + byte; });
    count_shared_lines(warp.tally(), chunks);
    return chunks;
}

BulkChunks box_chunks(Warp& warp, const TiledTensorMap& map, const BoxStart& start, std::uint32_t shared_offset,
                      Access access) {
    require_legal_start(map, start, access);
    const Swizzle* swizzle = swizzle_of(map.swizzle);
    BulkChunks chunks;
    for (std::uint32_t number = 0; number < rows_of_box(map); ++number) {
        const BulkRow row = row_of_box(map, start, number, access);
        // Swizzled rows that are shorter than the span lie as far apart as whole ones (tried on an H200).
        const std::uint32_t pitch =
            std::max(row.bytes, swizzle == nullptr ? 0U : static_cast<std::uint32_t>(span_bytes(map.swizzle)));
        append_row(warp, row, access, chunks, [&](std::uint32_t byte) {
            const std::uint32_t plain = shared_offset + number * pitch + byte;
            return swizzle == nullptr ? plain : static_cast<std::uint32_t>((*swizzle)(plain));
        });
    }
    for (BulkChunk& chunk : chunks) chunk.rounds_to_tf32 = map.type == DataType::tf32;
    count_shared_lines(warp.tally(), chunks);
    return chunks;
}

void require_in_range(const SharedMemory& shared, const BulkChunks& chunks) {
    for (const BulkChunk& chunk : chunks) {
        if (shared.in_range(chunk.offset, kBulkChunkBytes, kBulkChunkBytes)) continue;
        throw AccessFault{FaultKind::out_of_range, "a bulk copy beyond shared memory"};  // bounds are not checked
    }
}

void move_to_shared(SharedMemory& shared, const BulkChunks& chunks) {
    for (const BulkChunk& chunk : chunks) {
        std::byte* to = shared.at(chunk.offset);
        if (chunk.valid > 0) std::memcpy(to, chunk.host, chunk.valid);
        std::memset(to + chunk.valid, 0, kBulkChunkBytes - chunk.valid);
        if (chunk.rounds_to_tf32) round_to_tf32(to);
    }
}

void move_to_global(const LaunchContext& launch, SharedMemory& shared, const BulkChunks& chunks) {
    for (const BulkChunk& chunk : chunks) {
        if (chunk.valid == 0) continue;
        const std::span<const std::byte> value(shared.at(chunk.offset), chunk.valid);
        if (chunk.once) {
            put_once(launch, chunk.address, chunk.host, value);
        } else {
            std::memcpy(chunk.host, value.data(), value.size());
        }
    }
}

}  // namespace jitgemm::emulator
