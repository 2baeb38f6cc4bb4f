#include "runtime/bench/cublaslt.hpp"

#include "generator/base/operand.hpp"
#include "jitgemm/device_pointer.hpp"
#include "jitgemm/error.hpp"
#include "jitgemm/gemm_arguments.hpp"
#include "runtime/bench/cublaslt_library.hpp"
#include "runtime/bench/epilogue_pass.hpp"
#include "runtime/bench/peer_scales.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/verify/guarded_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <utility>

namespace jitgemm {
namespace {

using namespace cublaslt;

constexpr std::int64_t kWorkspaceBytes = 64LL << 20;
constexpr int kMostAlgorithms = 32;

CudaType cuda_type(DataType type) {
    switch (type) {
        case DataType::f16: return CudaType::r_16f;
        case DataType::bf16: return CudaType::r_16bf;
        case DataType::e4m3: return CudaType::r_8f_e4m3;
        case DataType::e5m2: return CudaType::r_8f_e5m2;
        case DataType::s8: return CudaType::r_8i;
        case DataType::s32: return CudaType::r_32i;
        case DataType::f32:
        case DataType::tf32: break;
    }
    return CudaType::r_32f;
}

ComputeType compute_type(const GemmSpec& spec) {
    if (spec.accumulator == DataType::f16) return ComputeType::f16;
    if (spec.accumulator == DataType::s32) return ComputeType::i32;
    return spec.a == DataType::tf32 ? ComputeType::f32_fast_tf32 : ComputeType::f32;
}

CudaType scale_type(const GemmSpec& spec) {
    if (spec.accumulator == DataType::f16) return CudaType::r_16f;
    if (spec.accumulator == DataType::s32 && spec.d == DataType::s32) return CudaType::r_32i;
    return CudaType::r_32f;
}

/// Our matrix (rows × columns), or its transpose, as one of cuBLAS's operands.
ColumnMajorProblem::Stored stored(const MatrixForm& form, bool transposed) {
    const Order order = transposed ? flipped(form.order) : form.order;
    const auto alignment = static_cast<std::uint32_t>(form.base_alignment());
    return {cuda_type(form.type),
            form.run(),
            form.lines(),
            form.leading_dimension,
            order == Order::column ? Operation::none : Operation::transpose,
            alignment,
            form.batch_stride};
}

bool is_aligned(DevicePointer pointer, std::uint32_t alignment) { return pointer.address % alignment == 0; }

void* device_address(DevicePointer pointer) { return reinterpret_cast<void*>(pointer.address); }

// ---- descriptors ----------------------------------------------------------------------------------------------------

/// Descriptors of one problem, destroyed with the object.
class Descriptors {
public:
    Descriptors(std::shared_ptr<const CublasLt> library, const ColumnMajorProblem& problem)
        : library_(std::move(library)) {
        try {
            create(problem);
        } catch (...) {
            destroy();
            throw;
        }
    }
    Descriptors(const Descriptors&) = delete;
    Descriptors& operator=(const Descriptors&) = delete;
    ~Descriptors() { destroy(); }

    /// Where the launches after it read the bias.
    void set_bias(DevicePointer bias) const { set(MatmulAttribute::bias_pointer, device_address(bias)); }

    /// Where the launches after it read the scales of cuBLAS's A and B.
    void set_scales(DevicePointer of_a, DevicePointer of_b) const {
        set(MatmulAttribute::a_scale_pointer, device_address(of_a));
        set(MatmulAttribute::b_scale_pointer, device_address(of_b));
    }

    /// Up to kMostAlgorithms, cuBLASLt's first choice first; empty with the reason when there is none.
    [[nodiscard]] std::vector<HeuristicResult> algorithms(const ColumnMajorProblem& problem, std::uint32_t reduction,
                                                          std::string& reason) const;

