// The copies of scales of blocks of K for cuBLASLt, on the emulator, against the layouts that cuBLASLt documents.

#include "runtime/bench/peer_scales.hpp"

#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"

#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

constexpr std::int64_t kM = 260, kN = 384, kK = 700;  // 6 blocks of K, which cuBLASLt pads to 8

struct Case {
    std::string_view text;
    std::int64_t lines;
    bool k_is_last;   // in the text's index
    bool is_square;   // 128 by 128
    std::int64_t ld;  // 0: packed
};

/// Numbers that differ, and cuBLASLt's copy of them.
void check_copy(const Case& one) {
    INFO(one.text << ", ld " << one.ld);
    constexpr std::int64_t kBlocks = 6;
    const GemmSpec spec = resolved({.m = kM,
                                    .n = kN,
                                    .k = kK,
                                    .a = DataType::e4m3,
                                    .b = DataType::e4m3,
                                    .epilogue = EpilogueText(one.text).with("s", {.ld = one.ld})});
    ContextState& context = state_of(on_hopper());
    const std::int64_t ld = one.ld != 0 ? one.ld : one.k_is_last ? kBlocks : one.lines;
    std::vector<float> given(static_cast<std::size_t>(ld * (one.k_is_last ? one.lines : kBlocks)));
    std::iota(given.begin(), given.end(), 1.0F);
    const DeviceMemory memory(context.device, static_cast<std::int64_t>(given.size() * sizeof(float)));

    const ScaleLayout layout = scale_layout(*gemm_operands(spec).find("s"));
    REQUIRE(layout.elements() == (one.is_square ? one.lines * 8 : one.lines * kBlocks));
    PeerScales scales(context, layout);
    CHECK_THROWS_AS(static_cast<void>(scales.copy_of(memory.data())), Error);
    std::vector<float> copy(static_cast<std::size_t>(layout.elements()));
    for (const float factor : {1.0F, -2.0F}) {  // a copy is made anew where the array has changed
        for (float& value : given) value *= factor;
        context.device->copy_to_device(memory.data(), given.data(), given.size() * sizeof(float));
        scales.prepare(memory.data());
        context.device->copy_to_host(copy.data(), scales.copy_of(memory.data()), copy.size() * sizeof(float));
        std::int64_t wrong = 0;
        for (std::int64_t line = 0; line < one.lines; ++line)
            for (std::int64_t block = 0; block < kBlocks; ++block) {
                const std::int64_t from = one.k_is_last ? line * ld + block : block * ld + line;
                const std::int64_t to = one.is_square ? line * 8 + block : block * one.lines + line;
                if (copy.at(static_cast<std::size_t>(to)) != given.at(static_cast<std::size_t>(from))) ++wrong;
            }
        CHECK(wrong == 0);
    }
}

}  // namespace

TEST_CASE("scales of blocks of K are copied to cuBLASLt's layouts from every order and pitch") {
    for (const Case& one : {Case{"d = acc * s[m,k/128] * y[n/128,k/128]", kM, true, false, 0},
                            Case{"d = acc * s[m,k/128] * y[n/128,k/128]", kM, true, false, 11},
                            Case{"d = acc * s[k/128,m] * y[n/128,k/128]", kM, false, false, 0},
                            Case{"d = acc * s[k/128,m] * y[n/128,k/128]", kM, false, false, 300},
                            Case{"d = acc * x[m,k/128] * s[n/128,k/128]", 3, true, true, 0},
                            Case{"d = acc * x[m,k/128] * s[k/128,n/128]", 3, false, true, 0},
                            Case{"d = acc * x[m,k/128] * s[k/128,n/128]", 3, false, true, 5}})
        check_copy(one);
}
