// Copies through tensor maps and of plain rows, every byte compared with a layout and residues worked out here.

#include "runtime/emulator/counters.hpp"
#include "runtime/emulator/encoded_tensor_map.hpp"
#include "tests/catch.hpp"
#include "tests/support/tma_run.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>

using namespace jitgemm;
using emulator::AsyncMode;
using emulator::InstructionKind;
using testing::copy_tile_out;
using testing::counting_input;
using testing::make_mbarrier;
using testing::run_tma;
using testing::TmaRun;
using testing::wait_mbarrier;
using Bytes = std::vector<std::byte>;
using Start = std::vector<int>;

namespace {

struct Tensor {
    TiledTensorMap map;
    std::size_t bytes = 0;  ///< of the buffer it fills
};

/// Rows packed, each filled up to 16 bytes.
Tensor packed(DataType type, const std::vector<std::uint64_t>& extents, const std::vector<std::uint32_t>& box,
              TensorMapSwizzle swizzle = TensorMapSwizzle::none) {
    Tensor tensor{.map = {.type = type, .rank = static_cast<int>(extents.size()), .swizzle = swizzle}};
    std::ranges::copy(extents, tensor.map.extents.begin());
    std::ranges::copy(box, tensor.map.box.begin());
    tensor.bytes = (extents[0] * static_cast<std::uint64_t>(bytes(type)) + 15) / 16 * 16;
    for (std::size_t i = 1; i < extents.size(); ++i) {
        tensor.map.pitches.at(i - 1) = tensor.bytes;
        tensor.bytes *= extents[i];
    }
    return tensor;
}

int box_bytes(const TiledTensorMap& map) {
    int all = bytes(map.type);
    for (int i = 0; i < map.rank; ++i) all *= static_cast<int>(map.box.at(static_cast<std::size_t>(i)));
    return all;
}

/// Calls `function(byte in the box, byte in the tensor, or -1 where it is none of it)` for every byte of the box.
template <typename Function>
void for_box(const TiledTensorMap& map, const Start& start, const Function& function) {
    for (int byte = 0; byte < box_bytes(map); ++byte) {
        int rest = byte / bytes(map.type);
        std::int64_t place = byte % bytes(map.type);
        bool inside = true;
        for (std::size_t i = 0; i < start.size(); ++i) {
            const auto extent = static_cast<int>(map.box.at(i));
            const std::int64_t coordinate = start[i] + rest % extent;
            rest /= extent;
            inside = inside && coordinate >= 0 && coordinate < static_cast<std::int64_t>(map.extents.at(i));
            place += coordinate * (i == 0 ? bytes(map.type) : static_cast<std::int64_t>(map.pitches.at(i - 1)));
        }
        function(byte, inside ? place : -1);
    }
}

/// Bytes from a row of the box to the next in shared memory: a swizzled row takes the whole span.
int row_pitch(const TiledTensorMap& map) {
    const int row = static_cast<int>(map.box[0]) * bytes(map.type);
    return map.swizzle == TensorMapSwizzle::none ? row : span_bytes(map.swizzle);
}

/// Of the tile, what the box and the gaps between its rows take, in whole lines.
int tile_bytes(const TiledTensorMap& map) {
    const int rows = box_bytes(map) / bytes(map.type) / static_cast<int>(map.box[0]);
    return (rows * row_pitch(map) + 127) / 128 * 128;
}

/// Where TMA puts byte `byte` of a box at the beginning of a tile at a multiple of 1024.
std::size_t swizzled(const TiledTensorMap& map, int byte) {
    const int row_bytes = static_cast<int>(map.box[0]) * bytes(map.type);
    const int place = byte / row_bytes * row_pitch(map) + byte % row_bytes;
    const int line = place / 128;  // of all banks
    const int moves = map.swizzle == TensorMapSwizzle::span128  ? line % 8
                      : map.swizzle == TensorMapSwizzle::span64 ? line % 4
                      : map.swizzle == TensorMapSwizzle::span32 ? line % 2
                                                                : 0;
    const int offset = 128 * line + 16 * (place / 16 % 8 ^ moves) + place % 16;
    return static_cast<std::size_t>(offset);
}

std::string coordinates(const Start& start) { return fmt::format("{{{}}}", fmt::join(start, ", ")); }

/// Thread 0 loads a box of map 0 to the tile and everybody waits.
std::string load_box(const TiledTensorMap& map, const Start& start, const std::string& space = "shared::cta") {
    return make_mbarrier(0, 1) +
           fmt::format(R"(
    setp.eq.u32 %p0, %thread, 0;
    mov.u32 %r1, tile;
    mov.u32 %r2, bars;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], {};
    @%p0 cp.async.bulk.tensor.{}d.{}.global.tile.mbarrier::complete_tx::bytes [%r1], [%map0, {}], [%r2];
)",
                       box_bytes(map), map.rank, space, coordinates(start)) +
           wait_mbarrier(0, 0);
}