    MatmulDescription operation = nullptr;
    MatrixLayout a = nullptr;
    MatrixLayout b = nullptr;
    MatrixLayout c = nullptr;
    MatrixLayout d = nullptr;

private:
    void create(const ColumnMajorProblem& problem);
    void create_layout(MatrixLayout& layout, const ColumnMajorProblem::Stored& matrix, std::int64_t batch) const;
    void destroy() noexcept;
    template <typename Value>
    void set(MatmulAttribute attribute, Value value) const {
        library_->check(
            library_->matmul_desc_set_attribute(operation, attribute, static_cast<const void*>(&value), sizeof value),
            "cublasLtMatmulDescSetAttribute");
    }
    template <typename Value>
    void prefer(PreferenceAttribute attribute, Value value) const {
        library_->check(library_->preference_set_attribute(preference_, attribute, &value, sizeof value),
                        "cublasLtMatmulPreferenceSetAttribute");
    }

    std::shared_ptr<const CublasLt> library_;
    Preference preference_ = nullptr;
};

void Descriptors::create_layout(MatrixLayout& layout, const ColumnMajorProblem::Stored& matrix,
                                std::int64_t batch) const {
    library_->check(
        library_->matrix_layout_create(&layout, matrix.type, static_cast<std::uint64_t>(matrix.rows),
                                       static_cast<std::uint64_t>(matrix.columns), matrix.leading_dimension),
        "cublasLtMatrixLayoutCreate");
    if (batch == 1) return;
    const auto set = [&](LayoutAttribute attribute, auto value) {
        library_->check(library_->matrix_layout_set_attribute(layout, attribute, &value, sizeof value),
                        "cublasLtMatrixLayoutSetAttribute");
    };
    set(LayoutAttribute::batch_count, static_cast<std::int32_t>(batch));
    set(LayoutAttribute::batch_stride, matrix.batch_stride);
}

void Descriptors::create(const ColumnMajorProblem& problem) {
    library_->check(library_->matmul_desc_create(&operation, problem.compute, problem.scale),
                    "cublasLtMatmulDescCreate");
    set(MatmulAttribute::transpose_a, static_cast<std::int32_t>(problem.a.operation));
    set(MatmulAttribute::transpose_b, static_cast<std::int32_t>(problem.b.operation));
    set(MatmulAttribute::epilogue, problem.epilogue);
    if (problem.has_scales()) {
        set(MatmulAttribute::a_scale_mode, problem.scale_a);
        set(MatmulAttribute::b_scale_mode, problem.scale_b);
    }
    if (problem.adds_fast) set(MatmulAttribute::fast_accumulation, std::int8_t{1});
    if (problem.bias) set(MatmulAttribute::bias_type, static_cast<std::int32_t>(*problem.bias));
    create_layout(a, problem.a, problem.batch);
    create_layout(b, problem.b, problem.batch);
    create_layout(c, problem.c, problem.batch);
    create_layout(d, problem.d, problem.batch);
    library_->check(library_->preference_create(&preference_), "cublasLtMatmulPreferenceCreate");
}

void Descriptors::destroy() noexcept {
    if (preference_ != nullptr) library_->preference_destroy(preference_);
    for (MatrixLayout layout : {a, b, c, d})
        if (layout != nullptr) library_->matrix_layout_destroy(layout);
    if (operation != nullptr) library_->matmul_desc_destroy(operation);
}

std::vector<HeuristicResult> Descriptors::algorithms(const ColumnMajorProblem& problem, std::uint32_t reduction,
                                                     std::string& reason) const {
    prefer(PreferenceAttribute::max_workspace_bytes, static_cast<std::uint64_t>(kWorkspaceBytes));
    prefer(PreferenceAttribute::reduction_scheme_mask, reduction);
    prefer(PreferenceAttribute::min_alignment_a, problem.a.alignment);
    prefer(PreferenceAttribute::min_alignment_b, problem.b.alignment);
    prefer(PreferenceAttribute::min_alignment_c, problem.c.alignment);
    prefer(PreferenceAttribute::min_alignment_d, problem.d.alignment);
    std::vector<HeuristicResult> results(kMostAlgorithms);
    int returned = 0;
    const Status status = library_->get_heuristic(library_->handle, operation, a, b, c, d, preference_, kMostAlgorithms,
                                                  results.data(), &returned);
    results.resize(status == kSuccess ? static_cast<std::size_t>(returned) : 0);
    std::erase_if(results, [](const HeuristicResult& result) { return result.state != kSuccess; });
    if (results.empty()) {
        reason = fmt::format("cuBLASLt has no algorithm for it: {}",
                             status == kSuccess ? std::string("none was returned") : library_->describe(status));
    }
    return results;
}

// ---- peer -----------------------------------------------------------------------------------------------------------

/// A launch in cuBLASLt's words, but for the order of A and B.
struct Call {
    DevicePointer a, b, c, d, bias;
    float alpha = 1;
    float beta = 0;
    DevicePointer scale_a = {}, scale_b = {};
};

/// All that launches of one problem share.
struct Plan {
    std::shared_ptr<const CublasLt> library;
    std::shared_ptr<Device> device;
    std::shared_ptr<const DeviceMemory> workspace;
    std::optional<CublasLtEpilogue> form;  ///< of a text that cuBLASLt computes
    ColumnMajorProblem problem;
    Descriptors descriptors;
    std::shared_ptr<PeerScales> row_scales, column_scales;  ///< null where cuBLASLt reads the text's own

