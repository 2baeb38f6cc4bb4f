#pragma once

#include "generator/draw/picture.hpp"
#include "generator/layout/composed_layout.hpp"
#include "generator/layout/ldmatrix_plan.hpp"
#include "generator/layout/tiled_copy.hpp"
#include "generator/layout/tiled_mma.hpp"

namespace jitgemm {

/// The values of a layout: mode 0 down, the others together across; a layout of one mode runs across.
[[nodiscard]] Picture layout_picture(const ComposedLayout& layout);

/// A, B and C with the thread and value that hold each element, coloured by thread.
[[nodiscard]] Picture mma_picture(const MmaAtom& atom);
[[nodiscard]] Picture tiled_mma_picture(const TiledMma& mma);

/// The operand's tile with the lane and register that each element of the first warp goes to, coloured by register, and
/// the row whose address every lane supplies to each instruction. Throws LayoutError where no ldmatrix is legal.
[[nodiscard]] Picture ldmatrix_picture(const TiledMma& mma, Operand operand, const LdmatrixPlan& plan);

/// A tile with the thread and instruction that copy each element, coloured by thread.
[[nodiscard]] Picture copy_picture(const TiledCopy& copy, const Layout& data, int vector);

}  // namespace jitgemm
