#include "runtime/bench/peer_library.hpp"

#include "generator/base/operand.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/bench/cublaslt.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/support/dynamic_library.hpp"
#include "runtime/verify/guarded_matrix.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::string_view kLibraryPrefix = "lib:";
constexpr int kFirstWithEpilogues = 2;  // version of the interface

/// A loaded peer; shared by its candidates, so that it outlives them.
struct PeerLibrary {
    DynamicLibrary library;
    decltype(&::jitgemm_peer_gemm) gemm = nullptr;
    decltype(&::jitgemm_peer_variants) variants = nullptr;
    std::string name;
    int version = 1;
    std::shared_ptr<Device> device;

    [[nodiscard]] std::unique_ptr<ScopedContext> make_current() const {
        return device == nullptr ? nullptr : std::make_unique<ScopedContext>(cuda_context(*device));
    }
};

std::shared_ptr<const PeerLibrary> load(const std::string& path, std::shared_ptr<Device> device) {
    auto peer = std::make_shared<PeerLibrary>();
    // dlopen would look for a bare name among the system's libraries.
    const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
    std::vector<std::string> tried;
    peer->library = DynamicLibrary::open_first({file}, tried);
    if (!peer->library)
        throw Error(fmt::format("peer library cannot be loaded: {}", tried.empty() ? path : tried.front()));
    // It may have started threads or registered kernels with the CUDA runtime; unloading it would pull code from under
    // them.
    peer->library.keep_loaded();
    if (!peer->library.find("jitgemm_peer_gemm", peer->gemm))
        throw Error(fmt::format("peer library {} does not define jitgemm_peer_gemm (see docs/peers.md)", path));
    peer->library.find("jitgemm_peer_variants", peer->variants);
    decltype(&::jitgemm_peer_name) name = nullptr;
    peer->name = peer->library.find("jitgemm_peer_name", name) ? name() : std::filesystem::path(path).stem().string();
    decltype(&::jitgemm_peer_version) version = nullptr;
    if (peer->library.find("jitgemm_peer_version", version)) peer->version = version();
    peer->device = std::move(device);
    return peer;
}

std::string problem_text(const jitgemm_peer_problem& problem) {
    const std::string shape = fmt::format("{} {}{} {}x{}x{}", problem.type_a, problem.order_a, problem.order_b,
                                          problem.m, problem.n, problem.k);
    return problem.epilogue == nullptr ? shape : fmt::format("{} with '{}'", shape, problem.epilogue);
}

void* address(DevicePointer pointer) { return reinterpret_cast<void*>(pointer.address); }

/// A problem with the operands of its epilogue, which a call fills in.
struct PeerCall {
    explicit PeerCall(const GemmSpec& spec) : problem(peer_problem(spec)), operands(peer_operands(spec)) {}

    /// Valid as long as this object and its operands stay.
    [[nodiscard]] jitgemm_peer_problem pointed() const {
        jitgemm_peer_problem pointed = problem;
        if (!operands.empty()) pointed.operands = operands.data();
        return pointed;
    }
    void fill(const GemmArguments& arguments) {
        problem.alpha = arguments.alpha;
        problem.beta = arguments.beta;
        for (jitgemm_peer_operand& operand : operands) {
            operand.value = operand.type == nullptr ? scalar_of(operand.name, arguments) : 0.0F;
            const OperandArgument* const given = arguments.operands.find(operand.name);
            operand.pointer = operand.type == nullptr || given == nullptr ? nullptr : address(given->pointer);
        }
    }

    jitgemm_peer_problem problem;
    std::vector<jitgemm_peer_operand> operands;
};

void call(const PeerLibrary& peer, PeerCall prepared, const GemmArguments& arguments, Stream stream) {
    const std::unique_ptr<ScopedContext> current = peer.make_current();
    prepared.fill(arguments);
    const jitgemm_peer_problem problem = prepared.pointed();
    const int answer = peer.gemm(&problem, address(arguments.a), address(arguments.b), address(arguments.c),
                                 address(arguments.d), stream);
    if (answer != 0)
        throw Error(fmt::format("{} cannot compute {}: it returned {}", peer.name, problem_text(problem), answer));
}

/// Whether the peer takes the problem is only known by asking it to compute one, on operands of that size.
std::string refusal(const PeerLibrary& peer, const GemmSpec& spec, const PeerCall& prepared) {
    if (peer.device == nullptr) return {};
    std::vector<GuardedMatrix> matrices;
    GemmArguments arguments = scalar_arguments(spec, 1.0F, 0.0F);
    for (const GemmOperand& operand : gemm_operands(spec)) {
        matrices.emplace_back(peer.device, form_of(operand, true), std::string(operand.title));
        set_address(operand, arguments, matrices.back().matrix().data);
    }
    try {
        call(peer, prepared, arguments, nullptr);
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        return error.what();
    }
    peer.device->synchronize(nullptr);
    return {};
}

char order_letter(Order order) { return order == Order::row ? 't' : 'n'; }

/// As a text has it; null for a dimension of one element.
const char* index_name(OperandIndex index) {
    switch (index) {
        case OperandIndex::m: return "m";
        case OperandIndex::n: return "n";
        case OperandIndex::k: return "k";
        case OperandIndex::half_m:
        case OperandIndex::half_n: return "h";
        case OperandIndex::blocks_m: return "m/128";
        case OperandIndex::blocks_n: return "n/128";
        case OperandIndex::blocks_k: return "k/128";
        default: return nullptr;
    }
}

