#ifdef JITGEMM_TOOL

#include "tests/support/slow_source.hpp"

#include "tests/catch.hpp"

#include <filesystem>
#include <fstream>

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

std::string slow_templates(const Tool& tool, int constants) {
    const std::string folder = tool.folder() / "templates";
    std::filesystem::copy(JITGEMM_SOURCE_DIR "/templates", folder, std::filesystem::copy_options::recursive);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
        if (entry.path().filename() == "mma_multistage.cu")
            std::ofstream(entry.path(), std::ios::app) << many_constants(constants);
    return folder;
}

}  // namespace jitgemm::testing

#endif
