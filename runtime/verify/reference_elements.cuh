// One element at a time: how operands are filled and when an element of D is right. Compiled by NVRTC between
// reference_arithmetic.cuh and reference_kernels.cu, and by the host's compiler (reference_arguments.hpp).

// ---- memory -----------------------------------------------------------------------------------------------------------

// A batch of matrices, by strides in elements; 0 where all rows, columns or problems share what there is.
struct Operand {
    void* data;  // null: there is none
    long long row_stride, column_stride, batch_stride;
    int type;
    int unused;
};

struct Place {
    long long batch, row, column;
};

REFERENCE_FUNCTION long long index_of(const Operand& operand, Place at) {
    return at.batch * operand.batch_stride + at.row * operand.row_stride + at.column * operand.column_stride;
}

// Elements are counted problem by problem, row by row, whatever their order in memory.
REFERENCE_FUNCTION Word number_of(Place at, long long rows, long long columns) {
    return (Word)((at.batch * rows + at.row) * columns + at.column);
}

REFERENCE_FUNCTION Place place_of(long long number, long long rows, long long columns) {
    const long long row = number / columns;
    return {row / rows, row % rows, number % columns};
}

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

REFERENCE_FUNCTION double element(const Operand& operand, Place at) {
    return decode(load_bits(operand.data, index_of(operand, at), operand.type), operand.type);
}

REFERENCE_FUNCTION double element_or(const Operand& operand, Place at, double absent) {
    return operand.data != nullptr ? element(operand, at) : absent;
}

// ---- fill -----------------------------------------------------------------------------------------------------------

enum FillKind { kFillConstant, kFillIntegers, kFillSparse, kFillNormal };

struct FillArguments {
    Operand matrix;
    long long batch, rows, columns;
    Word seed;
    long long group;    // sparse: exactly one nonzero element in each `group` columns of a row
    int kind;           // FillKind
    int range;          // integers: uniform in -range .. range without 0, which would hide products; sparse: -1 or 1
    unsigned constant;  // the bits of kFillConstant
    int unused;
};

REFERENCE_FUNCTION unsigned filled(const FillArguments& arguments, Place at) {
    const int type = arguments.matrix.type;
    const Word random = random_word(arguments.seed, number_of(at, arguments.rows, arguments.columns));
    switch (arguments.kind) {
        case kFillConstant: return arguments.constant;
        case kFillIntegers: {
            const double negative = (double)below(random, 2 * arguments.range) - arguments.range;
            return encode(negative < 0 ? negative : negative + 1, type);
        }
        case kFillSparse: {
            const long long groups = (arguments.columns + arguments.group - 1) / arguments.group;
            const Word place = number_of({at.batch, at.row, at.column / arguments.group}, arguments.rows, groups);
            // The last group may be short: the end of K is what kernels get wrong.
            const long long left = arguments.columns - at.column / arguments.group * arguments.group;
            const Word chosen =
                below(random_word(~arguments.seed, place), (Word)(left < arguments.group ? left : arguments.group));
            const double sign = random >> 63 ? 1.0 : -1.0;
            return encode((Word)(at.column % arguments.group) == chosen ? sign : 0.0, type);
        }
        default: {
            const float value = standard_normal(random);
            if (type == kS8) return encode((double)rintf(32.0f * value), kS8);
            const unsigned bits = encode((double)value, type);
            return type == kTf32 ? bits & 0xffffe000u : bits;  // what the tensor core reads of it
        }
    }
}

// What an element that was filled should still hold, and what it holds.
struct FilledBits {
    unsigned wanted, found;
};

REFERENCE_FUNCTION FilledBits filled_bits(const FillArguments& arguments, Place at) {
    const Operand& matrix = arguments.matrix;
    const unsigned all = bytes_of(matrix.type) == 4 ? ~0u : (1u << 8 * bytes_of(matrix.type)) - 1;
    return {filled(arguments, at) & all, load_bits(matrix.data, index_of(matrix, at), matrix.type)};
}

// ---- check ------------------------------------------------------------------------------------------------------------

struct CheckResult {
    Word wrong;
    Word first;          // smallest number of a wrong element
    Word largest_error;  // error over bound, the bits of a non-negative double
    Word guard_damage;
    double expected, got;  // of one element
};

struct CompareArguments {
    FillArguments fill;
    CheckResult* result;
    long long number;  // of the one element wanted; -1: all are counted
};

constexpr int kScaleBlock = 128;  // values of k that share a factor

struct CheckArguments {
    Operand a, b, c, d, bias, residual, scale_a, scale_b, scale_d;  // of what is not read the data is null
    long long m, n, k, batch;                                       // k is 0 when alpha is: neither A nor B is read
    double alpha, beta;
    double sum_unit;         // bound: part of the sum of absolute values
    double activation_unit;  // bound: part of what the activation was applied to
    double output_unit;      // bound: part of the expected value
    double output_floor;     // bound: half of D's smallest step
    int activation;          // ActivationKind
    int exact;               // compare bit for bit (but for the sign of zero) with the once-rounded result
    CheckResult* result;
    Place at;  // reference_element: which
};

