#pragma once

#include "generator/families/mma_multistage/family.hpp"
#include "generator/families/mma_sliced_k/family.hpp"
#include "generator/families/shared/simt_family.hpp"
#include "generator/families/simt_hierarchical/family.hpp"
#include "generator/families/simt_long_k/family.hpp"
#include "generator/families/simt_naive/family.hpp"
#include "generator/families/simt_outer_product/family.hpp"
#include "generator/families/simt_outer_product_tile2d/family.hpp"
#include "generator/families/simt_tile2d/family.hpp"
#include "generator/families/simt_tile2d_shared/family.hpp"
#include "generator/families/wgmma_warp_specialized/family.hpp"
#include "generator/families/wmma_multistage/family.hpp"

#include <variant>

namespace jitgemm {

template <typename... Families>
struct FamilyList {
    using Configs = std::variant<typename Families::Config...>;
};

/// The kernel families. To add one, include its family.hpp and add its struct at the end of this list.
using AllFamilies =
    FamilyList<MmaMultistage, SimtHierarchical, SimtFamily<SimtNaive>, SimtFamily<SimtTile2d>,
               SimtFamily<SimtTile2dShared>, SimtFamily<SimtOuterProduct>, SimtFamily<SimtOuterProductTile2d>,
               WmmaMultistage, SimtLongK, WgmmaWarpSpecialized, MmaSlicedK>;

using ConfigVariant = AllFamilies::Configs;

}  // namespace jitgemm