/// The tile is 0xEE before the box comes.
Bytes loaded(const Tensor& tensor, const Start& start, AsyncMode mode) {
    const int bytes = tile_bytes(tensor.map);
    const std::string fill = fmt::format(R"(
    mov.u32 %r1, tile;
    mad.lo.u32 %r1, %thread, 4, %r1;
    mov.u32 %r2, 0;
EMPTY:
    st.shared.u32 [%r1], 0xEEEEEEEE;
    add.u32 %r1, %r1, 128;
    add.u32 %r2, %r2, 128;
    setp.lt.u32 %p1, %r2, {};
    @%p1 bra EMPTY;
)",
                                         bytes);
    return run_tma({.body = fill + load_box(tensor.map, start) + copy_tile_out(bytes),
                    .maps = {tensor.map},
                    .input = counting_input(tensor.bytes),
                    .output_bytes = static_cast<std::size_t>(bytes),
                    .async_mode = mode})
        .output;
}

/// loaded() has to return this.
Bytes expected_load(const Tensor& tensor, const Start& start) {
    const Bytes input = counting_input(tensor.bytes);
    Bytes expected(static_cast<std::size_t>(tile_bytes(tensor.map)), std::byte{0xEE});
    for_box(tensor.map, start, [&](int byte, std::int64_t from) {
        expected[swizzled(tensor.map, byte)] = from < 0 ? std::byte{0} : input[static_cast<std::size_t>(from)];
    });
    return expected;
}

/// The tile's bytes, each 255 less its offset modulo 241, are stored to a box of map 0.
std::string store_box(const TiledTensorMap& map, const Start& start, const std::string& fence) {
    return fmt::format(R"(
    mov.u32 %r1, tile;
    add.u32 %r2, %r1, %thread;
    mov.u32 %r3, %thread;
FILL:
    rem.u32 %r4, %r3, 241;
    sub.u32 %r4, 255, %r4;
    st.shared.u8 [%r2], %r4;
    add.u32 %r2, %r2, 32;
    add.u32 %r3, %r3, 32;
    setp.lt.u32 %p1, %r3, {};
    @%p1 bra FILL;
    {}
    bar.sync 0;
    setp.eq.u32 %p0, %thread, 0;
    @%p0 cp.async.bulk.tensor.{}d.global.shared::cta.tile.bulk_group [%map0, {}], [%r1];
    @%p0 cp.async.bulk.commit_group;
    @%p0 cp.async.bulk.wait_group.read 0;
)",
                       tile_bytes(map), fence, map.rank, coordinates(start));
}

constexpr std::array kSwizzles{TensorMapSwizzle::none, TensorMapSwizzle::span32, TensorMapSwizzle::span64,
                               TensorMapSwizzle::span128};
const std::string kFence = "fence.proxy.async.shared::cta;";

}  // namespace

