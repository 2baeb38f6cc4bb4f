#include "generator/families/mma_multistage/family.hpp"

#include "generator/base/nearest_name.hpp"
#include "generator/families/mma_multistage/geometry.hpp"
#include "generator/families/shared/parameter_table.hpp"
#include "generator/layout/swizzle.hpp"
#include "jitgemm/error.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace jitgemm {
namespace {

std::string rasterization_token(const MmaMultistageConfig& config) {
    switch (config.rasterization) {
        case Rasterization::row: return "raster-row";
        case Rasterization::column: return "raster-column";
        case Rasterization::grouped_m: return fmt::format("group{}m", config.group);
        case Rasterization::grouped_n: return fmt::format("group{}n", config.group);
        case Rasterization::zigzag: return fmt::format("zigzag{}m", config.group);
    }
    return {};
}

constexpr int kUsualGroup = 8;
constexpr std::array<std::string_view, 4> kPackNames{"none", "a", "b", "ab"};  // by Pack's value

std::string_view name_of(Pack pack) { return kPackNames[static_cast<std::size_t>(pack)]; }

std::string shared_token(const TensorCoreGeometry& g, SharedLayout layout) {
    if (layout == SharedLayout::padding) return "pad8";
    const int a = swizzle_span(g.a.pitch_bytes);
    const int b = swizzle_span(g.b.pitch_bytes);
    return a == b ? fmt::format("sw{}", a) : fmt::format("sw{}.{}", a, b);
}

// ---- reading ------------------------------------------------------------------------------------------------------

bool read_ldmatrix(TextReader& reader, MmaMultistageConfig& config) {
    const auto width = [&](int& x) { return reader.take_number(x) && (reader.take("n") || reader.take("t")); };
    return width(config.ldmatrix_a) && reader.take(".") && width(config.ldmatrix_b);
}

bool read_shared(TextReader& reader, MmaMultistageConfig& config) {
    int span = 0;
    if (reader.take("pad8")) {
        config.shared_layout = SharedLayout::padding;
        return true;
    }
    config.shared_layout = SharedLayout::swizzle;
    return reader.take("sw") && reader.take_number(span) && (!reader.take(".") || reader.take_number(span));
}

bool read_rasterization(TextReader& reader, MmaMultistageConfig& config) {
    config.group = 1;
    if (reader.take("raster-row")) return config.rasterization = Rasterization::row, true;
    if (reader.take("raster-column")) return config.rasterization = Rasterization::column, true;
    const bool zigzag = reader.take("zigzag");
    if ((!zigzag && !reader.take("group")) || !reader.take_number(config.group)) return false;
    if (reader.take("m")) {
        config.rasterization = zigzag ? Rasterization::zigzag : Rasterization::grouped_m;
        return true;
    }
    config.rasterization = Rasterization::grouped_n;
    return !zigzag && reader.take("n");
}

bool read_epilogue(TextReader& reader, MmaMultistageConfig& config) {
    if (reader.take("smem")) return config.epilogue = EpilogueStore::shared, true;
    if (reader.take("reg")) return config.epilogue = EpilogueStore::registers, true;
    return false;
}

bool read_reduction(TextReader& reader, MmaMultistageConfig& config) {
    if (reader.take("workspace")) return config.reduction = Reduction::workspace, true;
    if (reader.take("cluster")) return config.reduction = Reduction::cluster, true;
    return false;
}

bool read_split(TextReader& reader, MmaMultistageConfig& config) {
    if (!reader.take("split") || !reader.take_number(config.split_k)) return false;
    if (reader.take("-cluster")) config.reduction = Reduction::cluster;
    return true;
}

bool read_pack(TextReader& reader, MmaMultistageConfig& config) {
    for (const Pack pack : {Pack::none, Pack::ab, Pack::a, Pack::b})  // "ab" before its first letter
        if (reader.take(name_of(pack))) return config.pack = pack, true;
    return false;
}

/// One token of the config name, in order: how it looks, and how it is read.
struct NameToken {
    std::string_view expected;
    bool (*read)(TextReader&, MmaMultistageConfig&);
};
constexpr std::array<NameToken, 11> kNameTokens{{
    {"block<M>x<N>x<K>",
     [](TextReader& r, MmaMultistageConfig& c) { return r.take("block") && r.take_shape(c.block); }},
    {"warp<M>x<N>", [](TextReader& r, MmaMultistageConfig& c) { return r.take("warp") && r.take_shape_2d(c.warp); }},
    {"mma<M>x<N>x<K>", [](TextReader& r, MmaMultistageConfig& c) { return r.take("mma") && r.take_shape(c.mma); }},
    {"ldsm<1|2|4><n|t>.<1|2|4><n|t>",
     [](TextReader& r, MmaMultistageConfig& c) { return r.take("ldsm") && read_ldmatrix(r, c); }},
    {"stages<N>", [](TextReader& r, MmaMultistageConfig& c) { return r.take("stages") && r.take_number(c.stages); }},
    {"sw<bytes>, sw<bytes>.<bytes> or pad8", read_shared},
    {"db<0|1>", [](TextReader& r, MmaMultistageConfig& c) { return r.take("db") && r.take_flag(c.double_buffer); }},
    {"raster-row, raster-column, group<N>m, group<N>n or zigzag<N>m", read_rasterization},
    {"epi-smem or epi-reg",
     [](TextReader& r, MmaMultistageConfig& c) { return r.take("epi-") && read_epilogue(r, c); }},
    {"split<N> or split<N>-cluster", read_split},
    {"pack-none, pack-a, pack-b or pack-ab",
     [](TextReader& r, MmaMultistageConfig& c) { return r.take("pack-") && read_pack(r, c); }},
}};

/// One parameter of --param: how a value is read and what it may look like.
struct Parameter {
    std::string_view name;
    std::string_view expected;
    bool (*read)(TextReader&, MmaMultistageConfig&);
};

bool read_shared_value(TextReader& reader, MmaMultistageConfig& config) {
    if (reader.take("swizzle")) return config.shared_layout = SharedLayout::swizzle, true;
    if (reader.take("padding")) return config.shared_layout = SharedLayout::padding, true;
    return false;
}

constexpr std::array<Parameter, 14> kParameters{{
    {"block", "<M>x<N>x<K>", [](TextReader& r, MmaMultistageConfig& c) { return r.take_shape(c.block); }},
    {"warp", "<M>x<N>", [](TextReader& r, MmaMultistageConfig& c) { return r.take_shape_2d(c.warp); }},
    {"mma", "<M>x<N>x<K>", [](TextReader& r, MmaMultistageConfig& c) { return r.take_shape(c.mma); }},
    {"stages", "a number", [](TextReader& r, MmaMultistageConfig& c) { return r.take_number(c.stages); }},
    {"ldsm_a", "1, 2 or 4", [](TextReader& r, MmaMultistageConfig& c) { return r.take_number(c.ldmatrix_a); }},
    {"ldsm_b", "1, 2 or 4", [](TextReader& r, MmaMultistageConfig& c) { return r.take_number(c.ldmatrix_b); }},
    {"shared", "swizzle or padding", read_shared_value},
    {"double_buffer", "0, 1, false or true",
     [](TextReader& r, MmaMultistageConfig& c) { return r.take_flag(c.double_buffer); }},
    {"rasterization", "row, column, grouped_m, grouped_n or zigzag",
     [](TextReader& r, MmaMultistageConfig& c) { return read_rasterization_name(r, c.rasterization); }},
    {"group", "a number", [](TextReader& r, MmaMultistageConfig& c) { return r.take_number(c.group); }},
    {"epilogue", "smem or reg", read_epilogue},
    {"split_k", "a number", [](TextReader& r, MmaMultistageConfig& c) { return r.take_number(c.split_k); }},
    {"reduction", "workspace or cluster", read_reduction},
    {"pack", "none, a, b or ab", read_pack},
}};

std::string unknown_parameter(std::string_view name) {
    std::array<std::string_view, kParameters.size()> names;
    for (std::size_t i = 0; i < names.size(); ++i) names[i] = kParameters[i].name;
    return fmt::format("mma_multistage has no parameter '{}'{}; it has {}", name, nearest_hint(name, names),
                       join_names(names));
}

const Parameter* find_parameter(std::string_view name) {
    for (const Parameter& parameter : kParameters)
        if (parameter.name == name) return &parameter;
    return nullptr;
}

}  // namespace

