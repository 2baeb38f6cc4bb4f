// Built by add_a_family_test.cpp with the generator that docs/add-a-family.md made: what the new family says of f32 300
// x 200 x 100.
#include "generator/families/family.hpp"
#include "generator/families/kernel_name.hpp"
#include "generator/generate.hpp"
#include "generator/heuristics.hpp"

#include <iostream>

using namespace jitgemm;

int main(int count, char** arguments) {
    if (count != 4) return 2;
    const TemplateSet templates = TemplateSet::from_directory(arguments[1]);
    Selection selection;
    selection.family = arguments[2];
    selection.parameters = parse_parameters(arguments[3]);
    const GemmSpec spec = resolved(parse_shape_line("f32 tn 300 200 100"));
    const KernelConfig config = choose_config(problem_of(spec), find_gpu("h200"), selection);
    GemmSpec invariant = spec;
    invariant.deterministic = Determinism::batch_invariant;
    const bool is_invariant = family_of(config).violations(problem_of(invariant), config, find_arch("sm_90a")).empty();
    const KernelSource source = generate(problem_of(spec), config, find_arch("sm_90a"), templates);
    const KernelEntry& entry = source.entries.front();
    const bool comes_back = parse_kernel_name(source.name).config == config;
    std::cout << source.name << '\n'
              << comes_back << ' ' << is_invariant << ' ' << entry.threads << ' ' << entry.grid.tile_m << ' '
              << entry.grid.tile_n << '\n'
              << source.body;
}
