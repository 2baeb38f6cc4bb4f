#include "runtime/cli/npy.hpp"

#include "generator/base/operand.hpp"
#include "jitgemm/error.hpp"
#include "runtime/support/element_codec.hpp"
#include "runtime/support/file_descriptor.hpp"
#include "runtime/support/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstring>
#include <system_error>
#include <utility>

namespace jitgemm {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;  // of the data, as numpy writes it
constexpr std::size_t kMostHeaderBytes = 1 << 20;

// ---- header ---------------------------------------------------------------------------------------------------------

/// Reads the Python dictionary literal of a header, {'descr': '<f2', 'fortran_order': False, 'shape': (3, 4), }, keys
/// in any order.
class HeaderReader {
public:
    explicit HeaderReader(std::string_view text) : rest_(text) {}

    NpyHeader read() {
        NpyHeader header;
        Seen seen{};
        expect('{');
        while (!accept('}')) {
            read_item(header, seen);
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        if (!seen[0] || !seen[1] || !seen[2]) fail("'descr', 'fortran_order' or 'shape' is missing");
        return header;
    }

private:
    static constexpr std::array<std::string_view, 3> kKeys{"descr", "fortran_order", "shape"};
    using Seen = std::array<bool, kKeys.size()>;

    [[noreturn]] static void fail(const std::string& what) { throw Error("malformed .npy header: " + what); }

    void skip_spaces() {
        while (!rest_.empty() && std::isspace(static_cast<unsigned char>(rest_.front())) != 0) rest_.remove_prefix(1);
    }

    bool accept(char wanted) {
        skip_spaces();
        if (rest_.empty() || rest_.front() != wanted) return false;
        rest_.remove_prefix(1);
        return true;
    }

    void expect(char wanted) {
        if (!accept(wanted)) fail(fmt::format("expected '{}' before '{}'", wanted, rest_.substr(0, 20)));
    }

    bool accept_word(std::string_view word) {
        skip_spaces();
        if (!rest_.starts_with(word)) return false;
        rest_.remove_prefix(word.size());
        return true;
    }

    std::string read_string() {
        skip_spaces();
        if (rest_.empty() || (rest_.front() != '\'' && rest_.front() != '"'))
            fail(fmt::format("expected a quoted string before '{}' (structured types are not read)",
                             rest_.substr(0, 20)));
        const std::size_t end = rest_.find(rest_.front(), 1);
        if (end == std::string_view::npos) fail("a string does not end");
        const std::string text(rest_.substr(1, end - 1));
        rest_.remove_prefix(end + 1);
        return text;
    }

    bool read_bool() {
        if (accept_word("True")) return true;
        if (accept_word("False")) return false;
        fail(fmt::format("expected True or False before '{}'", rest_.substr(0, 20)));
    }

    std::int64_t read_integer() {
        skip_spaces();
        std::int64_t value = 0;
        const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
        if (error != std::errc() || value < 0) fail(fmt::format("expected an extent before '{}'", rest_.substr(0, 20)));
        rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
        (void)accept('L');  // Python 2 wrote long integers so
        return value;
    }

    std::vector<std::int64_t> read_shape() {
        std::vector<std::int64_t> shape;
        expect('(');
        while (!accept(')')) {
            shape.push_back(read_integer());
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return shape;
    }

    void read_item(NpyHeader& header, Seen& seen) {
        const std::string key = read_string();
        const auto place = std::ranges::find(kKeys, key);
        if (place == kKeys.end()) fail(fmt::format("unknown key '{}'", key));
        const auto index = static_cast<std::size_t>(place - kKeys.begin());
        if (std::exchange(seen[index], true)) fail(fmt::format("'{}' stands twice", key));
        expect(':');
        switch (index) {
            case 0: header.type = read_string(); break;
            case 1: header.fortran_order = read_bool(); break;
            default: header.shape = read_shape(); break;
        }
    }

    std::string_view rest_;
};

std::size_t little_endian(std::string_view digits) {
    std::size_t value = 0;
    for (std::size_t i = digits.size(); i-- > 0;) value = value << 8U | static_cast<unsigned char>(digits[i]);
    return value;
}

DataType element_type(const NpyHeader& header, std::optional<DataType> type) {
    if (header.type == "<f2" || header.type == "=f2") return DataType::f16;
    if (header.type == "<f4" || header.type == "=f4") return DataType::f32;
    if (header.type == "|i1" || header.type == "<i1") return DataType::s8;
    if (header.type == "<i4" || header.type == "=i4") return DataType::s32;
    const bool opaque = header.type == "|V2" || header.type == "<V2" || header.type == "bfloat16";
    if (opaque && (type == DataType::bf16 || type == DataType::f16)) return *type;
    if (opaque)
        throw Error(fmt::format(
            "its elements are raw two-byte values ('{}'), as ml_dtypes writes bfloat16: name the type", header.type));
    // ml_dtypes has written its 8-bit floats in all of these ways.
    const bool is_byte = header.type == "|V1" || header.type == "<V1" || header.type == "<f1" || header.type == "|f1" ||
                         header.type == "|u1";
    if (is_byte && type && is_float8(*type)) return *type;
    if (is_byte)
        throw Error(
            fmt::format("its elements are bytes ('{}'), as ml_dtypes writes 8-bit floats: name the type, e4m3 or e5m2",
                        header.type));
    if (header.type == "<f8")
        throw Error("its elements are float64 ('<f8'), which no kernel multiplies: convert it with .astype('float32')");
    if (header.type.starts_with('>'))
        throw Error(fmt::format("its elements are big-endian ('{}'): convert it with .astype('{}')", header.type,
                                "<" + header.type.substr(1)));
    throw Error(
        fmt::format("its element type '{}' is not supported: float16 ('<f2'), float32 ('<f4'), bfloat16 ('|V2'), int8 "
                    "('|i1'), int32 ('<i4'), or bytes of e4m3 or e5m2 ('|V1', '|u1')",
                    header.type));
}

/// The bytes of all elements, or nothing if they do not fit.
std::optional<std::size_t> array_bytes(const std::vector<std::int64_t>& shape, int element_bytes) {
    std::int64_t total = element_bytes;
    for (const std::int64_t extent : shape)
        if (__builtin_mul_overflow(total, extent, &total)) return std::nullopt;
    return static_cast<std::size_t>(total);
}

/// A matrix, or a batch of them in C order.
void check_dimensions(const NpyHeader& header) {
    const std::size_t rank = header.shape.size();
    if (rank != 2 && rank != 3)
        throw Error(fmt::format("its shape is {}: a matrix must have two dimensions, a batch of matrices three",
                                npy_shape_text(header.shape)));
    if (rank == 3 && header.fortran_order)
        throw Error(
            "it is a batch in Fortran order, whose matrices have neither contiguous rows nor columns: convert "
            "it with np.ascontiguousarray");
}

// ---- mapping --------------------------------------------------------------------------------------------------------

struct Mapping {
    std::shared_ptr<const void> memory;
    std::string_view bytes;
};

Mapping map_file(const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) throw Error(fmt::format("cannot open: {}", std::strerror(errno)));
    struct stat status {};
    if (::fstat(file.number(), &status) != 0) throw Error(fmt::format("cannot read: {}", std::strerror(errno)));
    if (!S_ISREG(status.st_mode)) throw Error("not a regular file");
    const auto size = static_cast<std::size_t>(status.st_size);
    if (size == 0) throw Error("the file is empty");
    void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
    if (address == MAP_FAILED) throw Error(fmt::format("cannot map into memory: {}", std::strerror(errno)));
    return {
        std::shared_ptr<const void>(address, [size](const void* memory) { ::munmap(const_cast<void*>(memory), size); }),
        {static_cast<const char*>(address), size}};
}

/// numpy's descr of a type that it knows; "" for others.
std::string_view numpy_type(DataType type) {
    switch (type) {
        case DataType::f16: return "<f2";
        case DataType::f32: return "<f4";
        case DataType::s8: return "|i1";
        case DataType::s32: return "<i4";
        default: return {};
    }
}

std::string header_text(DataType type, const std::vector<std::int64_t>& shape, Order order) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", numpy_type(type),
                                   order == Order::column ? "True" : "False", npy_shape_text(shape));
    const std::size_t before = kMagic.size() + 4;  // version and a two-byte length
    text.append(kAlignment - (before + text.size() + 1) % kAlignment, ' ');
    text.push_back('\n');
    std::string header(kMagic);
    header += {'\x01', '\x00', static_cast<char>(text.size() & 0xffU), static_cast<char>(text.size() >> 8U)};
    return header + text;
}

}  // namespace

