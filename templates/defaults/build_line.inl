// Build it: nvcc -std=c++17 kernel.cu
