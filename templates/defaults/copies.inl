// Of the copies in copy_a.cuh and copy_b.cuh.
using CopyA = AsyncCopyKMajor<kBlockM, kPitchA, kAlignA>;
using CopyB = AsyncCopyKMajor<kBlockN, kPitchB, kAlignB>;
