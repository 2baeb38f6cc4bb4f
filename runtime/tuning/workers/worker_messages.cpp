#include "runtime/tuning/workers/worker_messages.hpp"

#include "jitgemm/error.hpp"
#include "runtime/tuning/store/record_fields.hpp"

#include <array>

namespace jitgemm::tuning {

template <>
inline constexpr auto kFields<CompileJob> =
    std::tuple{Field{"spec", &CompileJob::spec}, Field{"kernel", &CompileJob::kernel}, Field{"arch", &CompileJob::arch},
               Field{"ptx", &CompileJob::ptx}};

template <>
inline constexpr auto kFields<VerifyJob> =
    std::tuple{Field{"spec", &VerifyJob::spec}, Field{"kernel", &VerifyJob::kernel}, Field{"alpha", &VerifyJob::alpha},
               Field{"beta", &VerifyJob::beta}};

template <>
inline constexpr auto kFields<TimeJob> = std::tuple{Field{"spec", &TimeJob::spec},
                                                    Field{"kernels", &TimeJob::kernels},
                                                    Field{"first_rounds", &TimeJob::first_rounds},
                                                    Field{"rounds", &TimeJob::rounds},
                                                    Field{"protocol", &TimeJob::protocol},
                                                    Field{"sustained", &TimeJob::sustained},
                                                    Field{"hot", &TimeJob::hot},
                                                    Field{"seed", &TimeJob::seed},
                                                    Field{"alpha", &TimeJob::alpha},
                                                    Field{"beta", &TimeJob::beta},
                                                    Field{"group_sizes", &TimeJob::group_sizes}};

/// {"stop": "timing"}.
template <>
struct WordOf<StopTiming> {
    static constexpr const char* kWord = "timing";
    static std::string text(const StopTiming&) { return kWord; }
    static StopTiming parse(const std::string& word) {
        if (word != kWord) throw Error(fmt::format("'{}' cannot be stopped: expected {}", word, kWord));
        return {};
    }
};

template <>
inline constexpr auto kFields<WorkerHello> =
    std::tuple{Field{"protocol", &WorkerHello::protocol}, Field{"facts", &WorkerHello::facts}};

template <>
inline constexpr auto kFields<CudaFailure> =
    std::tuple{Field{"result", &CudaFailure::result}, Field{"call", &CudaFailure::call}};

template <>
inline constexpr auto kFields<WorkerRefusal> =
    std::tuple{Field{"message", &WorkerRefusal::message}, Field{"cuda", &WorkerRefusal::cuda}};

template <>
inline constexpr auto kFields<WorkerTurn> = std::tuple{Field{"kernel", &WorkerTurn::kernel}};

template <>
inline constexpr auto kFields<TimedSample> =
    std::tuple{Field{"kernel", &TimedSample::kernel}, Field{"sample", &TimedSample::sample}};

template <>
inline constexpr auto kFields<RoundEnd> =
    std::tuple{Field{"after", &RoundEnd::after}, Field{"counts", &RoundEnd::counts}};

template <>
inline constexpr auto kFields<TimeOutcome> =
    std::tuple{Field{"verdict", &TimeOutcome::verdict}, Field{"culprit", &TimeOutcome::culprit},
               Field{"message", &TimeOutcome::message}, Field{"repeated_rounds", &TimeOutcome::repeated_rounds}};

namespace {

// In the order of the variants.
constexpr std::array<const char*, 4> kRequests{"compile", "verify", "time", "stop"};
constexpr std::array<const char*, 8> kReplies{"hello", "refusal", "compiled", "verified",
                                              "turn",  "sample",  "round",    "timed"};
static_assert(kRequests.size() == std::variant_size_v<WorkerRequest>);
static_assert(kReplies.size() == std::variant_size_v<WorkerReply>);

template <typename Message, typename Names>
std::string line_of(const Message& message, const Names& names) {
    Json json;
    std::visit([&](const auto& body) { json[names[message.index()]] = json_of(body); }, message);
    return json_line(json);
}

/// The message of the type that the document's one key names.
template <typename Message, std::size_t kIndex = 0, typename Names>
Message read_message(const Json& json, const Names& names) {
    if constexpr (kIndex == std::variant_size_v<Message>) {
        throw Error(json_line(json).substr(0, 80) + " is not a worker's message");
    } else {
        const auto body = json.find(names[kIndex]);
        if (body == json.end()) return read_message<Message, kIndex + 1>(json, names);
        std::variant_alternative_t<kIndex, Message> value;
        read_json(*body, names[kIndex], value);
        return value;
    }
}

}  // namespace

std::string to_line(const WorkerRequest& request) { return line_of(request, kRequests); }

std::string to_line(const WorkerReply& reply) { return line_of(reply, kReplies); }

WorkerRequest parse_request(std::string_view line) { return read_message<WorkerRequest>(parse_json(line), kRequests); }

WorkerReply parse_reply(std::string_view line) { return read_message<WorkerReply>(parse_json(line), kReplies); }

}  // namespace jitgemm::tuning
