// `jitgemm layout mma|tiled-mma|ldmatrix|copy` as a shell runs them.

#include "tests/catch.hpp"
#include "tests/support/tool.hpp"

#ifdef JITGEMM_TOOL

using Catch::Matchers::ContainsSubstring;
using jitgemm::testing::Tool;
using nlohmann::json;

TEST_CASE("layout mma: layouts, their inverses and every element, by both names") {
    const Tool tool;
    const json document = tool.json("layout mma --atom SM80_16x8x16_F32BF16BF16F32_TN", 0);
    CHECK(document.at("atom") == "SM80_16x8x16_F32BF16BF16F32_TN");
    CHECK(document.at("shape_mnk") == json({16, 8, 16}));
    const json& a = document.at("operands").at("A");
    CHECK(a.at("layout") == "((4,8),(2,2,2)):((32,1),(16,8,128))");
    CHECK(a.at("inverse_layout") == "((8,2),(2,4,2)):((4,64),(32,1,128))");
    CHECK((a.at("threads") == 32 && a.at("values") == 8));
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t i = 0; i < 8; ++i)  // PTX ISA, matrix fragments of m16n8k16
            CHECK(a.at("tv")[lane][i] == json({lane / 4 + 8 * (i / 2 % 2), lane % 4 * 2 + i % 2 + 8 * (i / 4)}));
    }
    CHECK(document.at("operands").at("B").at("layout") == "((4,8),(2,2)):((16,1),(8,64))");
    CHECK(document.at("operands").at("C").at("layout") == "((4,8),(2,2)):((32,1),(16,8))");
    CHECK(tool.json("layout mma --atom mma.m16n8k16.f32.bf16.bf16.f32", 0) == document);
    CHECK(tool.json("layout mma --atom SM80_16x8x8_F32F16F16F32_TN", 0).at("atom") == "SM80_16x8x8_F32F16F16F32_TN");
}

TEST_CASE("layout mma: a mistyped name is refused with the nearest, a picture too large with the limit") {
    const Tool tool;
    const json error = tool.json("layout mma --atom SM80_16x8x16_F32BF16BF16F32_NT", 2).at("error");
    CHECK(error.at("kind") == "layout");
    CHECK_THAT(error.at("message").get<std::string>(),
               ContainsSubstring("did you mean 'SM80_16x8x16_F32BF16BF16F32_TN'"));
    CHECK(tool.run("layout mma").exit_code == 2);
    const auto large = tool.run("layout mma --atom SM90_64x256x16_F32F16F16_SS --format svg");
    CHECK(large.exit_code == 2);
    CHECK_THAT(large.err, ContainsSubstring("8192"));
    CHECK(tool.run("layout mma --atom SM90_64x256x16_F32F16F16_SS").exit_code == 0);  // text goes without the picture
}

TEST_CASE("layout mma: pictures name thread and value") {
    const Tool tool;
    const std::string mma = "layout mma --atom SM80_16x8x8_F32TF32TF32F32_TN";
    CHECK_THAT(tool.run(mma).out, ContainsSubstring("T31"));
    CHECK_THAT(tool.run(mma + " --format svg").out, ContainsSubstring("<svg") && ContainsSubstring("T31"));
    CHECK_THAT(tool.run(mma + " --format latex").out, ContainsSubstring("\\begin{document}"));
    CHECK_THAT(tool.run(mma + " --format html").out, ContainsSubstring("A(0, 4): thread 0, value 2"));
}

TEST_CASE("layout tiled-mma: warps and repetitions as CuTe tiles them") {
    const Tool tool;
    const json document =
        tool.json("layout tiled-mma --atom SM80_16x8x16_F32BF16BF16F32_TN --warps 2,2,1 --val 1,2,1", 0);
    CHECK(document.at("shape_mnk") == json({32, 32, 16}));
    CHECK(document.at("threads") == 128);
    // TiledMMA::get_layoutB_TV, CUTLASS 4.7
    CHECK(document.at("operands").at("B").at("layout") == "((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0)))");
    const json rows = tool.json("layout tiled-mma --atom SM80_16x8x16_F32BF16BF16F32_TN --warps '(2,2,1):(2,1,0)'", 0);
    CHECK(rows.at("operands").at("C").at("tv")[32][0] == json({0, 8}));  // warp 1 is the next along N
    CHECK(tool.run("layout tiled-mma --atom SM80_16x8x16_F32BF16BF16F32_TN --warps 2,0,1").exit_code == 2);
    CHECK(tool.run("layout tiled-mma --atom SM80_16x8x16_F32BF16BF16F32_TN --val 1,2").exit_code == 2);
}

