#pragma once

// gA, gB -> sA, sB. All threads of the block copy a tile in vectors. A thread keeps its column of vectors and goes down
// the rows, kRowsPerPass at a time. The constructor finds once which rows and columns of D are in range: this serves
// every k-tile. Elements outside the matrix arrive as zeros.
#include "copies.inl"
