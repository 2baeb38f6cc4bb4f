#include "generator/base/kernel_argument.hpp"
#include "jitgemm/error.hpp"
#include "runtime/device/argument_packer.hpp"
#include "runtime/device/entry_json.hpp"
#include "tests/catch.hpp"
#include "tests/support/fake_device.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstring>
#include <set>
#include <string>

using namespace jitgemm;
using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::FakeDevice;

namespace {

using Role = ArgumentRole;

constexpr std::uint64_t kA = 0x10000000;
constexpr std::uint64_t kB = 0x20000000;
constexpr std::uint64_t kC = 0x30000000;
constexpr std::uint64_t kD = 0x40000000;

const std::vector<KernelArgument> kMixed{
    ExtentArgument{Role::m},
    TensorMapArgument{Role::a, {64, 128}, TensorMapSwizzle::span128, L2Promotion::bytes256},
    PointerArgument{Role::counters},
    TensorMapArgument{Role::b, {8, 256}},
    ScalarArgument{Role::alpha},
    TensorMapArgument{Role::c, {8, 1}},
    ExtentArgument{Role::lda, 8}};

/// The same as a compiler sees it.
struct Mixed {
    std::int32_t m;
    EncodedTensorMap map_a;
    std::uint64_t counters;
    EncodedTensorMap map_b;
    float alpha;
    EncodedTensorMap map_c;
    std::int64_t lda;
};

GemmSpec spec_of(std::int64_t m, std::int64_t n, std::int64_t k) {
    return resolved({.m = m, .n = n, .k = k, .c = DataType::bf16, .layout = GemmLayout::tt});
}

KernelOperands operands(float alpha = 1, float beta = 1) {
    return {{.a = kA, .b = kB, .c = kC, .d = kD, .alpha = alpha, .beta = beta}, 0x50000000};
}

Mixed unpacked(const PackedArguments& packed) {
    REQUIRE(packed.size == sizeof(Mixed));
    Mixed mixed;
    std::memcpy(&mixed, packed.bytes.data(), sizeof mixed);
    return mixed;
}

// FakeDevice encodes a map as its own bytes.
TiledTensorMap decoded(const EncodedTensorMap& encoded) {
    TiledTensorMap map;
    std::memcpy(&map, encoded.bytes.data(), sizeof map);
    return map;
}

}  // namespace

TEST_CASE("arguments lie where the compiler has the fields of the struct, tensor maps at multiples of 64") {
    const ArgumentLayout layout = argument_layout(kMixed);
    REQUIRE(layout.bytes == sizeof(Mixed));
    CHECK(layout.alignment == alignof(Mixed));
    const std::vector<std::size_t> offsets{offsetof(Mixed, m),     offsetof(Mixed, map_a), offsetof(Mixed, counters),
                                           offsetof(Mixed, map_b), offsetof(Mixed, alpha), offsetof(Mixed, map_c),
                                           offsetof(Mixed, lda)};
    std::vector<std::string> names;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
        CHECK(layout.fields[i].offset == offsets[i]);
        names.push_back(layout.fields[i].name);
    }
    CHECK(names == std::vector<std::string>{"m", "map_a", "counters", "map_b", "alpha", "map_c", "lda"});
    CHECK(argument_layout({}).bytes == 0);
}

TEST_CASE("a tensor map's dimension 0 runs along what is contiguous, whatever the layout") {
    FakeDevice device;
    GemmSpec spec = spec_of(300, 200, 104);
    const Mixed mixed = unpacked(pack_arguments(kMixed, problem_of(spec), operands(), device));
    CHECK(mixed.m == 300);
    CHECK(mixed.lda == 104);
    CHECK(mixed.counters == 0x50000000);
    const TiledTensorMap a = decoded(mixed.map_a);
    CHECK(a.address == kA);
    CHECK(a.extents[0] == 104);
    CHECK(a.extents[1] == 300);
    CHECK(a.pitches[0] == 208);
    CHECK(a.box[0] == 64);
    CHECK(a.box[1] == 128);
    CHECK(a.swizzle == TensorMapSwizzle::span128);
    CHECK(a.promotion == L2Promotion::bytes256);
    CHECK(decoded(mixed.map_b).extents[0] == 200);
    CHECK(decoded(mixed.map_c).extents[1] == 300);

    spec = resolved({.m = 304, .n = 200, .k = 104, .c = DataType::bf16, .layout = GemmLayout::nn, .lda = 512});
    const Mixed columns = unpacked(pack_arguments(kMixed, problem_of(spec), operands(), device));
    CHECK(decoded(columns.map_a).extents[0] == 304);
    CHECK(decoded(columns.map_a).pitches[0] == 1024);
    CHECK(decoded(columns.map_b).extents[0] == 104);
    CHECK(decoded(columns.map_b).extents[1] == 200);
}