class LibraryPeer final : public Peer {
public:
    explicit LibraryPeer(std::shared_ptr<const PeerLibrary> library) : library_(std::move(library)) {}
    [[nodiscard]] std::string name() const override { return library_->name; }

private:
    [[nodiscard]] bool takes_epilogue() const override { return library_->version >= kFirstWithEpilogues; }
    [[nodiscard]] std::vector<BenchCandidate> candidates_of_one(const GemmSpec& spec, std::string& reason) override;
    [[nodiscard]] int variants(const jitgemm_peer_problem& problem) const {
        const std::unique_ptr<ScopedContext> current = library_->make_current();
        return library_->variants == nullptr ? 1 : library_->variants(&problem);
    }
    [[nodiscard]] std::string candidate_name(int variant, int count) const {
        return count == 1 ? library_->name : fmt::format("{}#{}", library_->name, variant);
    }

    std::shared_ptr<const PeerLibrary> library_;
};

std::vector<BenchCandidate> LibraryPeer::candidates_of_one(const GemmSpec& spec, std::string& reason) {
    if (is_batched(spec)) {
        reason =
            fmt::format("{} is asked for one product, not for a batch: struct jitgemm_peer_problem has none", name());
        return {};
    }
    PeerCall prepared(spec);
    const int count = variants(prepared.pointed());
    std::vector<BenchCandidate> candidates;
    if (count <= 0) reason = fmt::format("{} cannot compute {}", library_->name, problem_text(prepared.problem));
    for (int variant = 0; variant < count; ++variant) {
        prepared.problem.variant = static_cast<std::uint32_t>(variant);
        const std::string refused = refusal(*library_, spec, prepared);
        if (!refused.empty()) {
            if (reason.empty()) reason = refused;
            continue;
        }
        candidates.push_back({candidate_name(variant, count),
                              [library = library_, prepared](const GemmArguments& arguments, Stream stream) {
                                  call(*library, prepared, arguments, stream);
                              }});
    }
    if (!candidates.empty()) reason.clear();
    return candidates;
}

}  // namespace

jitgemm_peer_problem peer_problem(const GemmSpec& spec) {
    const auto name = [](DataType type) {
        return to_string(type).data();
    };  // literals of the type table, zero-terminated
    const OperandList operands = gemm_operands(spec);
    const auto alignment = [&](std::string_view operand) {
        return form_of(*operands.find(operand), true).base_alignment();
    };
    jitgemm_peer_problem problem{};
    problem.version = JITGEMM_PEER_VERSION;
    problem.m = spec.m;
    problem.n = spec.n;
    problem.k = spec.k;
    problem.type_a = name(spec.a);
    problem.type_b = name(spec.b);
    problem.type_c = spec.c ? name(*spec.c) : nullptr;
    problem.type_d = name(spec.d);
    problem.type_accumulator = name(spec.accumulator);
    problem.lda = spec.lda;
    problem.ldb = spec.ldb;
    problem.ldc = spec.ldc;
    problem.ldd = spec.ldd;
    problem.align_a = alignment("a");
    problem.align_b = alignment("b");
    problem.align_c = spec.c ? alignment("c") : 0;
    problem.align_d = alignment("d");
    problem.order_a = order_letter(order_a(spec.layout));
    problem.order_b = order_letter(order_b(spec.layout));
    problem.order_d = order_letter(spec.d_order);
    problem.alpha = 1.0F;
    problem.size = sizeof problem;
    problem.operand_size = sizeof(jitgemm_peer_operand);
    problem.sums = has_promoted_sums(spec) ? "promoted" : "fast";
    problem.math = to_string(spec.math).data();
    const std::optional<Epilogue> meaning = meaning_of(spec.epilogue, spec.d);
    if (!meaning) return problem;
    problem.epilogue = meaning->text().c_str();  // interned, as the names of its operands are
    problem.operand_count = meaning->parts().operands.size();
    return problem;
}

std::vector<jitgemm_peer_operand> peer_operands(const GemmSpec& spec) {
    std::vector<jitgemm_peer_operand> operands;
    const EpilogueParts* const parts = parts_of(spec);
    if (parts == nullptr) return operands;
    const OperandList all = gemm_operands(spec);
    for (const EpilogueOperand& part : parts->operands) {
        jitgemm_peer_operand& operand = operands.emplace_back();
        operand.name = part.name.c_str();
        if (part.is_scalar) continue;
        const GemmOperand& placed = *all.find(part.name);
        operand.type = to_string(part.type).data();
        operand.align = form_of(placed, true).base_alignment();
        operand.rows = placed.rows;
        operand.columns = placed.columns;
        operand.ld = placed.is_matrix() ? placed.leading_dimension() : 0;
        operand.row_index = index_name(placed.row);
        operand.column_index = index_name(placed.column);
        operand.order = order_letter(placed.order);
    }
    return operands;
}

std::unique_ptr<Peer> open_peer_library(const std::string& path, std::shared_ptr<Device> device) {
    return std::make_unique<LibraryPeer>(load(path, std::move(device)));
}

std::unique_ptr<Peer> open_peer(const std::string& name, ContextState& context) {
    if (name == "cublaslt") return open_cublaslt(context);
    if (name.starts_with(kLibraryPrefix) && name.size() > kLibraryPrefix.size())
        return open_peer_library(name.substr(kLibraryPrefix.size()), context.device);
    throw Error(fmt::format("unknown peer '{}': expected cublaslt or lib:PEER.so", name));
}

}  // namespace jitgemm