TEST_CASE("emulator tensor map: what is encoded is decoded, other bytes are no map") {
    Tensor tensor = packed(DataType::bf16, {100, 50}, {64, 8}, TensorMapSwizzle::span128);
    tensor.map.address = 4096;
    tensor.map.promotion = L2Promotion::bytes128;
    EncodedTensorMap encoded = emulator::encode_tensor_map(tensor.map);
    CHECK(emulator::decode_tensor_map(encoded) == tensor.map);
    CHECK(encoded == emulator::encode_tensor_map(tensor.map));
    CHECK(!emulator::decode_tensor_map(EncodedTensorMap{}));
    encoded.bytes[20] ^= std::byte{1};
    CHECK(!emulator::decode_tensor_map(encoded));
    tensor.map.box[0] = 128;
    CHECK_THROWS_WITH(emulator::encode_tensor_map(tensor.map),
                      Catch::Matchers::ContainsSubstring("more than the swizzle's 128"));
}

TEST_CASE("emulator TMA: a box is loaded in every swizzle") {
    const AsyncMode mode = GENERATE(AsyncMode::eager, AsyncMode::late);
    const TensorMapSwizzle swizzle = GENERATE(from_range(kSwizzles));
    for (const DataType type : {DataType::bf16, DataType::f32, DataType::e4m3}) {
        const auto row = static_cast<std::uint32_t>(std::max(span_bytes(swizzle), 32) / bytes(type));
        const Tensor tensor = packed(type, {3 * row, 40}, {row, 24}, swizzle);
        INFO(to_string(swizzle) << ", rows of " << row << " elements");
        CHECK(loaded(tensor, {static_cast<int>(row), 9}, mode) == expected_load(tensor, {static_cast<int>(row), 9}));
    }
}

TEST_CASE("emulator TMA: a map of tf32 rounds elements to the nearest, ties to even, on their way to shared memory") {
    constexpr std::array<std::array<std::uint32_t, 2>, 16> kStoredAndLoaded{{{0x3f800000, 0x3f800000},
                                                                             {0x3f800fff, 0x3f800000},
                                                                             {0x3f801000, 0x3f800000},
                                                                             {0x3f801001, 0x3f802000},
                                                                             {0x3f803000, 0x3f804000},
                                                                             {0xbf803000, 0xbf804000},
                                                                             {0x3fffffff, 0x40000000},
                                                                             {0x7f7fffff, 0x7f800000},
                                                                             {0x7f800000, 0x7f800000},
                                                                             {0xff800000, 0xff800000},
                                                                             {0x7f800001, 0x7f800001},
                                                                             {0x7fc01234, 0x7fc01234},
                                                                             {0x00000fff, 0x00000000},
                                                                             {0x00001001, 0x00002000},
                                                                             {0x80001000, 0x80000000},
                                                                             {0x00000000, 0x00000000}}};
    Tensor tensor = packed(DataType::tf32, {16, 1}, {16, 1});
    Bytes input(64), expected(64);
    for (std::size_t i = 0; i < kStoredAndLoaded.size(); ++i) {
        std::memcpy(&input[4 * i], &kStoredAndLoaded[i][0], 4);
        std::memcpy(&expected[4 * i], &kStoredAndLoaded[i][1], 4);
    }
    const auto loaded_by = [&](DataType type) {
        tensor.map.type = type;
        return run_tma({.body = load_box(tensor.map, {0, 0}) + copy_tile_out(64),
                        .maps = {tensor.map},
                        .input = input,
                        .output_bytes = 64})
            .output;
    };
    CHECK(loaded_by(DataType::tf32) == expected);
    CHECK(loaded_by(DataType::f32) == input);
}

