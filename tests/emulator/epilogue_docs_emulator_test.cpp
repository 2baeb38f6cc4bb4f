/// The examples of docs/epilogues.md and docs/eight-bits.md are kernels that compute what the text says.

#include "runtime/context/context_state.hpp"
#include "runtime/verify/verify.hpp"
#include "tests/catch.hpp"
#include "tests/emulator/emulator.hpp"
#include "tests/support/eight_bits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using namespace jitgemm;
using namespace jitgemm::testing;

namespace {

/// The lines of the page's block of examples.
std::vector<std::string> examples(const std::string& name) {
    std::ifstream page(std::string(JITGEMM_SOURCE_DIR) + "/docs/" + name);
    std::vector<std::string> lines;
    bool is_example = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("```"))
            is_example = line == "```epilogue";
        else if (is_example)
            lines.push_back(line);
    }
    return lines;
}

}  // namespace

TEST_CASE("the examples of docs/epilogues.md compute what they say") {
    const std::vector<std::string> texts = examples("epilogues.md");
    REQUIRE(texts.size() >= 20);
    for (Context* const context : {&on_emulator(), &on_hopper()})
        for (const std::string& text : texts) {
            INFO(text);
            const bool has_pairs = text.find("[m,h]") != std::string::npos;
            const GemmKernel kernel = context->kernel({.m = 35, .n = has_pairs ? 48 : 44, .k = 40, .epilogue = text});
            const Verification verdict = verify(state_of(*context), kernel, {});
            INFO(kernel.info().name << ": " << verdict.message);
            CHECK(verdict.ok);
        }
}

TEST_CASE("the examples of docs/eight-bits.md compute what they say") {
    const std::vector<std::string> texts = examples("eight-bits.md");
    REQUIRE(texts.size() >= 2);
    for (Context* const context : {&on_emulator(), &on_hopper()})
        for (const std::string& text : texts)
            for (const DataType d : {DataType::s8, DataType::bf16}) {
                INFO(text);
                GemmSpec spec = int8_spec(35, 48, 40, d);
                spec.epilogue = text;
                const GemmKernel kernel = context->kernel(spec);
                const Verification verdict = verify(state_of(*context), kernel, {});
                INFO(kernel.info().name << ": " << verdict.message);
                CHECK(verdict.ok);
            }
}

TEST_CASE("the text of docs/eight-bits.md that requantises to s8 rounds and saturates") {
    constexpr std::int64_t kM = 40, kN = 48, kK = 160;
    constexpr float kZero = -7;
    GemmSpec spec = int8_spec(kM, kN, kK, DataType::s8);
    spec.epilogue = examples("eight-bits.md").at(1);
    const Bytes a(kM, kK, kK, 1), b(kN, kK, kK, 2);
    std::vector<float> scale, bias;
    for (int i = 0; i < kN; ++i)
        scale.push_back(std::ldexp(1.0F, -7 - i % 6)), bias.push_back(static_cast<float>(i % 9) - 4);
    for (Context* const context : {&on_emulator(), &on_hopper()}) {
        const auto on_device = [&](const auto& elements) {
            DeviceBuffer buffer = context->allocate(elements.size() * sizeof elements[0]);
            buffer.copy_from_host(elements.data(), elements.size() * sizeof elements[0]);
            return buffer;
        };
        std::vector<std::int8_t> d(kM * kN);
        const DeviceBuffer device_a = on_device(a.elements), device_b = on_device(b.elements), device_d = on_device(d);
        const DeviceBuffer device_scale = on_device(scale), device_bias = on_device(bias);
        GemmArguments arguments{.a = device_a.data(), .b = device_b.data(), .d = device_d.data()};
        arguments.operands = {{"scale", device_scale.data()}, {"bias", device_bias.data()}, {"zero", kZero}};
        context->kernel(spec).launch(arguments);
        context->synchronize();
        device_d.copy_to_host(d.data(), d.size());
        int wrong = 0;
        std::int64_t saturated = 0;
        for (std::int64_t row = 0; row < kM; ++row)
            for (std::int64_t column = 0; column < kN; ++column) {
                std::int64_t sum = 0;
                for (std::int64_t i = 0; i < kK; ++i) sum += a.at(row, i) * b.at(column, i);
                const auto place = static_cast<std::size_t>(column);
                const double real = static_cast<double>(sum) * static_cast<double>(scale[place]) + bias[place];
                const double right = std::nearbyint(std::max(real, 0.0) + static_cast<double>(kZero));
                wrong += d[static_cast<std::size_t>(row * kN + column)] == std::clamp(right, -128.0, 127.0) ? 0 : 1;
                saturated += right > 127 ? 1 : 0;
            }
        CHECK(wrong == 0);
        CHECK(saturated > 50);
    }
}
