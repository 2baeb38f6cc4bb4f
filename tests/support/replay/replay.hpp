#pragma once

/// \file Replays blocks of kernels that were compiled for the CPU with every access to memory reported
/// (-fsanitize=thread, whose runtime is replaced by ours), and holds what they touch against what is expected of them.

namespace replay {

/// A __global__ function of the program's kernels: takes the struct of arguments by address.
struct Function {
    const char* name;
    void (*call)(const void* arguments);
};
extern const Function functions[];

}  // namespace replay
