#include "runtime/cli/tool.hpp"

int main(int argc, char** argv) { return jitgemm_tool_main(argc, argv); }
