#include "runtime/cuda/cuda_device.hpp"

#include "jitgemm/error.hpp"
#include "runtime/cuda/cuda_gpu_model.hpp"
#include "runtime/cuda/cuda_module.hpp"
#include "runtime/cuda/cuda_timing.hpp"
#include "runtime/support/log.hpp"
#include "runtime/support/visible_gpus.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <exception>
#include <optional>
#include <utility>

namespace jitgemm {
namespace {

CUdeviceptr address(DevicePointer pointer) { return static_cast<CUdeviceptr>(pointer.address); }
CUfunction handle(const Function& function) { return static_cast<CUfunction>(function.handle); }
CUstream handle(Stream stream) { return static_cast<CUstream>(stream); }

bool is_plain(const LaunchShape& shape) { return cluster_blocks(shape.cluster) == 1 && !shape.programmatic; }

CUlaunchAttribute cluster_attribute(const std::array<int, 3>& cluster) {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = static_cast<unsigned>(cluster[0]);
    attribute.value.clusterDim.y = static_cast<unsigned>(cluster[1]);
    attribute.value.clusterDim.z = static_cast<unsigned>(cluster[2]);
    return attribute;
}

CUlaunchAttribute programmatic_attribute() {
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    return attribute;
}

CUlaunchConfig launch_config(const LaunchShape& shape, std::array<CUlaunchAttribute, 2>& attributes) {
    unsigned count = 0;
    if (cluster_blocks(shape.cluster) > 1) attributes.at(count++) = cluster_attribute(shape.cluster);
    if (shape.programmatic) attributes.at(count++) = programmatic_attribute();
    CUlaunchConfig config{};
    config.gridDimX = static_cast<unsigned>(shape.blocks);
    config.gridDimY = static_cast<unsigned>(shape.problems.y);
    config.gridDimZ = static_cast<unsigned>(shape.problems.z);
    config.blockDimX = static_cast<unsigned>(shape.threads);
    config.blockDimY = config.blockDimZ = 1;
    config.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
    config.attrs = attributes.data();
    config.numAttrs = count;
    return config;
}

CUresult enqueue_with_attributes(const DriverApi& api, const Function& function, const LaunchShape& shape,
                                 void** parameters, CUstream stream) {
    std::array<CUlaunchAttribute, 2> attributes;
    CUlaunchConfig config = launch_config(shape, attributes);
    config.hStream = stream;
    return api.cuLaunchKernelEx(&config, handle(function), parameters, nullptr);
}

CUtensorMapDataType tensor_map_type(DataType type) {
    switch (type) {
        case DataType::f16: return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
        case DataType::bf16: return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
        case DataType::f32: return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
        case DataType::tf32: return CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
        case DataType::s32: return CU_TENSOR_MAP_DATA_TYPE_INT32;
        default: return CU_TENSOR_MAP_DATA_TYPE_UINT8;  // it has no types of 8 bits but this
    }
}

[[noreturn]] void throw_launch_error(CUresult result, const LaunchShape& shape) {
    throw_cuda_error(result, is_plain(shape) ? "cuLaunchKernel" : "cuLaunchKernelEx",
                     fmt::format("{} blocks of {} threads, {} bytes of shared memory", shape.blocks, shape.threads,
                                 shape.shared_bytes));
}

/// The driver copies no rows that are farther apart (CU_DEVICE_ATTRIBUTE_MAX_PITCH).
constexpr std::size_t kMaxPitch = 0x7fffffff;

CUDA_MEMCPY2D copy_of(const MemoryRows& rows) {
    CUDA_MEMCPY2D copy{};
    copy.srcPitch = copy.dstPitch = rows.pitch;
    copy.WidthInBytes = rows.bytes;
    copy.Height = rows.count;
    return copy;
}

struct CaptureState {
    bool active = false;
    std::uint64_t id = 0;
    CUgraph graph = nullptr;
};

// A stream the driver refuses to answer for (the default stream while another is captured) is not one that records.
CaptureState capture_state(const DriverApi& api, CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (api.cuStreamIsCapturing(stream, &status) != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return {};
    if (api.cuStreamGetCaptureInfo == nullptr) {
        throw_cuda_error(CUDA_ERROR_NOT_SUPPORTED, "cuStreamGetCaptureInfo",
                         "this driver cannot tell captures apart: pass a workspace to launches that are captured");
    }
    CaptureState state{true, 0, nullptr};
    cuuint64_t id = 0;
#if CUDA_VERSION >= 13000
    JITGEMM_CHECK(api.cuStreamGetCaptureInfo(stream, &status, &id, &state.graph, nullptr, nullptr, nullptr));
#else
    JITGEMM_CHECK(api.cuStreamGetCaptureInfo(stream, &status, &id, &state.graph, nullptr, nullptr));
#endif
    state.id = id;
    return state;
}

void CUDA_CB release_kept(void* kept) { delete static_cast<std::shared_ptr<const void>*>(kept); }

std::shared_ptr<const CudaContext> primary_context(int ordinal) {
    int count = 0;
    JITGEMM_CHECK(driver().cuDeviceGetCount(&count));
    if (ordinal >= count) {
        const std::optional<std::string> visible = visible_gpus_from_environment();
        throw CudaError(fmt::format("no device cuda:{}: the driver sees {}{}", ordinal, count,
                                    visible ? fmt::format(", as CUDA_VISIBLE_DEVICES is '{}'", *visible) : ""),
                        "CUDA_ERROR_INVALID_DEVICE", "cuDeviceGet");
    }
    CUdevice device = 0;
    JITGEMM_CHECK(driver().cuDeviceGet(&device, ordinal));
    return CudaContext::primary(device);
}

}  // namespace

CudaDevice::CudaDevice(std::shared_ptr<const CudaContext> context)
    : api_(driver()), context_(std::move(context)), model_(read_gpu_model(context_->device())) {}

std::size_t CudaDevice::total_memory() const {
    std::size_t bytes = 0;
    JITGEMM_CHECK(api_.cuDeviceTotalMem(&bytes, context_->device()));
    return bytes;
}

std::size_t CudaDevice::free_memory() {
    const ScopedContext current(*context_);
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    JITGEMM_CHECK(api_.cuMemGetInfo(&free_bytes, &total_bytes));
    return free_bytes;
}

void CudaDevice::throw_out_of_memory(std::size_t bytes) {
    throw_cuda_error(CUDA_ERROR_OUT_OF_MEMORY, "cuMemAlloc",
                     fmt::format("{} bytes asked, {} of {} free on {}", bytes, free_memory(), total_memory(), name()));
}

DevicePointer CudaDevice::allocate(std::size_t bytes) {
    if (bytes == 0) return nullptr;
    const ScopedContext current(*context_);
    const ScopedRelaxedCapture relaxed;
    CUdeviceptr pointer = 0;
    const CUresult result = api_.cuMemAlloc(&pointer, bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) throw_out_of_memory(bytes);
    check(result, "cuMemAlloc");
    return static_cast<std::uint64_t>(pointer);
}

// On a stream of its own: one that the caller records may be the default stream, or make it wait.
DevicePointer CudaDevice::allocate_zeroed(std::size_t bytes) {
    const DevicePointer pointer = allocate(bytes);
    if (!pointer) return pointer;
    try {
        const ScopedContext current(*context_);
        const ScopedRelaxedCapture relaxed;
        const CudaStream stream;
        JITGEMM_CHECK(api_.cuMemsetD8Async(address(pointer), 0, bytes, stream.handle()));
        stream.synchronize();
    } catch (...) {
        free(pointer);
        throw;
    }
    return pointer;
}

void CudaDevice::free(DevicePointer pointer) noexcept {
    if (!pointer) return;
    try {
        const ScopedContext current(*context_);
        const ScopedRelaxedCapture relaxed;
        log_unless_success(api_.cuMemFree(address(pointer)), "cuMemFree");
    } catch (const std::exception& error) {
        log().debug("device memory not freed: {}", error.what());  // its context is gone, and the memory with it
    }
}

// cuMemcpyHtoD from pageable memory may return before the last bytes are on the device, and only the default stream
// would wait.
void CudaDevice::copy_to_device(DevicePointer destination, const void* source, std::size_t bytes) {
    if (bytes == 0) return;
    const ScopedContext current(*context_);
    JITGEMM_CHECK(api_.cuMemcpyHtoD(address(destination), source, bytes));
    JITGEMM_CHECK(api_.cuStreamSynchronize(nullptr));
}

void CudaDevice::copy_to_host(void* destination, DevicePointer source, std::size_t bytes) {
    if (bytes == 0) return;
    const ScopedContext current(*context_);
    JITGEMM_CHECK(api_.cuMemcpyDtoH(destination, address(source), bytes));
}

void CudaDevice::copy_rows_to_device(DevicePointer destination, const void* source, const MemoryRows& rows) {
    if (rows.are_one_run() || rows.pitch > kMaxPitch) return Device::copy_rows_to_device(destination, source, rows);
    CUDA_MEMCPY2D copy = copy_of(rows);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = source;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = address(destination);
    const ScopedContext current(*context_);
    JITGEMM_CHECK(api_.cuMemcpy2D(&copy));
    JITGEMM_CHECK(api_.cuStreamSynchronize(nullptr));
}

void CudaDevice::copy_rows_to_host(void* destination, DevicePointer source, const MemoryRows& rows) {
    if (rows.are_one_run() || rows.pitch > kMaxPitch) return Device::copy_rows_to_host(destination, source, rows);
    CUDA_MEMCPY2D copy = copy_of(rows);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = address(source);
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = destination;
    const ScopedContext current(*context_);
    JITGEMM_CHECK(api_.cuMemcpy2D(&copy));
}

void CudaDevice::fill_bytes(DevicePointer destination, std::uint8_t value, std::size_t bytes) {
    if (bytes == 0) return;
    const ScopedContext current(*context_);
    JITGEMM_CHECK(api_.cuMemsetD8(address(destination), value, bytes));
    JITGEMM_CHECK(api_.cuStreamSynchronize(nullptr));
}

Function CudaDevice::load(std::string_view binary, const KernelEntry& entry) {
    const ScopedContext current(*context_);
    const ScopedRelaxedCapture relaxed;
    auto module = std::make_shared<CudaModule>(context_, binary);
    CUfunction function = module->prepare(binary, entry, *model().arch);
    return {function, std::move(module)};
}

int CudaDevice::blocks_per_sm(const Function& function, const LaunchShape& shape) {
    const ScopedContext current(*context_);
    int blocks = 0;
    JITGEMM_CHECK(api_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, handle(function), shape.threads,
                                                                   static_cast<std::size_t>(shape.shared_bytes)));
    return blocks;
}

int CudaDevice::resident_clusters(const Function& function, const LaunchShape& shape) {
    const ScopedContext current(*context_);
    std::array<CUlaunchAttribute, 2> attributes;
    CUlaunchConfig config = launch_config(shape, attributes);
    config.gridDimX = static_cast<unsigned>(cluster_blocks(shape.cluster));
    int clusters = 0;
    JITGEMM_CHECK(api_.cuOccupancyMaxActiveClusters(&clusters, handle(function), &config));
    return clusters;
}

EncodedTensorMap CudaDevice::encode_tensor_map(const TiledTensorMap& map) {
    const ScopedContext current(*context_);
    CUtensorMap encoded;
    static_assert(sizeof encoded == sizeof(EncodedTensorMap));
    constexpr std::array<cuuint32_t, kMaxTensorRank> kUnitSteps{1, 1, 1, 1, 1};
    // The enumerators of both swizzles and promotions are in one order (cuda.h, CUtensorMapSwizzle,
    // CUtensorMapL2promotion).
    JITGEMM_CHECK(api_.cuTensorMapEncodeTiled(
        &encoded, tensor_map_type(map.type), static_cast<cuuint32_t>(map.rank), reinterpret_cast<void*>(map.address),
        map.extents.data(), map.pitches.data(), map.box.data(), kUnitSteps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
        static_cast<CUtensorMapSwizzle>(map.swizzle), static_cast<CUtensorMapL2promotion>(map.promotion),
        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
    return std::bit_cast<EncodedTensorMap>(encoded);
}

void CudaDevice::zero(DevicePointer destination, std::size_t bytes, Stream stream) {
    const ScopedContext current(*context_);
    JITGEMM_CHECK(api_.cuMemsetD8Async(address(destination), 0, bytes, handle(stream)));
}

CUresult CudaDevice::enqueue(const Function& function, const LaunchShape& shape, void** parameters,
                             CUstream stream) const {
    if (!is_plain(shape)) return enqueue_with_attributes(api_, function, shape, parameters, stream);
    return api_.cuLaunchKernel(handle(function), static_cast<unsigned>(shape.blocks),
                               static_cast<unsigned>(shape.problems.y), static_cast<unsigned>(shape.problems.z),
                               static_cast<unsigned>(shape.threads), 1, 1, static_cast<unsigned>(shape.shared_bytes),
                               stream, parameters, nullptr);
}

// The one driver call of a launch. Asking for the thread's context first would be a second one, so the answer tells.
void CudaDevice::launch(const Function& function, const LaunchShape& shape, std::span<const std::byte> arguments,
                        Stream stream) {
    void* parameters[] = {const_cast<std::byte*>(arguments.data())};
    // Asked first, not tried first: a refused launch is a failure in the eyes of every tool that watches the driver's
    // calls.
    CUcontext current = nullptr;
    JITGEMM_CHECK(api_.cuCtxGetCurrent(&current));
    CUresult result = CUDA_SUCCESS;
    if (current == context_->handle()) [[likely]] {
        result = enqueue(function, shape, parameters, handle(stream));
    } else {
        const ScopedContext ours(*context_);
        result = enqueue(function, shape, parameters, handle(stream));
    }
    if (result != CUDA_SUCCESS) throw_launch_error(result, shape);
}

void CudaDevice::synchronize(Stream stream) {
    const ScopedContext current(*context_);
    JITGEMM_CHECK(api_.cuStreamSynchronize(handle(stream)));
}

StreamIdentity CudaDevice::identify(Stream stream) {
    const ScopedContext current(*context_);
    const CaptureState capture = capture_state(api_, handle(stream));
    // A stream being captured refuses cuStreamGetId; within one capture its handle is as good.
    if (capture.active) return {reinterpret_cast<std::uintptr_t>(stream), capture.id + 1};
    unsigned long long id = 0;
    JITGEMM_CHECK(api_.cuStreamGetId(handle(stream), &id));
    return {id, 0};
}

void CudaDevice::keep_with_capture(Stream stream, std::shared_ptr<const void> object) {
    const ScopedContext current(*context_);
    const CaptureState capture = capture_state(api_, handle(stream));
    if (!capture.active) return;
    auto kept = std::make_unique<std::shared_ptr<const void>>(std::move(object));
    CUuserObject user_object = nullptr;
    JITGEMM_CHECK(
        api_.cuUserObjectCreate(&user_object, kept.get(), release_kept, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    static_cast<void>(kept.release());  // the user object's from here on
    const CUresult result = api_.cuGraphRetainUserObject(capture.graph, user_object, 1, CU_GRAPH_USER_OBJECT_MOVE);
    if (result == CUDA_SUCCESS) return;
    log_unless_success(api_.cuUserObjectRelease(user_object, 1), "cuUserObjectRelease");
    check(result, "cuGraphRetainUserObject");
}

std::shared_ptr<Device> open_cuda_device(std::optional<int> ordinal) {
    std::shared_ptr<const CudaContext> context = ordinal ? nullptr : CudaContext::current();
    if (context == nullptr) context = primary_context(ordinal.value_or(0));
    return std::make_shared<CudaDevice>(std::move(context));
}

}  // namespace jitgemm
