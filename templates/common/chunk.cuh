#pragma once

#if GEMM_ELEMENT_BYTES == 1
constexpr int kChunkElements = 16 / sizeof(Byte);  // elements of A or B in a chunk of 16 bytes
#elif GEMM_ELEMENT_BYTES == 4
constexpr int kChunkElements = 16 / sizeof(float);  // elements of A or B in a chunk of 16 bytes
#else
constexpr int kChunkElements = 16 / sizeof(Bits);  // elements of A or B in a chunk of 16 bytes
#endif
