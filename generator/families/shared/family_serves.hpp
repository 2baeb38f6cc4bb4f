#pragma once

namespace jitgemm {

/// The features that kernels of a family serve beyond one plain product.
struct FamilyServes {
    bool pairs = false;         ///< an element of D of two columns
    bool block_scales = false;  ///< scales of blocks of K
    bool blocks_of_d = false;   ///< outputs with an element for each block of D
    bool batches = false;
    bool groups = false;         ///< of rows and of K
    bool gathered_rows = false;  ///< groups whose rows of A an index names
    bool symmetric = false;
};

}  // namespace jitgemm
