#pragma once
constexpr int kChunkElements = 16 / sizeof(Bits);  // elements of A or B in a chunk of 16 bytes