TEST_CASE("a single row may have any pitch: the map gets one it can have") {
    FakeDevice device;
    const GemmSpec spec =
        resolved({.m = 1, .n = 200, .k = 101, .c = DataType::bf16, .layout = GemmLayout::tt, .lda = 101});
    CHECK(decoded(unpacked(pack_arguments(kMixed, problem_of(spec), operands(), device)).map_a).pitches[0] == 208);
}

TEST_CASE("a tensor map has as many dimensions as it is given: a strided batch of matrices is one of rank 3") {
    FakeDevice device;
    // The problem's n stands for the number of matrices, ldc for the elements from one to the next.
    const GemmSpec spec =
        resolved({.m = 300, .n = 7, .k = 104, .c = DataType::bf16, .layout = GemmLayout::tt, .lda = 112, .ldc = 40000});
    const std::vector<KernelArgument> arguments{
        TensorMapArgument{Role::a, {64, 128, {1, Role::n, Role::ldc}}, TensorMapSwizzle::span128}};
    CHECK(tensor_map_ranks(arguments) == std::set{3});
    const PackedArguments packed = pack_arguments(arguments, problem_of(spec), operands(), device);
    TiledTensorMap map;
    std::memcpy(&map, packed.bytes.data(), sizeof map);
    CHECK((map.rank == 3 && map.address == kA && map.swizzle == TensorMapSwizzle::span128));
    CHECK((map.extents[0] == 104 && map.extents[1] == 300 && map.extents[2] == 7));
    CHECK((map.pitches[0] == 224 && map.pitches[1] == 80000));
    CHECK((map.box[0] == 64 && map.box[1] == 128 && map.box[2] == 1));
    CHECK(tensor_map_problems(map).empty());
}

TEST_CASE("a dimension of one may have any pitch: the map gets one it can have") {
    FakeDevice device;
    const GemmSpec spec = resolved({.m = 3, .n = 1, .k = 104, .c = DataType::bf16, .layout = GemmLayout::tt, .ldc = 1});
    const std::vector<KernelArgument> arguments{TensorMapArgument{Role::a, {64, 2, {1, Role::n, Role::ldc}}}};
    TiledTensorMap map;
    std::memcpy(&map, pack_arguments(arguments, problem_of(spec), operands(), device).bytes.data(), sizeof map);
    CHECK((map.extents[2] == 1 && map.pitches[1] == 3 * 208));
}

TEST_CASE("a tensor map of no dimension, or of more than five, is refused") {
    for (const std::size_t rank : {std::size_t{0}, std::size_t{6}}) {
        const std::vector<KernelArgument> arguments{
            TensorMapArgument{Role::a, std::vector<TensorMapDimension>(rank, TensorMapDimension(8))}};
        CHECK_THROWS_WITH(ArgumentPacker(arguments, problem_of(spec_of(64, 64, 64))),
                          ContainsSubstring("map_a has " + std::to_string(rank) + " dimensions"));
    }
}

TEST_CASE("what a launch does not read has no tensor map, and may be null") {
    FakeDevice device;
    const ArgumentPacker packer(kMixed, problem_of(spec_of(300, 200, 104)));
    KernelOperands none = operands(0, 0);
    none.a = none.b = none.c = nullptr;
    PackedArguments packed;
    packer.pack(none, device, packed);
    CHECK(unpacked(packed).map_a == EncodedTensorMap{});
    CHECK(unpacked(packed).map_b == EncodedTensorMap{});
    CHECK(unpacked(packed).map_c == EncodedTensorMap{});
    CHECK(device.encoded_maps == 0);
}

TEST_CASE("a tensor map is encoded when its pointer is new, not at each launch") {
    FakeDevice device;
    const ArgumentPacker packer(kMixed, problem_of(spec_of(300, 200, 104)));
    PackedArguments packed;
    for (int launch = 0; launch < 10; ++launch) packer.pack(operands(), device, packed);
    CHECK(device.encoded_maps == 3);
    KernelOperands moved = operands();
    moved.a = kA + 4096;
    packer.pack(moved, device, packed);
    CHECK(device.encoded_maps == 4);
    CHECK(decoded(unpacked(packed).map_a).address == kA + 4096);
    packer.pack(operands(), device, packed);
    CHECK(decoded(unpacked(packed).map_a).address == kA);
}

