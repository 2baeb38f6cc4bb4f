#pragma once

#include <cstddef>
#include <cstdint>

/// \file DLPack 1.3's binary interface, as far as it is used here: a tensor as it lies in memory, and the table of
/// functions by which a library hands its own tensors out in C (`__dlpack_c_exchange_api__` of their type).
namespace jitgemm::python::dlpack {

enum DeviceType : std::int32_t { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3, kDLCUDAManaged = 13 };
enum TypeCode : std::uint8_t { kDLInt = 0, kDLFloat = 2, kDLBfloat = 4, kDLFloat8E4m3fn = 10, kDLFloat8E5m2 = 12 };

struct DataType {
    std::uint8_t code;
    std::uint8_t bits;
    std::uint16_t lanes;
};

struct Device {
    std::int32_t type;
    std::int32_t id;
};

struct Tensor {
    void* data;
    Device device;
    std::int32_t ndim;
    DataType dtype;
    std::int64_t* shape;
    std::int64_t* strides;  ///< in elements; null: row-major and packed
    std::uint64_t byte_offset;
};

struct Version {
    std::uint32_t major;
    std::uint32_t minor;
};
inline constexpr std::uint32_t kMajor = 1;

inline constexpr const char* kCapsule = "dltensor";
/// In a capsule of that name.
struct ManagedTensor {
    Tensor tensor;
    void* owner;
    void (*deleter)(ManagedTensor*);
};

/// In a capsule named "dltensor_versioned".
struct ManagedTensorVersioned {
    Version version;
    void* owner;
    void (*deleter)(ManagedTensorVersioned*);
    std::uint64_t flags;
    Tensor tensor;
};
inline constexpr std::uint64_t kReadOnly = 1;

using SetError = void(void* context, const char* kind, const char* message);

/// Functions answer 0, or another number with a Python exception set (`allocate`: told to `set_error`). None waits for
/// a stream.
struct ExchangeApi {
    Version version;
    ExchangeApi* previous;  ///< the same of an older major version
    int (*allocate)(Tensor* prototype, ManagedTensorVersioned** out, void* error_context, SetError* set_error);
    int (*managed_from_object)(void* object, ManagedTensorVersioned** out);
    int (*object_from_managed)(ManagedTensorVersioned* tensor, void** object);  ///< takes over the tensor
    int (*borrow)(void* object, Tensor* out);  ///< valid as long as the object lives; may be null
    int (*current_stream)(std::int32_t device_type, std::int32_t device, void** stream);
};
inline constexpr const char* kExchangeAttribute = "__dlpack_c_exchange_api__";
inline constexpr const char* kExchangeCapsule = "dlpack_exchange_api";

static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, byte_offset) == 40);
static_assert(offsetof(ManagedTensorVersioned, tensor) == 32 && offsetof(ExchangeApi, allocate) == 16);

}  // namespace jitgemm::python::dlpack