std::string npy_shape_text(const std::vector<std::int64_t>& shape) {
    return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

NpyHeader parse_npy_header(std::string_view file) {
    if (!file.starts_with(kMagic)) throw Error("not a .npy file: it does not begin with \\x93NUMPY");
    if (file.size() < kMagic.size() + 2) throw Error("truncated .npy header");
    const int version = static_cast<unsigned char>(file[kMagic.size()]);
    if (version < 1 || version > 3)
        throw Error(fmt::format(".npy format version {} is unknown: 1, 2 and 3 are read", version));
    const std::size_t length_at = kMagic.size() + 2;
    const std::size_t length_bytes = version == 1 ? 2 : 4;
    if (file.size() < length_at + length_bytes) throw Error("truncated .npy header");
    const std::size_t begin = length_at + length_bytes;
    const std::size_t length = little_endian(file.substr(length_at, length_bytes));
    if (length > kMostHeaderBytes)
        throw Error(fmt::format("malformed .npy header: it claims to be {} bytes long", length));
    if (file.size() - begin < length) throw Error("truncated .npy header");
    NpyHeader header = HeaderReader(file.substr(begin, length)).read();
    header.data_offset = begin + length;
    return header;
}

NpyMatrix NpyMatrix::open(const std::string& path, std::optional<DataType> type, NpyDimensions dimensions) {
    try {
        const Mapping mapping = map_file(path);
        NpyHeader header = parse_npy_header(mapping.bytes);
        NpyMatrix matrix;
        matrix.type_ = element_type(header, type);
        matrix.shape_ = header.shape;
        while (dimensions == NpyDimensions::up_to_three && header.shape.size() < 2)
            header.shape.insert(header.shape.begin(), 1);
        check_dimensions(header);
        matrix.path_ = path;
        matrix.mapping_ = mapping.memory;
        matrix.rows_ = header.shape[header.shape.size() - 2];
        matrix.columns_ = header.shape.back();
        matrix.order_ = header.fortran_order ? Order::column : Order::row;
        const std::optional<std::size_t> needed = array_bytes(header.shape, bytes(matrix.type_));
        const std::size_t present = mapping.bytes.size() - header.data_offset;
        if (!needed || *needed > present) {
            throw Error(fmt::format("truncated: shape {} of {} needs {} bytes of data, the file has {}",
                                    npy_shape_text(header.shape), to_string(matrix.type_),
                                    needed ? fmt::format("{}", *needed) : "more than 2^63", present));
        }
        matrix.bytes_ = *needed;
        matrix.data_ = reinterpret_cast<const std::byte*>(mapping.bytes.data()) + header.data_offset;
        return matrix;
    } catch (const Error& error) {
        throw Error(fmt::format("{}: {}", path, error.what()));
    }
}

NpyMatrix NpyMatrix::transposed() const {
    NpyMatrix matrix = *this;
    std::swap(matrix.rows_, matrix.columns_);
    matrix.order_ = flipped(order_);
    return matrix;
}

std::vector<std::byte> NpyMatrix::elements_as(DataType type) const {
    const std::size_t count = bytes_ / static_cast<std::size_t>(bytes(type_));
    std::vector<std::byte> elements(count * static_cast<std::size_t>(bytes(type)));
    convert_elements(data_, type_, elements.data(), type, count);
    return elements;
}

std::vector<std::string> operand_mismatches(const NpyMatrix& a, const NpyMatrix& b, const NpyMatrix* c,
                                            std::optional<std::int64_t> problems) {
    std::vector<std::string> reasons;
    if (a.columns() != b.rows()) {
        reasons.push_back(fmt::format("A ({}) is {}x{} and B ({}) is {}x{}: A's columns and B's rows must be one K",
                                      a.path(), a.rows(), a.columns(), b.path(), b.rows(), b.columns()));
    }
    const auto makes_batch = [](const NpyMatrix& x) { return x.matrices() != 1; };
    if (makes_batch(a) && makes_batch(b) && a.matrices() != b.matrices())
        reasons.push_back(fmt::format("A ({}) has {} matrices and B ({}) has {}: a batch has one number of problems",
                                      a.path(), a.matrices(), b.path(), b.matrices()));
    const bool is_batch = problems || a.is_batch() || b.is_batch();
    const std::int64_t batch = problems.value_or(makes_batch(a) ? a.matrices() : b.matrices());
    const bool is_apart = c != nullptr && c->is_batch() && makes_batch(*c) && c->matrices() != batch;
    if (is_apart || (c != nullptr && c->is_batch() && !is_batch))
        reasons.push_back(fmt::format("C ({}) has {} matrices, but A and B make {}", c->path(), c->matrices(), batch));
    if (c != nullptr && (c->rows() != a.rows() || c->columns() != b.columns())) {
        reasons.push_back(fmt::format("C ({}) is {}x{} where A's rows and B's columns make D {}x{}", c->path(),
                                      c->rows(), c->columns(), a.rows(), b.columns()));
    }
    return reasons;
}

void write_npy(const std::string& path, DataType type, const std::vector<std::int64_t>& shape, Order order,
               const void* data) {
    const DataType written = type == DataType::bf16 ? DataType::f32 : type;
    if (numpy_type(written).empty())
        throw Error(fmt::format("{}: cannot write {} to a .npy file: only f16, f32, s8, s32 and bf16 (as f32)", path,
                                to_string(type)));
    std::string file = header_text(written, shape, order);
    const std::size_t header_bytes = file.size();
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    file.resize(header_bytes + count * static_cast<std::size_t>(bytes(written)));
    convert_elements(data, type, file.data() + header_bytes, written, count);
    try {
        write_output_file(path, file);
    } catch (const std::system_error& error) {
        throw Error(error.what());
    }
}

}  // namespace jitgemm
