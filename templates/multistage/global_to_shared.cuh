#pragma once
// gA, gB -> sA, sB. A tile is copied in vectors by all threads of the block; a thread keeps its column of vectors and
// goes down the rows, kRowsPerPass at a time. What is in range along M and N is found once, in the constructor, and serves
// every k-tile; only K changes from one to the next. What lies outside the matrix arrives as zeros.
#include "copy_a.cuh"
#include "copy_b.cuh"
#include "copies.inl"
