#pragma once

namespace jitgemm {

/// What the kernels of a family serve beyond one plain product.
struct FamilyServes {
    bool pairs = false;         ///< an element of D of two columns
    bool block_scales = false;  ///< scales of blocks of K
    bool blocks_of_d = false;   ///< outputs with an element for each block of D
    bool batches = false;
    bool groups = false;          ///< of rows and of K, with rows that an index names
    bool groups_of_rows = false;  ///< these alone
    bool symmetric = false;
};

}  // namespace jitgemm