    /// Copies scales of blocks of K.
    void prepare(const GemmArguments& arguments) const;
    void launch(const Algorithm& algorithm, const GemmArguments& arguments, Stream stream) const;
    [[nodiscard]] Call call_of(const GemmArguments& arguments) const;
    void check_alignment(const Call& call) const;
};

// An algorithm chosen for aligned operands would fault on others, and a fault takes the whole CUDA context with it.
void Plan::check_alignment(const Call& call) const {
    if (is_aligned(call.a, problem.a.alignment) && is_aligned(call.b, problem.b.alignment) &&
        is_aligned(call.c, problem.c.alignment) && is_aligned(call.d, problem.d.alignment)) {
        return;
    }
    throw Error(fmt::format("cuBLASLt was asked for operands aligned to {}, {}, {} and {} bytes", problem.a.alignment,
                            problem.b.alignment, problem.c.alignment, problem.d.alignment));
}

void Plan::prepare(const GemmArguments& arguments) const {
    if (row_scales) row_scales->prepare(arguments.operands.find(form->row_scale)->pointer);
    if (column_scales) column_scales->prepare(arguments.operands.find(form->column_scale)->pointer);
}

Call Plan::call_of(const GemmArguments& arguments) const {
    Call call{arguments.a, arguments.b, arguments.d, arguments.d, {}, arguments.alpha, 0.0F};
    if (problem.swapped) std::swap(call.a, call.b);
    const auto operand = [&](const std::string& name) { return arguments.operands.find(name)->pointer; };
    if (form) {
        call.alpha = form->alpha.value(arguments);
        if (!form->c.empty()) call.c = operand(form->c);
        if (!form->c.empty()) call.beta = form->beta.value(arguments);
        if (!form->bias.empty()) call.bias = operand(form->bias);
        if (problem.has_scales()) {
            call.scale_a = operand(form->row_scale);
            call.scale_b = operand(form->column_scale);
            if (row_scales) call.scale_a = row_scales->copy_of(call.scale_a);
            if (column_scales) call.scale_b = column_scales->copy_of(call.scale_b);
            if (problem.swapped) std::swap(call.scale_a, call.scale_b);
        }
        return call;
    }
    if (problem.reads_c) call.c = arguments.c;
    if (problem.reads_c) call.beta = arguments.beta;
    if (!problem.bias) return call;
    if (arguments.beta != 1.0F)
        throw Error(fmt::format("cuBLASLt adds a C of one row as a bias, so beta must be 1, not {}", arguments.beta));
    call.bias = arguments.c;
    return call;
}

void Plan::launch(const Algorithm& algorithm, const GemmArguments& arguments, Stream stream) const {
    const ScopedContext current(cuda_context(*device));
    const Call call = call_of(arguments);
    check_alignment(call);
    if (problem.bias) descriptors.set_bias(call.bias);
    if (problem.has_scales()) descriptors.set_scales(call.scale_a, call.scale_b);
    const auto alpha = scale_value(problem.scale, call.alpha);
    const auto beta = scale_value(problem.scale, call.beta);
    library->check(
        library->matmul(library->handle, descriptors.operation, alpha.data(), device_address(call.a), descriptors.a,
                        device_address(call.b), descriptors.b, beta.data(), device_address(call.c), descriptors.c,
                        device_address(call.d), descriptors.d, &algorithm, device_address(workspace->data()),
                        static_cast<std::size_t>(kWorkspaceBytes), stream),
        "cublasLtMatmul");
}

/// A product without a text, and where its sums go.
struct PlainProduct {
    GemmSpec spec;
    std::shared_ptr<const DeviceMemory> sums;  ///< null: to D
};

PlainProduct plain_product(const std::shared_ptr<Device>& device, const GemmSpec& with_text, const PassProblem& pass) {
    PlainProduct product{with_text, nullptr};
    product.spec.epilogue = {};
    if (!pass.has_own_sums()) return product;
    product.spec.d = pass.sums_type;
    product.spec.ldd = product.spec.align_d = 0;
    product.spec = resolved(product.spec);
    product.sums = std::make_shared<const DeviceMemory>(device, form_of(product.spec, "d", true).extent_bytes());
    return product;
}

class CublasLtPeer final : public Peer {
public:
    explicit CublasLtPeer(ContextState& context)
        : context_(context),
          device_(context.device),
          library_(open_library(context)),
          workspace_(std::make_shared<const DeviceMemory>(device_, kWorkspaceBytes)) {}

