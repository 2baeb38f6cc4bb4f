// One element at a time: how operands are filled and when an element of D is right. Compiled by NVRTC between
// reference_arithmetic.cuh and reference_kernels.cu, and by the host's compiler in host_reference.cpp.

// ---- memory -----------------------------------------------------------------------------------------------------------

REFERENCE_FUNCTION unsigned load_bits(const void* base, long long index, int type) {
    switch (bytes_of(type)) {
        case 4: return ((const unsigned*)base)[index];
        case 2: return ((const unsigned short*)base)[index];
        default: return ((const unsigned char*)base)[index];
    }
}

REFERENCE_FUNCTION void store_bits(void* base, long long index, int type, unsigned bits) {
    switch (bytes_of(type)) {
        case 4: ((unsigned*)base)[index] = bits; break;
        case 2: ((unsigned short*)base)[index] = (unsigned short)bits; break;
        default: ((unsigned char*)base)[index] = (unsigned char)bits; break;
    }
}

// reference_kernels.cpp declares the same argument structs.
#define SAME_SIZE_AS_HOST(type, size) static_assert(sizeof(type) == size, #type)

// ---- fill -----------------------------------------------------------------------------------------------------------

enum FillKind { kFillConstant, kFillIntegers, kFillSparse, kFillNormal };

struct FillArguments {
    void* data;
    long long rows, columns, row_stride, column_stride;  // in elements
    Word seed;
    int type;
    int kind;           // FillKind
    int range;          // integers: uniform in -range .. range; sparse: -1 or 1
    unsigned constant;  // the bits of kFillConstant
    long long group;    // sparse: exactly one nonzero element in each `group` columns of a row
};
SAME_SIZE_AS_HOST(FillArguments, 72);

REFERENCE_FUNCTION unsigned filled(const FillArguments& arguments, long long row, long long column) {
    const Word random = random_word(arguments.seed, (Word)row * (Word)arguments.columns + (Word)column);
    switch (arguments.kind) {
        case kFillConstant: return arguments.constant;
        case kFillIntegers:
            return encode((double)below(random, 2 * arguments.range + 1) - arguments.range, arguments.type);
        case kFillSparse: {
            const Word groups = (Word)(arguments.columns + arguments.group - 1) / (Word)arguments.group;
            const Word place = (Word)row * groups + (Word)(column / arguments.group);
            const Word chosen = below(random_word(~arguments.seed, place), (Word)arguments.group);
            const double sign = random >> 63 ? 1.0 : -1.0;
            return encode((Word)(column % arguments.group) == chosen ? sign : 0.0, arguments.type);
        }
        default: {
            const float value = standard_normal(random);
            if (arguments.type == kS8) return encode((double)rintf(32.0f * value), kS8);
            const unsigned bits = encode((double)value, arguments.type);
            return arguments.type == kTf32 ? bits & 0xffffe000u : bits;  // what the tensor core reads of it
        }
    }
}

// What an element that was filled should still hold, and what it holds.
struct FilledBits {
    unsigned wanted, found;
};

REFERENCE_FUNCTION FilledBits filled_bits(const FillArguments& arguments, long long row, long long column) {
    const unsigned all = bytes_of(arguments.type) == 4 ? ~0u : (1u << 8 * bytes_of(arguments.type)) - 1;
    const long long index = row * arguments.row_stride + column * arguments.column_stride;
    return {filled(arguments, row, column) & all, load_bits(arguments.data, index, arguments.type)};
}

// ---- check ------------------------------------------------------------------------------------------------------------

struct Operand {
    const void* data;
    long long row_stride, column_stride;
    int type;
    int unused;
};

struct CheckArguments {
    Operand a, b, c, d;  // c.data is null when C is not read
    long long m, n, k;   // k is 0 when alpha is: neither A nor B is read
    double alpha, beta;
    double sum_unit;      // bound: part of the sum of absolute products
    double output_unit;   // bound: part of the expected value
    double output_floor;  // bound: half of D's smallest step
    int exact;            // compare bit for bit (but for the sign of zero) with the once-rounded result
    int unused;
    struct CheckResult* result;
    long long row, column;  // reference_element: which
};
SAME_SIZE_AS_HOST(CheckArguments, 224);

struct CheckResult {
    Word wrong;
    Word first;          // smallest row · n + column of a wrong element
    Word largest_error;  // error over bound, the bits of a non-negative double
    Word guard_damage;
    double expected, got;  // of reference_element
};
SAME_SIZE_AS_HOST(CheckResult, 48);

REFERENCE_FUNCTION double element(const Operand& operand, long long row, long long column) {
    return decode(load_bits(operand.data, row * operand.row_stride + column * operand.column_stride, operand.type),
                  operand.type);
}

struct Expected {
    double value;
    double magnitude;  // what the error bound is a part of
};

REFERENCE_FUNCTION Expected finish(const CheckArguments& arguments, double sum, double absolute, long long row,
                                   long long column) {
    const double addend = arguments.c.data != nullptr ? arguments.beta * element(arguments.c, row, column) : 0.0;
    return {arguments.alpha * sum + addend, fabs(arguments.alpha) * absolute + fabs(addend)};
}

// Error over its bound of D's element; above 1 is wrong. A NaN is always wrong: no expected value is one.
// Not inlined: sixteen copies a thread would double the compile time of this file.
REFERENCE_FUNCTION_APART double relative_error(const CheckArguments& arguments, double sum, double absolute,
                                                     long long row, long long column) {
    const int type = arguments.d.type;
    const Expected expected = finish(arguments, sum, absolute, row, column);
    const unsigned bits =
        load_bits(arguments.d.data, row * arguments.d.row_stride + column * arguments.d.column_stride, type);
    if (arguments.exact) {
        const unsigned wanted = encode(expected.value, type);
        return bits == wanted || (decode(bits, type) == 0.0 && decode(wanted, type) == 0.0) ? 0.0 : infinity();
    }
    const double error = fabs(decode(bits, type) - expected.value);
    const double bound =
        arguments.sum_unit * expected.magnitude + arguments.output_unit * fabs(expected.value) + arguments.output_floor;
    return error == error ? error / bound : infinity();
}