std::string MmaMultistage::config_name(const GemmSignature& signature, const MmaMultistageConfig& c) {
    const TensorCoreGeometry g = geometry(signature, c);
    return fmt::format("block{}x{}x{}_warp{}x{}_mma{}x{}x{}_ldsm{}{}.{}{}_stages{}_{}_db{}_{}_epi-{}_split{}{}_pack-{}",
                       c.block.m, c.block.n, c.block.k, c.warp.m, c.warp.n, c.mma.m, c.mma.n, c.mma.k, c.ldmatrix_a,
                       g.a.k_major ? 'n' : 't', c.ldmatrix_b, g.b.k_major ? 'n' : 't', c.stages,
                       shared_token(g, c.shared_layout), c.double_buffer ? 1 : 0, rasterization_token(c),
                       c.epilogue == EpilogueStore::shared ? "smem" : "reg", c.split_k,
                       c.reduction == Reduction::cluster ? "-cluster" : "", name_of(c.pack));
}

MmaMultistageConfig MmaMultistage::parse_config_name(std::string_view name) {
    MmaMultistageConfig config;
    TextReader rest(name);
    for (const NameToken& expected : kNameTokens) {
        const std::string_view token = rest.take_token();
        TextReader reader(token);
        if (!expected.read(reader, config) || !reader.done())
            throw ConfigError("kernel name", {fmt::format("'{}' stands where {} is expected",
                                                          token.empty() ? "nothing" : token, expected.expected)});
    }
    if (!rest.done())
        throw ConfigError("kernel name", {fmt::format("'{}' follows the last token of the config", rest.take_token())});
    config.warp.k = config.block.k;
    return {config};
}