TEST_CASE("emulator TMA: swizzled rows shorter than the span lie as far apart as whole ones") {
    const AsyncMode mode = GENERATE(AsyncMode::eager, AsyncMode::late);
    for (const TensorMapSwizzle swizzle : kSwizzles) {
        for (int row = 16; row <= span_bytes(swizzle); row += 16) {
            const Tensor tensor = packed(DataType::e4m3, {200, 24}, {static_cast<std::uint32_t>(row), 20}, swizzle);
            INFO(to_string(swizzle) << ", rows of " << row << " bytes");
            CHECK(loaded(tensor, {16, 2}, mode) == expected_load(tensor, {16, 2}));
        }
    }
}

TEST_CASE("emulator TMA: what of a loaded box lies outside the tensor is zero, and counts as bytes that came") {
    const AsyncMode mode = GENERATE(AsyncMode::eager, AsyncMode::late);
    const TensorMapSwizzle swizzle = GENERATE(TensorMapSwizzle::none, TensorMapSwizzle::span128);
    for (const std::uint64_t columns : {1U, 7U, 8U, 9U, 63U, 64U, 65U, 71U}) {
        for (const Start& start : {Start{0, 0}, Start{8, 3}, Start{64, 0}, Start{-8, -2}, Start{-64, 1}, Start{0, 8},
                                   Start{0, -4}, Start{1024, 1024}}) {
            const Tensor tensor = packed(DataType::bf16, {columns, 7}, {64, 4}, swizzle);
            INFO(columns << " columns, from " << coordinates(start));
            CHECK(loaded(tensor, start, mode) == expected_load(tensor, start));
        }
    }
}

TEST_CASE("emulator TMA: tensors of one to five dimensions are loaded") {
    const std::vector<std::uint64_t> extents{20, 5, 3, 4, 2};
    const std::vector<std::uint32_t> box{8, 3, 2, 2, 2};
    const Start start{16, -1, 2, 1, 1};
    for (std::ptrdiff_t rank = 1; rank <= 5; ++rank) {
        const Tensor tensor =
            packed(DataType::f32, {extents.begin(), extents.begin() + rank}, {box.begin(), box.begin() + rank});
        const Start from(start.begin(), start.begin() + rank);
        const Bytes expected = expected_load(tensor, from);
        INFO(rank << " dimensions");
        CHECK(loaded(tensor, from, AsyncMode::late) == expected);
    }
}

TEST_CASE("emulator TMA: a box is stored from every swizzle, and nothing outside the tensor but the rest of 16 bytes") {
    const AsyncMode mode = GENERATE(AsyncMode::eager, AsyncMode::late);
    const TensorMapSwizzle swizzle = GENERATE(from_range(kSwizzles));
    for (const std::uint64_t columns : {1U, 7U, 8U, 9U, 40U}) {
        for (const Start& start : {Start{0, 0}, Start{8, 3}, Start{0, 5}, Start{40, 0}, Start{0, 7}}) {
            const auto row = static_cast<std::uint32_t>(columns % 2 == 0 ? std::max(span_bytes(swizzle), 32) / 2 : 8);
            const Tensor tensor = packed(DataType::f16, {columns, 7}, {row, 8}, swizzle);
            const auto result = run_tma({.body = store_box(tensor.map, start, kFence),
                                         .maps = {tensor.map},
                                         .of_output = {true},
                                         .output_bytes = tensor.bytes,
                                         .async_mode = mode});
            Bytes expected(tensor.bytes, std::byte{0xEE});
            TiledTensorMap reached = tensor.map;
            reached.extents[0] = (columns + 7) / 8 * 8;
            for_box(reached, start, [&](int byte, std::int64_t to) {
                const std::size_t from = swizzled(tensor.map, byte);
                if (to >= 0) expected[static_cast<std::size_t>(to)] = static_cast<std::byte>(255 - from % 241);
            });
            INFO(columns << " columns, from " << coordinates(start) << ", " << to_string(swizzle));
            CHECK(result.output == expected);
        }
    }
}