    [[nodiscard]] std::string name() const override { return "cublaslt"; }

private:
    [[nodiscard]] bool takes_row_of_c() const override { return true; }
    [[nodiscard]] bool takes_epilogue() const override { return true; }
    [[nodiscard]] bool takes_sums() const override { return true; }
    [[nodiscard]] bool takes_batch() const override { return true; }
    [[nodiscard]] std::vector<BenchCandidate> candidates_of_one(const GemmSpec& spec, std::string& reason) override;
    /// The algorithms for a problem without a text, or for a text that cuBLASLt computes.
    [[nodiscard]] std::vector<BenchCandidate> algorithms(const GemmSpec& spec,
                                                         const std::optional<CublasLtEpilogue>& form,
                                                         std::string& reason) const;
    [[nodiscard]] std::vector<BenchCandidate> fused(const GemmSpec& spec, std::string& reason) const;
    [[nodiscard]] std::vector<BenchCandidate> with_pass(const GemmSpec& spec, std::string& reason) const;
    /// Null if the text has no scales of blocks of A, or of B.
    [[nodiscard]] std::shared_ptr<PeerScales> block_scales(const GemmSpec& spec, bool of_a) const {
        const OperandList operands = gemm_operands(spec);
        const GemmOperand* const scale = find_block_scale(operands, of_a);
        return scale == nullptr ? nullptr : std::make_shared<PeerScales>(context_, scale_layout(*scale));
    }
    static std::shared_ptr<const CublasLt> open_library(ContextState& context) {
        return CublasLt::open(cublaslt_search_list(context.options, context.device->newest_cuda_major()),
                              [device = context.device](const std::function<void()>& step) {
                                  const ScopedContext current(cuda_context(*device));
                                  step();
                              });
    }

