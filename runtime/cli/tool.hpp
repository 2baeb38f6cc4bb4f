#pragma once

/// The tool `jitgemm`: runs the verb of the command line and returns the exit code. It is a C function because the
/// Python package's program calls it in the extension, which exports no C++ name.
extern "C" int jitgemm_tool_main(int argc, char** argv);