TEST_CASE("emulator TMA: a kernel takes 4 KB of maps in one parameter") {
    const Tensor tensor = packed(DataType::bf16, {64, 8}, {64, 8});
    TmaRun run{.body = load_box(tensor.map, {0, 0}) + copy_tile_out(1024),
               .maps = std::vector<TiledTensorMap>(31, tensor.map),
               .input = counting_input(31 * tensor.bytes),
               .output_bytes = 1024};
    for (std::size_t i = 0; i < run.maps.size(); ++i) run.maps[i].address = i * tensor.bytes;
    run.body.replace(run.body.find("%map0"), 5, "%map30");
    const Bytes input = counting_input(31 * tensor.bytes);
    CHECK(run_tma(run).output == Bytes(input.end() - 1024, input.end()));
}

TEST_CASE("emulator TMA: rows of bytes are copied without a map, with a cache policy") {
    const AsyncMode mode = GENERATE(AsyncMode::eager, AsyncMode::late);
    const std::string body = make_mbarrier(0, 1) + R"(
    setp.ne.u32 %p0, %thread, 0;
    @%p0 bra WAITING;
    mov.u64 %rd1, 0x12F0000000000000;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 208;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint
        [tile+32], [%in+16], 192, [bars], %rd1;
    cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [tile], [%in], 16, [bars];
WAITING:
)" + wait_mbarrier(0, 0) + R"(
    @%p0 bra END;
    cp.async.bulk.global.shared::cta.bulk_group [%out+16], [tile+32], 192;
    cp.async.bulk.commit_group;
    cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%out], [tile], 16, %rd1;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
END:
)";
    const auto result =
        run_tma({.body = body, .input = counting_input(208), .output_bytes = 208, .threads = 64, .async_mode = mode});
    CHECK(result.output == counting_input(208));
}

TEST_CASE("emulator TMA: a multicast brings one box to every block of the mask, and each waits at its own mbarrier") {
    const Tensor tensor = packed(DataType::bf16, {64, 16}, {64, 8}, TensorMapSwizzle::span128);
    // Block 2 loads rows 4 to 11 for blocks 0, 2 and 3; block 1 gets nothing.
    const std::string body = make_mbarrier(0, 1) + R"(
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.acquire.aligned;
    setp.eq.u32 %p1, %rank, 1;
    @%p1 bra END;
    setp.eq.u32 %p0, %thread, 0;
    @%p0 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bars], 1024;
    setp.eq.and.u32 %p2, %rank, 2, %p0;
    mov.u16 %rs1, 13;
    @%p2 cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster
        [tile], [%map0, {0, 4}], [bars], %rs1;
)" + wait_mbarrier(0, 0) + "mul.wide.u32 %rd1, %rank, 1024;\nadd.u64 %out, %out, %rd1;\n" +
                             copy_tile_out(1024) + R"(
END:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;
)";
    const Bytes box = expected_load(tensor, {0, 4});
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const auto result = run_tma({.body = body,
                                     .maps = {tensor.map},
                                     .input = counting_input(tensor.bytes),
                                     .output_bytes = 4096,
                                     .blocks = 4,
                                     .cluster = {4, 1, 1},
                                     .async_mode = seed % 2 == 0 ? AsyncMode::eager : AsyncMode::late,
                                     .order_seed = seed});
        for (std::size_t rank = 0; rank < 4; ++rank) {
            const auto first = result.output.begin() + static_cast<std::ptrdiff_t>(1024 * rank);
            CHECK(Bytes(first, first + 1024) == (rank == 1 ? Bytes(1024, std::byte{0xEE}) : box));
        }
        const emulator::Tally& copies = result.counters.of(InstructionKind::bulk_copy);
        CHECK(copies.global_read_bytes == 1024);
        CHECK(copies.peer_bytes == 2048);
    }
}