// Elements as they are multiplied: with their scale factors.
REFERENCE_FUNCTION double element_of_a(const CheckArguments& arguments, long long batch, long long row, long long k) {
    return element(arguments.a, {batch, row, k}) *
           element_or(arguments.scale_a, {batch, row, k / kScaleBlock}, 1.0);
}

REFERENCE_FUNCTION double element_of_b(const CheckArguments& arguments, long long batch, long long k,
                                       long long column) {
    return element(arguments.b, {batch, k, column}) *
           element_or(arguments.scale_b, {batch, k / kScaleBlock, column}, 1.0);
}

struct Expected {
    double value;
    double magnitude;     // what errors of sums are a part of
    double preactivated;  // what the activation's error is a part of
};

// From the sum of products to the element of D before it is rounded: the one place that says what an epilogue does.
REFERENCE_FUNCTION Expected finish(const CheckArguments& arguments, double sum, double absolute, Place at) {
    const double addend = arguments.c.data != nullptr ? arguments.beta * element(arguments.c, at) : 0.0;
    const double bias = element_or(arguments.bias, at, 0.0);
    const double residual = element_or(arguments.residual, at, 0.0);
    const double scale = element_or(arguments.scale_d, at, 1.0);
    const double x = arguments.alpha * sum + addend + bias;
    const double magnitude = fabs(arguments.alpha) * absolute + fabs(addend) + fabs(bias) + fabs(residual);
    return {scale * (activated(x, arguments.activation) + residual), fabs(scale) * magnitude, fabs(scale * x)};
}

// Error over its bound of bits that D holds; above 1 is wrong. A NaN is always wrong: no expected value is one.
REFERENCE_FUNCTION double error_over_bound(const CheckArguments& arguments, const Expected& expected, unsigned bits) {
    const int type = arguments.d.type;
    if (arguments.exact) {
        const unsigned wanted = encode(expected.value, type);
        return bits == wanted || (decode(bits, type) == 0.0 && decode(wanted, type) == 0.0) ? 0.0 : infinity();
    }
    const double error = fabs(decode(bits, type) - expected.value);
    const double unrounded = arguments.sum_unit * expected.magnitude + arguments.activation_unit * expected.preactivated;
    const double bound = unrounded + arguments.output_unit * fabs(expected.value) + arguments.output_floor;
    if (error <= bound) return error / bound;
    // Beyond D's largest value rounding gives infinity, or the largest, however far that is.
    const bool rounded =
        bits == encode(expected.value - unrounded, type) || bits == encode(expected.value + unrounded, type);
    return rounded ? 0.0 : error == error ? error / bound : infinity();
}

// Of D's element. Not inlined: sixteen copies per thread would double the compile time of this file.
REFERENCE_FUNCTION_APART double relative_error(const CheckArguments& arguments, double sum, double absolute,
                                               Place at) {
    const Operand& d = arguments.d;
    return error_over_bound(arguments, finish(arguments, sum, absolute, at),
                            load_bits(d.data, index_of(d, at), d.type));
}

// ---- guard bands ----------------------------------------------------------------------------------------------------

// A buffer: front, `groups` groups of `lines` lines of `run` bytes, back. One group is as long as its pitch.
struct GuardArguments {
    const unsigned char* data;
    long long front, lines, run, pitch, back, groups, group_pitch;
    int pattern;
    int unused;
    CheckResult* result;
};

struct Gaps {
    long long line;   // bytes between two lines of a group
    long long group;  // all of a group and those behind it
    long long count;  // all between the first line and the last
};

REFERENCE_FUNCTION Gaps gaps_of(const GuardArguments& arguments) {
    if (arguments.lines == 0) return {0, 0, 0};
    const long long line = arguments.pitch - arguments.run;
    const long long group = arguments.group_pitch - arguments.lines * arguments.run;
    const long long behind_last = arguments.group_pitch - (arguments.lines - 1) * arguments.pitch - arguments.run;
    return {line, group, arguments.groups * group - behind_last};
}

REFERENCE_FUNCTION long long guard_count(const GuardArguments& arguments) {
    return arguments.front + gaps_of(arguments).count + arguments.back;
}

// Where the i-th of these bytes lies.
REFERENCE_FUNCTION long long guard_place(const GuardArguments& arguments, long long i) {
    const Gaps gaps = gaps_of(arguments);
    const long long within = i - arguments.front;
    if (within < 0) return i;
    if (within >= gaps.count) return i + arguments.groups * arguments.lines * arguments.run;
    const long long rest = within % gaps.group;
    const long long line = gaps.line == 0 ? arguments.lines - 1 : rest / gaps.line;
    const long long lines = line < arguments.lines ? line : arguments.lines - 1;
    return i + (within / gaps.group * arguments.lines + lines + 1) * arguments.run;
}
