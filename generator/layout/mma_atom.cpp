#include "generator/layout/mma_atom.hpp"

#include "generator/layout/wgmma_atom.hpp"
#include "generator/text/nearest_name.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace jitgemm {
namespace {

/// As CuTe writes it: `.satfinite` behind the types.
std::string ptx_name_in_cute(const MmaAtom& atom) {
    constexpr std::string_view kSaturating = ".satfinite";
    std::string name = atom.ptx_name;
    if (const std::size_t at = name.find(kSaturating); at != std::string::npos) {
        name.erase(at, kSaturating.size());
        name += kSaturating;
    }
    return name;
}

bool is_named(const MmaAtom& atom, std::string_view name) {
    if (name.empty()) return false;
    return name == atom.cute_name || name == atom.cute_alias || name == atom.ptx_name || name == atom.short_name ||
           (atom.saturates && name == ptx_name_in_cute(atom));
}

/// All spellings, for the hint of an error message.
std::vector<std::string> every_name() {
    std::vector<std::string> names = mma_atom_names();
    for (const MmaAtom& atom : mma_atom_table()) {
        for (const std::string* name : {&atom.cute_alias, &atom.ptx_name, &atom.short_name}) names.push_back(*name);
    }
    for (const WgmmaForm& form : wgmma_forms()) {
        if (form.a_in_registers) continue;
        names.push_back(wgmma_ptx_name(form));
        names.push_back(wgmma_short_name(form));
    }
    return names;
}

[[noreturn]] void refuse_name(std::string_view name) {
    const std::vector<std::string> names = every_name();
    throw LayoutError(fmt::format("no MMA instruction has the name '{}'{}", name,
                                  nearest_hint(name, std::vector<std::string_view>(names.begin(), names.end()))));
}

}  // namespace

std::string_view to_string(Operand operand) {
    constexpr std::array<std::string_view, 3> kNames{"A", "B", "C"};
    return kNames[static_cast<std::size_t>(operand)];
}

const TvLayout& MmaAtom::layout(Operand operand) const {
    if (operand == Operand::a) return layout_a;
    return operand == Operand::b ? layout_b : layout_c;
}

MmaType MmaAtom::type(Operand operand) const {
    if (operand == Operand::a) return a;
    return operand == Operand::b ? b : accumulator;
}

bool MmaAtom::in_shared(Operand operand) const {
    if (operand == Operand::a) return a_in_shared;
    return operand == Operand::b && b_in_shared;
}

int MmaAtom::registers(Operand operand) const {
    return in_shared(operand) ? 0 : layout(operand).values() * bits(type(operand)) / kRegisterBits;
}

std::string MmaAtom::first_arch() const {
    return fmt::format("sm_{}{}", first_compute_capability, b_in_shared ? "a" : "");
}

const MmaAtom* find_mma_atom(TileShape shape, DataType a, DataType b, DataType accumulator) {
    const MmaType type_a = mma_type(a), type_b = mma_type(b), type_c = mma_type(accumulator);
    const auto atoms = mma_atom_table();
    const auto found = std::ranges::find_if(atoms, [&](const MmaAtom& atom) {
        return atom.shape == shape && atom.a == type_a && atom.b == type_b && atom.accumulator == type_c &&
               !atom.saturates;
    });
    return found == atoms.end() ? nullptr : &*found;
}

const MmaAtom* find_mma_atom(std::string_view name) {
    const auto atoms = mma_atom_table();
    const auto found = std::ranges::find_if(atoms, [&](const MmaAtom& atom) { return is_named(atom, name); });
    return found == atoms.end() ? nullptr : &*found;
}

MmaAtom mma_atom(std::string_view name) {
    if (const MmaAtom* atom = find_mma_atom(name)) return *atom;
    if (const auto form = find_wgmma(name)) return wgmma_atom(*form);
    refuse_name(name);
}

std::vector<std::string> mma_atom_names() {
    std::vector<std::string> names;
    for (const MmaAtom& atom : mma_atom_table()) names.push_back(atom.name());
    for (const WgmmaForm& form : wgmma_forms()) names.push_back(wgmma_cute_name(form));
    return names;
}

}  // namespace jitgemm