ParameterMap MmaMultistage::parameters(const MmaMultistageConfig& c) {
    return {{"block", fmt::format("{}x{}x{}", c.block.m, c.block.n, c.block.k)},
            {"warp", fmt::format("{}x{}", c.warp.m, c.warp.n)},
            {"mma", fmt::format("{}x{}x{}", c.mma.m, c.mma.n, c.mma.k)},
            {"stages", std::to_string(c.stages)},
            {"ldsm_a", std::to_string(c.ldmatrix_a)},
            {"ldsm_b", std::to_string(c.ldmatrix_b)},
            {"shared", c.shared_layout == SharedLayout::swizzle ? "swizzle" : "padding"},
            {"double_buffer", c.double_buffer ? "1" : "0"},
            {"rasterization", std::string(rasterization_name(c.rasterization))},
            {"group", std::to_string(c.group)},
            {"epilogue", c.epilogue == EpilogueStore::shared ? "smem" : "reg"},
            {"split_k", std::to_string(c.split_k)},
            {"reduction", c.reduction == Reduction::cluster ? "cluster" : "workspace"},
            {"pack", std::string(name_of(c.pack))}};
}

MmaMultistageConfig MmaMultistage::with_parameters(const MmaMultistageConfig& config, const ParameterMap& parameters) {
    MmaMultistageConfig changed = config;
    std::vector<std::string> reasons;
    for (const auto& [name, value] : parameters) {
        const Parameter* parameter = find_parameter(name);
        if (parameter == nullptr) {
            reasons.push_back(unknown_parameter(name));
            continue;
        }
        TextReader reader(value);
        if (!parameter->read(reader, changed) || !reader.done())
            reasons.push_back(fmt::format("parameter {}: '{}' is not {}", name, value, parameter->expected));
    }
    if (!reasons.empty()) throw ConfigError("parameters", std::move(reasons));
    changed.warp.k = changed.block.k;
    settle_group(changed.rasterization, changed.group, kUsualGroup, parameters);
    return {changed};
}

}  // namespace jitgemm
