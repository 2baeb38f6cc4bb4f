// One element at a time: how operands are filled and when an element of D is right. Compiled by NVRTC between
// reference_arithmetic.cuh and reference_kernels.cu, and by the host's compiler (reference_arguments.hpp).

// ---- memory ---------------------------------------------------------------------------------------------------------

// A matrix of each problem, by strides in elements; 0 where all problems, rows or columns share what there is.
struct Operand {
    void* data;  // null: there is none
    long long batch_stride, row_stride, column_stride;
    long long outer_stride;   // from `inner` problems to the next ones
    long long first_problem;  // problems are counted from this one on
    int type;
    int inner;  // 0: the batch has one dimension
};

struct Extents {
    long long problems, rows, columns;
};

struct Place {
    long long problem, row, column;
};

REFERENCE_FUNCTION long long index_of(const Operand& operand, Place at) {
    const long long problem = operand.first_problem + at.problem;
    const long long within = at.row * operand.row_stride + at.column * operand.column_stride;
    if (operand.inner == 0) return problem * operand.batch_stride + within;
    return problem / operand.inner * operand.outer_stride + problem % operand.inner * operand.batch_stride + within;
}

REFERENCE_FUNCTION long long count_of(Extents extents) { return extents.problems * extents.rows * extents.columns; }

// Elements are counted problem by problem, and row by row within each, whatever their order in memory.
REFERENCE_FUNCTION Word number_of(Place at, Extents extents) {
    return (Word)((at.problem * extents.rows + at.row) * extents.columns + at.column);
}