TEST_CASE("emulator TMA: traffic is what lies in the tensor, by sectors. Shared memory takes 128 bytes at a time") {
    const Tensor tensor = packed(DataType::bf16, {71, 7}, {64, 4});
    const auto tally = [&](const Start& start, const std::string& before = "") {
        const auto result = run_tma({.body = before + load_box(tensor.map, start),
                                     .maps = {tensor.map},
                                     .input = counting_input(tensor.bytes)});
        return result.counters.of(InstructionKind::bulk_copy);
    };
    const emulator::Tally whole = tally({0, 0});
    CHECK(whole.global_read_bytes == 512);
    CHECK(whole.sectors == 4 + 5 + 4 + 5);  // the pitch is 144 bytes: rows begin in the middle of a sector, too
    CHECK(whole.wavefronts == 4);
    const emulator::Tally twice = tally({0, 0}, "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%map0, {0, 0}];\n");
    CHECK(twice.global_read_bytes == whole.global_read_bytes);  // what is fetched into L2 is counted where it is read
    CHECK(twice.l2_sectors == whole.l2_sectors);
    const emulator::Tally corner = tally({64, 5});
    CHECK(corner.global_read_bytes == 2 * 7 * 2);
    CHECK(corner.sectors == 2);
    CHECK(corner.wavefronts == 4);
    CHECK(tally({0, 7}).global_read_bytes == 0);
}

TEST_CASE("emulator TMA: a ring of stages copies a matrix from one map through shared memory to another") {
    // Thread 0 of warp 1 loads boxes of 64 x 8 to two stages; warp 0 stores them, box by box.
    const Tensor tensor = packed(DataType::bf16, {90, 37}, {64, 8}, TensorMapSwizzle::span128);
    std::string body = make_mbarrier(0, 1) + make_mbarrier(1, 1) + make_mbarrier(2, 1) + make_mbarrier(3, 1) + R"(
    mov.u32 %r1, 0;
    elect.sync _|%p0, -1;
    setp.ge.u32 %p2, %thread, 32;
    @!%p0 bra END;
    prefetch.tensormap [%map1];
NEXT:
    and.b32 %r2, %r1, 1;
    shr.u32 %r3, %r1, 1;
    and.b32 %r3, %r3, 1;
    mov.u32 %r4, bars;
    mad.lo.u32 %r4, %r2, 8, %r4;
    mov.u32 %r5, tile;
    mad.lo.u32 %r5, %r2, 1024, %r5;
    rem.u32 %r6, %r1, 2;
    mul.lo.u32 %r6, %r6, 64;
    shr.u32 %r7, %r1, 1;
    mul.lo.u32 %r7, %r7, 8;
    add.u32 %r1, %r1, 1;
    @!%p2 bra STORE;
    xor.b32 %r8, %r3, 1;
EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4+16], %r8;
    @!%p1 bra EMPTY;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;
    cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r5], [%map0, {%r6, %r7}], [%r4];
    bra AGAIN;
STORE:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r4], %r3;
    @!%p1 bra STORE;
    cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%map1, {%r6, %r7}], [%r5];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
    mbarrier.arrive.shared::cta.b64 _, [%r4+16];
AGAIN:
    setp.lt.u32 %p3, %r1, 10;
    @%p3 bra NEXT;
END:
)";
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const auto result = run_tma({.body = body,
                                     .maps = {tensor.map, tensor.map},
                                     .of_output = {false, true},
                                     .input = counting_input(tensor.bytes),
                                     .output_bytes = tensor.bytes,
                                     .threads = 64,
                                     .async_mode = seed % 2 == 0 ? AsyncMode::eager : AsyncMode::late,
                                     .order_seed = seed});
        const Bytes input = counting_input(tensor.bytes);
        Bytes expected(tensor.bytes, std::byte{0xEE});
        for (std::size_t byte = 0; byte < tensor.bytes; ++byte) {
            const std::size_t in_row = byte % tensor.map.pitches[0];
            if (in_row < 180) expected[byte] = input[byte];
            if (in_row >= 180 && in_row < 192)
                expected[byte] = std::byte{0};  // of the load, in the store's last 16 bytes
        }
        CHECK(result.output == expected);
    }
}
