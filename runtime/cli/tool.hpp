#pragma once

/// The tool `jitgemm`: runs the verb that the command line names, and returns the exit code. A C function, because the
/// Python package's program calls it in the extension, which exports no C++ name.
extern "C" int jitgemm_tool_main(int argc, char** argv);
