#pragma once

#include "runtime/tuning/store/field_table.hpp"
#include "runtime/tuning/store/record_json.hpp"

/// \file The tables behind record_json.hpp, for structs with these structs as members.

namespace jitgemm::tuning {

template <>
struct WordOf<Verdict> {
    static std::string text(Verdict verdict) { return std::string(to_string(verdict)); }
    static Verdict parse(const std::string& word) { return parse_verdict(word); }
};

template <>
struct WordOf<Protocol> {
    static std::string text(Protocol protocol) { return std::string(to_string(protocol)); }
    static Protocol parse(const std::string& word) { return parse_protocol(word); }
};

template <>
struct WordOf<GroupSizes> {
    static std::string text(GroupSizes sizes) { return std::string(to_string(sizes)); }
    static GroupSizes parse(const std::string& word) { return parse_group_sizes(word); }
};

template <>
struct WordOf<const Arch*> {
    static std::string text(const Arch* arch) { return std::string(arch->name); }
    static const Arch* parse(const std::string& word) { return &find_arch(word); }
};

template <>
inline constexpr auto kFields<Versions> =
    std::tuple{Field{"library", &Versions::jitgemm}, Field{"templates", &Versions::templates},
               Field{"nvrtc", &Versions::nvrtc}, Field{"driver", &Versions::driver}};

template <>
inline constexpr auto kFields<GpuModel> = std::tuple{
    Field{"name", &GpuModel::name},           Field{"arch", &GpuModel::arch},
    Field{"sm_count", &GpuModel::sm_count},   Field{"l2_bytes", &GpuModel::l2_bytes},
    Field{"clock_mhz", &GpuModel::clock_mhz}, Field{"dram_bytes_per_second", &GpuModel::dram_bytes_per_second}};

template <>
inline constexpr auto kFields<DeviceFacts> =
    std::tuple{Field{"model", &DeviceFacts::model}, Field{"ordinal", &DeviceFacts::ordinal},
               Field{"memory_bytes", &DeviceFacts::memory_bytes}, Field{"emulator", &DeviceFacts::emulator},
               Field{"versions", &DeviceFacts::versions}};

template <>
inline constexpr auto kFields<CompileOutcome> =
    std::tuple{Field{"verdict", &CompileOutcome::verdict},         Field{"message", &CompileOutcome::message},
               Field{"compile_ms", &CompileOutcome::compile_ms},   Field{"registers", &CompileOutcome::registers},
               Field{"spill_bytes", &CompileOutcome::spill_bytes}, Field{"warnings", &CompileOutcome::warnings},
               Field{"text_hash", &CompileOutcome::text_hash}};

template <>
inline constexpr auto kFields<VerifyOutcome> =
    std::tuple{Field{"verdict", &VerifyOutcome::verdict}, Field{"message", &VerifyOutcome::message}};

template <>
inline constexpr auto kFields<DeviceReading> = std::tuple{
    Field{"sm_clock_mhz", &DeviceReading::sm_clock_mhz}, Field{"memory_clock_mhz", &DeviceReading::memory_clock_mhz},
    Field{"power_watts", &DeviceReading::power_watts}, Field{"temperature_c", &DeviceReading::temperature_c},
    Field{"throttle", &DeviceReading::throttle}};

template <>
inline constexpr auto kFields<Sample> = std::tuple{Field{"round", &Sample::round},
                                                   Field{"us", &Sample::us},
                                                   Field{"before", &Sample::before},
                                                   Field{"after", &Sample::after},
                                                   Field{"reference_us", &Sample::reference_us},
                                                   Field{"sustained_us", &Sample::sustained_us},
                                                   Field{"reference_sustained_us", &Sample::reference_sustained_us}};

template <>
inline constexpr auto kFields<Trial> =
    std::tuple{Field{"kernel", &Trial::kernel},   Field{"predicted_us", &Trial::predicted_us},
               Field{"compile", &Trial::compile}, Field{"verified", &Trial::verified},
               Field{"same_as", &Trial::same_as}, Field{"samples", &Trial::samples}};

template <>
inline constexpr auto kFields<Winner> = std::tuple{Field{"device_class", &Winner::device_class},
                                                   Field{"spec", &Winner::spec},
                                                   Field{"kernel", &Winner::kernel},
                                                   Field{"median_us", &Winner::median_us},
                                                   Field{"low_us", &Winner::low_us},
                                                   Field{"high_us", &Winner::high_us},
                                                   Field{"heuristic_kernel", &Winner::heuristic_kernel},
                                                   Field{"heuristic_us", &Winner::heuristic_us},
                                                   Field{"cublaslt_us", &Winner::cublaslt_us},
                                                   Field{"protocol", &Winner::protocol},
                                                   Field{"hot", &Winner::hot},
                                                   Field{"narrowed", &Winner::narrowed},
                                                   Field{"complete", &Winner::complete},
                                                   Field{"candidates_timed", &Winner::candidates_timed},
                                                   Field{"versions", &Winner::versions},
                                                   Field{"device_name", &Winner::device_name},
                                                   Field{"unix_time", &Winner::unix_time}};

}  // namespace jitgemm::tuning
