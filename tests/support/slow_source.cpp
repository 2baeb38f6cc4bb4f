#ifdef JITGEMM_TOOL

#include "tests/support/slow_source.hpp"

#include "tests/catch.hpp"

namespace jitgemm::testing {

std::string many_constants(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
        text += "constexpr int kUnused" + std::to_string(i) + " = " + std::to_string(i) + ";\n";
    return text;
}

std::string slow_dump(const Tool& tool, int constants) {
    const std::string file = tool.folder() / "slow.cu";
    const ToolResult dump = tool.run("dump bf16 tn 64 64 64 --arch sm_80");
    REQUIRE(dump.exit_code == 0);
    put_text(file, dump.out + many_constants(constants));
    return file;
}

}  // namespace jitgemm::testing

#endif