    ContextState& context_;
    std::shared_ptr<Device> device_;
    std::shared_ptr<const CublasLt> library_;
    std::shared_ptr<const DeviceMemory> workspace_;
};

/// Partial sums of split problems are kept in the accumulator's type, as was asked for; a D as wide as it loses nothing
/// either.
std::uint32_t reduction_schemes(const GemmSpec& spec) {
    return bytes(spec.d) < bytes(spec.accumulator) ? kReduceInComputeType : kReduceAnyHow;
}

std::vector<BenchCandidate> CublasLtPeer::candidates_of_one(const GemmSpec& spec, std::string& reason) {
    if (is_empty(spec) || spec.k == 0) {
        reason = "cuBLASLt takes no matrices without elements";
        return {};
    }
    if (is_nested(spec)) {
        reason = "cuBLASLt has one stride between the problems of a batch, and this one has two (batch-inner)";
        return {};
    }
    const ScopedContext current(cuda_context(*device_));
    if (spec.epilogue.empty()) return algorithms(spec, std::nullopt, reason);
    if (is_batched(spec)) {
        reason = "cuBLASLt is not asked for the text of a batch: it has no pass over one";
        return {};
    }
    std::vector<BenchCandidate> candidates = fused(spec, reason);
    if (has_block_scales(*parts_of(spec))) return candidates;  // a pass would come too late
    std::ranges::move(with_pass(spec, reason), std::back_inserter(candidates));
    if (!candidates.empty()) reason.clear();
    return candidates;
}

std::vector<BenchCandidate> CublasLtPeer::algorithms(const GemmSpec& spec, const std::optional<CublasLtEpilogue>& form,
                                                     std::string& reason) const {
    std::shared_ptr<const Plan> plan;
    std::vector<HeuristicResult> results;
    try {
        const ColumnMajorProblem problem = column_major_problem(spec, form);
        // Descriptors cannot be moved, so no make_shared.
        plan.reset(  // NOLINT(modernize-make-shared)
            new Plan{library_, device_, workspace_, form, problem, Descriptors(library_, problem),
                     block_scales(spec, true), block_scales(spec, false)});
        // Some memory, until a launch says which.
        if (problem.bias) plan->descriptors.set_bias(workspace_->data());
        if (problem.has_scales()) plan->descriptors.set_scales(workspace_->data(), workspace_->data());
        results = plan->descriptors.algorithms(problem, reduction_schemes(spec), reason);
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        reason = error.what();
    }
    std::vector<BenchCandidate> candidates;
    for (const HeuristicResult& result : results) {
        candidates.push_back({fmt::format("cublaslt#{}", candidates.size()),
                              [plan, algorithm = result.algorithm](const GemmArguments& arguments, Stream stream) {
                                  plan->launch(algorithm, arguments, stream);
                              }});
        if (plan->row_scales)
            candidates.back().prepare = [plan](const GemmArguments& arguments) { plan->prepare(arguments); };
    }
    return candidates;
}

/// The text in cuBLASLt's own kernel.
std::vector<BenchCandidate> CublasLtPeer::fused(const GemmSpec& spec, std::string& reason) const {
    const Epilogue meaning = *meaning_of(spec.epilogue, spec.d);
    const std::optional<CublasLtEpilogue> form = cublaslt_epilogue(meaning, spec.d_order);
    reason = unserved_block_scales(spec);
    if (!reason.empty()) return {};
    if (!form && has_block_scales(meaning.parts()))
        reason = "cuBLASLt serves no scales of blocks of K with this epilogue";
    if (!form || (!form->row_scale.empty() && !is_float8(spec.a))) return {};
    std::vector<BenchCandidate> candidates = algorithms(spec, form, reason);
    for (BenchCandidate& candidate : candidates) {
        candidate.way = "epilogue " + form->name();
        candidate.name += " " + candidate.way;
        candidate.judged_by = text_of(with_fast_gelu(meaning), spec.epilogue);
    }
    return candidates;
}

/// The plain product, and a pass behind it.
std::vector<BenchCandidate> CublasLtPeer::with_pass(const GemmSpec& spec, std::string& reason) const {
    const PassProblem problem = pass_problem(spec);
    std::shared_ptr<const EpiloguePass> pass;
    try {
        pass = std::make_shared<const EpiloguePass>(context_, problem);
    } catch (const CudaError&) {
        throw;
    } catch (const Error& error) {
        reason = error.what();
        return {};
    }
    const PlainProduct product = plain_product(device_, spec, problem);
    std::vector<BenchCandidate> candidates = algorithms(product.spec, std::nullopt, reason);
    for (BenchCandidate& candidate : candidates) {
        candidate.way = kPassWay;
        candidate.name += fmt::format(" + {}", kPassWay);
        if (problem.sums_type != DataType::f32 && problem.sums_type != DataType::s32)
            candidate.judged_by = text_of(with_rounded_sums(problem.epilogue, spec.d), spec.epilogue);
        candidate.launch = [multiply = candidate.launch, pass, memory = product.sums](const GemmArguments& arguments,
                                                                                      Stream stream) {
            const DevicePointer sums = memory == nullptr ? arguments.d : memory->data();
            multiply({.a = arguments.a, .b = arguments.b, .d = sums}, stream);
            pass->launch(sums, arguments, stream);
        };
    }
    return candidates;
}

}  // namespace

ColumnMajorProblem column_major_problem(const GemmSpec& spec, const std::optional<CublasLtEpilogue>& form) {
    ColumnMajorProblem problem;
    problem.swapped = spec.d_order == Order::row;
    const OperandList operands = gemm_operands(spec);
    const auto operand = [&](std::string_view name) {
        return stored(form_of(*operands.find(name), true), problem.swapped);
    };
    const std::string c = form ? form->c : spec.c && !spec.broadcast_c ? "c" : "";
    const std::string bias = form ? form->bias : spec.broadcast_c ? "c" : "";
    problem.a = operand(problem.swapped ? "b" : "a");
    problem.b = operand(problem.swapped ? "a" : "b");
    problem.d = operand("d");
    problem.c = operand(c.empty() ? "d" : c);
    problem.reads_c = !c.empty();
    if (!bias.empty()) problem.bias = cuda_type(operands.find(bias)->type);
    problem.epilogue = form ? form->code() : bias.empty() ? cublaslt::EpilogueCode::none : cublaslt::EpilogueCode::bias;
    problem.compute = compute_type(spec);
    if (form && !form->row_scale.empty()) {
        const auto mode = [&](const std::string& name) {
            return form->scales_blocks ? scale_mode(*operands.find(name)) : ScaleMode::vector;
        };
        problem.scale_a = mode(problem.swapped ? form->column_scale : form->row_scale);
        problem.scale_b = mode(problem.swapped ? form->row_scale : form->column_scale);
    }
    problem.adds_fast = is_float8(spec.a) && !has_promoted_sums(spec);
    problem.scale = scale_type(spec);
    problem.batch = spec.batch;
    return problem;
}

std::array<std::uint32_t, 1> scale_value(CudaType scale, float value) {
    if (scale == CudaType::r_16f) return {f16_from_f32(value)};  // read as its first two bytes, little endian
    if (scale == CudaType::r_32i) {
        if (value != std::nearbyint(value))
            throw Error(fmt::format("cuBLASLt scales integers by integers, not by {}", value));
        return {static_cast<std::uint32_t>(static_cast<std::int32_t>(value))};
    }
    return {std::bit_cast<std::uint32_t>(value)};
}

std::unique_ptr<Peer> open_cublaslt(ContextState& context) { return std::make_unique<CublasLtPeer>(context); }

}  // namespace jitgemm