TEST_CASE("a matrix that no tensor map can address is refused with the rule") {
    FakeDevice device;
    KernelOperands odd = operands();
    odd.a = kA + 8;
    CHECK_THROWS_WITH(pack_arguments(kMixed, problem_of(spec_of(300, 200, 104)), odd, device),
                      ContainsSubstring("no tensor map of a") && ContainsSubstring("0x10000008"));
    CHECK_THROWS_WITH(pack_arguments(kMixed, problem_of(spec_of(300, 200, 101)), operands(), device),
                      ContainsSubstring("pitch 202"));
    CHECK(device.encoded_maps == 0);
}

TEST_CASE("more arguments than a launch passes on are refused") {
    const std::vector<KernelArgument> many(33, TensorMapArgument{Role::a, {64, 64}});
    CHECK_THROWS_WITH(ArgumentPacker(many, problem_of(spec_of(64, 64, 64))),
                      ContainsSubstring("4224") && ContainsSubstring("4096"));
    CHECK_NOTHROW(ArgumentPacker({many.data(), 32}, problem_of(spec_of(64, 64, 64))));
}

TEST_CASE("an entry's JSON says every argument with its place, and the grid's rule") {
    const KernelEntry entry{.function = "gemm",
                            .threads = 384,
                            .shared_bytes = 1000,
                            .cluster = {2, 1, 1},
                            .programmatic_launch = true,
                            .grid = {.tile_m = 128, .tile_n = 256, .blocks = PersistentBlocks{1, 2}},
                            .arguments = kMixed};
    const nlohmann::ordered_json json = to_json(entry);
    CHECK(json.at("programmatic_launch") == true);
    CHECK(json.at("argument_bytes") == sizeof(Mixed));
    CHECK(json.at("grid").at("blocks").dump() == R"({"rule":"persistent","per_sm":1,"cluster":2})");
    CHECK(json.at("arguments").at(1).dump() ==
          R"({"role":"a","kind":"tensor_map","box":[64,128],"swizzle":"128B","l2_promotion":"256B","offset":64})");
    CHECK(json.at("arguments").at(6).dump() == R"({"role":"lda","kind":"i64","offset":576})");
}

TEST_CASE("every rule of cuTensorMapEncodeTiled is named with its number") {
    const TiledTensorMap sound{
        .address = kA, .extents = {100, 50}, .pitches = {208}, .box = {64, 8}, .swizzle = TensorMapSwizzle::span128};
    CHECK(tensor_map_problems(sound).empty());
    const auto problem = [&](auto&& change) {
        TiledTensorMap map = sound;
        change(map);
        const std::vector<std::string> problems = tensor_map_problems(map);
        REQUIRE(problems.size() == 1);
        return problems.front();
    };
    CHECK_THAT(problem([](auto& map) { map.rank = 6; }), ContainsSubstring("rank 6"));
    CHECK_THAT(problem([](auto& map) { map.address += 2; }), ContainsSubstring("0x10000002"));
    CHECK_THAT(problem([](auto& map) { map.address = 0; }), ContainsSubstring("null"));
    CHECK_THAT(problem([](auto& map) { map.extents[1] = 0; }), ContainsSubstring("extent 0 of dimension 1"));
    CHECK_THAT(problem([](auto& map) { map.extents[0] = (std::uint64_t{1} << 32) + 1; }),
               ContainsSubstring("4294967297"));
    CHECK_THAT(problem([](auto& map) { map.pitches[0] = 200; }), ContainsSubstring("pitch 200"));
    CHECK_THAT(problem([](auto& map) { map.pitches[0] = std::uint64_t{1} << 40; }), ContainsSubstring("below 2^40"));
    CHECK_THAT(problem([](auto& map) { map.box[1] = 257; }), ContainsSubstring("box extent 257 of dimension 1"));
    CHECK_THAT(problem([](auto& map) { map.box[0] = 60; }), ContainsSubstring("120 bytes"));
    CHECK_THAT(problem([](auto& map) { map.box[0] = 72; }),
               ContainsSubstring("144 bytes, more than the swizzle's 128"));
}

TEST_CASE("a scalar that no launch has is refused, not taken for another") {
    const std::vector<KernelArgument> arguments{ScalarArgument{ArgumentRole{"gamma"}}};
    CHECK_THROWS_WITH(ArgumentPacker(arguments, problem_of(spec_of(300, 200, 104))),
                      ContainsSubstring("no launch has a scalar gamma"));
}