TEST_CASE("layout ldmatrix: three choices with reasons, the best one's lane addresses") {
    const Tool tool;
    const std::string k8 = "layout ldmatrix --atom SM80_16x8x8_F32F16F16F32_TN --val 1,2,1 --operand ";
    for (const std::string operand : {"A", "B"}) {
        for (const std::string major : {"k", "mn"}) {
            INFO(operand << " " << major);
            const json document = tool.json(k8 + operand + " --smem-major " + major, 0);
            CHECK(document.at("val") == json({1, 2, 1}));
            CHECK((document.at("matrices_8x8") == 2 && document.at("values_per_thread") == 4));
            const json& choices = document.at("choices");
            REQUIRE(choices.size() == 3);
            CHECK(
                (choices[0].at("legal") == true && choices[1].at("legal") == true && choices[2].at("legal") == false));
            CHECK(choices[0].at("trans") == (major == "mn"));
            CHECK((document.at("best").at("x") == 2 && document.at("best").at("instructions") == 1));
            CHECK(document.at("best").at("matrix_origin") == json::parse("[[0,0],[8,0]]"));
        }
    }
    const json best =
        tool.json("layout ldmatrix --atom SM80_16x8x16_F32F16F16F32_TN --val 1,2,1 --operand B --smem-major mn", 0)
            .at("best");
    CHECK((best.at("op") == "SM75_U16x8_LDSM_T" && best.at("x") == 4 && best.at("trans") == true));
    REQUIRE(best.at("lane_address").size() == 32);
    for (std::size_t lane = 0; lane < 32; ++lane)  // k = lane % 16, n = 8 (lane / 16): k16 x n16, x4.trans
        CHECK(best.at("lane_address")[lane] == json({8 * (lane / 16), lane % 16}));
    const json refused = tool.json("layout ldmatrix --atom SM80_8x8x4_F64F64F64F64_TN --operand A", 0);
    CHECK(refused.at("best").is_null());
    CHECK(tool.run(k8 + "C").exit_code == 2);
    CHECK(tool.run(k8 + "A --smem-major m").exit_code == 2);
    CHECK_THAT(tool.run(k8 + "A").out, ContainsSubstring("* x2") && ContainsSubstring("x1 and x2 are legal"));
}

TEST_CASE("layout copy: the width that alignment and layout allow, and each thread's vectors") {
    const Tool tool;
    const json document = tool.json("layout copy --tile 128x64 --threads 16x8 --vector 8", 0);
    CHECK(document.at("layout_tv") == "((8,16),8):((128,1),16)");  // TiledCopy::TiledLayout_TV, CUTLASS 4.7
    CHECK(document.at("vectors_per_thread") == 8);
    CHECK(document.at("instruction") == "SM80_CP_ASYNC_CACHEGLOBAL");
    REQUIRE(document.at("first").size() == 128);
    CHECK(document.at("first")[9][1] == json({17, 8, 17 * 64 + 8}));
    CHECK(tool.json("layout copy --tile 128x64 --threads 16x8", 0).at("first") == document.at("first"));
    const json narrow = tool.json("layout copy --tile 128x64 --threads 16x8 --vector 8 --ld 68", 0);
    CHECK((narrow.at("vector") == 4 && narrow.at("vectors_per_thread") == 16));
    CHECK(narrow.at("choices")[0].at("legal") == false);
    CHECK(tool.json("layout copy --tile 64x64 --threads 8x16 --order column --align 4", 0).at("vector") == 2);
    CHECK(tool.run("layout copy --tile 100x64 --threads 16x8").exit_code == 2);
    CHECK(tool.run("layout copy --tile 128x64 --threads 16x8 --type f17").exit_code == 2);
    CHECK(tool.run("layout copy --tile 128x64 --threads 16x8 --ld 32").exit_code == 2);
    CHECK(tool.run("layout copy --tile 99999999x64 --threads 16x8").exit_code == 2);
    CHECK(tool.run("layout copy --tile 128x64 --threads 16x8 --vector 999999999").exit_code == 2);
    CHECK(tool.run("layout copy --tile 128x64 --threads 16x8 --align -4").exit_code == 2);
}

#endif
