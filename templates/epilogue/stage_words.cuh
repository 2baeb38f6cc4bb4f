#pragma once

// Writes the j-th eight columns to a slice of 16-bit elements: a thread's pairs in rows g and g + 8, which `pack`
// converts.
template <int kColumns, typename Pack>
__device__ __forceinline__ void stage_words(unsigned slice, const Pack& pack, const Atom& atom, int j, int lane) {
    constexpr int kRowBytes = kColumns * static_cast<int>(sizeof(unsigned short));
    constexpr bool kSwizzled = kColumns == kSliceColumns && kRowBytes > 16;
    stmatrix(chunk_address<kRowBytes, kSwizzled>(slice, lane % 16, j),
             {pack(atom.pair[0].x, atom.pair[0].y), pack(atom.pair[1].x, atom.pair[1].y)});
}