REFERENCE_FUNCTION Place place_of(long long number, Extents extents) {
    const long long line = number / extents.columns;
    return {line / extents.rows, line % extents.rows, number % extents.columns};
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

// Factors of the elements of A or B. A line is a row of A, or a column of B.
struct BlockScales {
    Operand elements;  // row: the block of lines; column: the block of K; data is null: there are none
    long long first;   // the place of the operand's line 0 among all lines
    int line_shift;    // 2^line_shift lines, and 2^k_shift of K, are a block
    int k_shift;
};

REFERENCE_FUNCTION double scale_of(const BlockScales& scales, long long problem, long long line, long long k) {
    if (scales.elements.data == nullptr) return 1.0;
    return element(scales.elements, {problem, (scales.first + line) >> scales.line_shift, k >> scales.k_shift});
}

// ---- fill -----------------------------------------------------------------------------------------------------------

enum FillKind { kFillConstant, kFillIntegers, kFillSparse, kFillNormal };

// The integers that have a fraction of 2^-11 beside them. Products of two fractions would need more bits than f32 has.
enum FillFractions { kNoFractions, kAllFractions, kFractionsOfEvenColumns, kFractionsOfOddRows };

struct FillArguments {
    Operand matrix;
    Extents extents;
    Word seed;
    long long group;    // sparse: exactly one nonzero element in each `group` columns of a row
    int kind;           // FillKind
    int range;          // integers: uniform in -range .. range without 0, which would hide products; sparse: -1 or 1
    unsigned constant;  // the bits of kFillConstant
    int fractions;      // FillFractions of kFillIntegers
};

REFERENCE_FUNCTION bool has_fraction(int fractions, Place at) {
    switch (fractions) {
        case kAllFractions: return true;
        case kFractionsOfEvenColumns: return at.column % 2 == 0;
        case kFractionsOfOddRows: return at.row % 2 == 1;
        default: return false;
    }
}

REFERENCE_FUNCTION unsigned filled(const FillArguments& arguments, Place at) {
    const int type = arguments.matrix.type;
    const Extents extents = arguments.extents;
    const Word random = random_word(arguments.seed, number_of(at, extents));
    switch (arguments.kind) {
        case kFillConstant: return arguments.constant;
        case kFillIntegers: {
            const double negative = (double)below(random, 2 * arguments.range) - arguments.range;
            const double whole = negative < 0 ? negative : negative + 1;
            const double fraction = has_fraction(arguments.fractions, at) ? 1.0 / 2048 : 0.0;
            return encode(whole < 0 ? whole - fraction : whole + fraction, type);
        }
        case kFillSparse: {
            const long long groups = (extents.columns + arguments.group - 1) / arguments.group;
            const long long group = at.column / arguments.group;
            const Word place = number_of({at.problem, at.row, group}, {extents.problems, extents.rows, groups});
            // The last group may be short: the end of K is what kernels get wrong.
            const long long left = extents.columns - group * arguments.group;
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

// The bits that a filled element should still have, and those that it has.
struct FilledBits {
    unsigned wanted, found;
};

REFERENCE_FUNCTION FilledBits filled_bits(const FillArguments& arguments, Place at) {
    const Operand& matrix = arguments.matrix;
    const unsigned all = bytes_of(matrix.type) == 4 ? ~0u : (1u << 8 * bytes_of(matrix.type)) - 1;
    return {filled(arguments, at) & all, load_bits(matrix.data, index_of(matrix, at), matrix.type)};
}

// ---- check ----------------------------------------------------------------------------------------------------------

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

struct ProductSum {
    double sum, magnitude;  // of products, and of their absolute values
};

struct CheckArguments {
    Operand a, b, c, d;  // data is null where the operand is not read
    BlockScales scale_a, scale_b;
    Extents extents;  // of D
    long long k;      // 0 when alpha is: neither A nor B is read
    double alpha, beta;
    double sum_unit;      // bound: part of the sum of absolute values
    double output_unit;   // bound: part of the expected value
    double output_floor;  // bound: half of D's smallest step
    int exact;            // compare bit for bit (but for the sign of zero) with the once-rounded result
    int unused;
    CheckResult* result;
    Place at;          // reference_element: which
    ProductSum* sums;  // reference_sums: of all elements of D
};

struct Expected {
    double value;
    double magnitude;  // what errors of sums are a part of
};

// Elements of A and B as the sum takes them.
REFERENCE_FUNCTION double scaled_a(const CheckArguments& arguments, long long problem, long long row, long long k) {
    return element(arguments.a, {problem, row, k}) * scale_of(arguments.scale_a, problem, row, k);
}
REFERENCE_FUNCTION double scaled_b(const CheckArguments& arguments, long long problem, long long k, long long column) {
    return element(arguments.b, {problem, k, column}) * scale_of(arguments.scale_b, problem, column, k);
}

// From the sum of products to the element of D before it is rounded: the one place that says what an epilogue does.
REFERENCE_FUNCTION Expected finish(const CheckArguments& arguments, double sum, double absolute, Place at) {
    const double addend = arguments.c.data != nullptr ? arguments.beta * element(arguments.c, at) : 0.0;
    return {arguments.alpha * sum + addend, fabs(arguments.alpha) * absolute + fabs(addend)};
}

// Error over its bound of bits that D holds; above 1 is wrong. A NaN is always wrong: no expected value is one.
REFERENCE_FUNCTION double error_over_bound(const CheckArguments& arguments, const Expected& expected, unsigned bits) {
    const int type = arguments.d.type;
    if (arguments.exact) {
        const unsigned wanted = encode(expected.value, type);
        return bits == wanted || (decode(bits, type) == 0.0 && decode(wanted, type) == 0.0) ? 0.0 : infinity();
    }
    const double error = fabs(decode(bits, type) - expected.value);
    const double unrounded = arguments.sum_unit * expected.magnitude;
    const double bound = unrounded + arguments.output_unit * fabs(expected.value) + arguments.output_floor;
    if (error <= bound) return error / bound;
    // Beyond D's largest value rounding gives infinity, or the largest, however far that is.
    const bool rounded =
        bits == encode(expected.value - unrounded, type) || bits == encode(expected.value + unrounded, type);
    return rounded ? 0.0 : error == error ? error / bound : infinity();
}

// Of D's element. Not inlined: sixteen copies per thread would double the compile time of this file.
REFERENCE_FUNCTION_APART double relative_error(const CheckArguments& arguments, double sum, double absolute, Place at) {
    const Operand& d = arguments.d;
    return error_over_bound(arguments, finish(arguments, sum, absolute, at),
                            load_bits(d.data, index_of(d, at), d.type));
}

// ---- guard bands ----------------------------------------------------------------------------------------------------

// A buffer: front, `blocks` blocks of `groups` groups of `lines` lines of `run` bytes, back. `between` and
// `between_blocks` bytes lie between groups and between blocks.
struct GuardArguments {
    const unsigned char* data;
    long long front, lines, run, pitch, groups, between, blocks, between_blocks, back;
    int pattern;
    int unused;
    CheckResult* result;
};

// Bytes between the lines of a group.
REFERENCE_FUNCTION long long group_gaps(const GuardArguments& arguments) {
    return arguments.lines == 0 ? 0 : (arguments.lines - 1) * (arguments.pitch - arguments.run);
}

// Bytes between the first line of a block and its last.
REFERENCE_FUNCTION long long block_gaps(const GuardArguments& arguments) {
    return arguments.groups * group_gaps(arguments) + (arguments.groups - 1) * arguments.between;
}

// Bytes between the first line and the last.
REFERENCE_FUNCTION long long gap_count(const GuardArguments& arguments) {
    return arguments.blocks * block_gaps(arguments) + (arguments.blocks - 1) * arguments.between_blocks;
}

REFERENCE_FUNCTION long long guard_count(const GuardArguments& arguments) {
    return arguments.front + gap_count(arguments) + arguments.back;
}

// Where the i-th of these bytes lies.
REFERENCE_FUNCTION long long guard_place(const GuardArguments& arguments, long long i) {
    const long long within = i - arguments.front;
    if (within < 0) return i;
    const long long lines_of_block = arguments.groups * arguments.lines;
    if (within >= gap_count(arguments)) return i + arguments.blocks * lines_of_block * arguments.run;
    const long long of_block = block_gaps(arguments);
    const long long block = within / (of_block + arguments.between_blocks);
    const long long in_block = within % (of_block + arguments.between_blocks);
    if (in_block >= of_block) return i + (block + 1) * lines_of_block * arguments.run;
    const long long gaps = group_gaps(arguments);
    const long long group = in_block / (gaps + arguments.between);
    const long long in_group = in_block % (gaps + arguments.between);
    const long long lines_before = in_group < gaps ? in_group / (arguments.pitch - arguments.run) + 1 : arguments.lines;
    return i + (block * lines_of_block + group * arguments.lines + lines_before) * arguments.run;
}
