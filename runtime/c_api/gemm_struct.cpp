#include "runtime/c_api/gemm_struct.hpp"

#include "runtime/c_api/sized_struct.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace jitgemm::c_api {
namespace {

/// Up to the last member of the header's first version.
constexpr std::size_t kFirstVersionBytes = offsetof(jg_gemm, reserved_11) + sizeof(jg_gemm::reserved_11);

template <auto Member>
std::string number(const jg_gemm& gemm) {
    return gemm.*Member == 0 ? std::string() : std::to_string(gemm.*Member);
}

/// A size is always told: no member says whether it was set.
template <auto Member>
std::string size(const jg_gemm& gemm) {
    return std::to_string(gemm.*Member);
}

template <auto Member>
std::string word(const jg_gemm& gemm) {
    return gemm.*Member == nullptr ? std::string() : gemm.*Member;
}

template <auto Member>
std::string stride(const jg_gemm& gemm) {
    return gemm.*Member == JG_SAME ? "0" : number<Member>(gemm);
}

#define JITGEMM_MEMBER(key, member, print) \
    GemmMember { key, offsetof(jg_gemm, member), sizeof(jg_gemm::member), print<&jg_gemm::member> }

constexpr std::array kMembers{
    JITGEMM_MEMBER("m", m, size),
    JITGEMM_MEMBER("n", n, size),
    JITGEMM_MEMBER("k", k, size),
    JITGEMM_MEMBER("a", a, word),
    JITGEMM_MEMBER("b", b, word),
    JITGEMM_MEMBER("c", c, word),
    JITGEMM_MEMBER("d", d, word),
    JITGEMM_MEMBER("acc", acc, word),
    JITGEMM_MEMBER("layout", layout, word),
    JITGEMM_MEMBER("d-layout", d_layout, word),
    JITGEMM_MEMBER("lda", lda, number),
    JITGEMM_MEMBER("ldb", ldb, number),
    JITGEMM_MEMBER("ldc", ldc, number),
    JITGEMM_MEMBER("ldd", ldd, number),
    JITGEMM_MEMBER("align-a", align_a, number),
    JITGEMM_MEMBER("align-b", align_b, number),
    JITGEMM_MEMBER("align-c", align_c, number),
    JITGEMM_MEMBER("align-d", align_d, number),
    JITGEMM_MEMBER("constant-a", constant_a, word),
    JITGEMM_MEMBER("constant-b", constant_b, word),
    JITGEMM_MEMBER("deterministic", deterministic, word),
    JITGEMM_MEMBER("broadcast-c", broadcast_c, word),
    JITGEMM_MEMBER("epilogue", epilogue, word),
    JITGEMM_MEMBER("sums", sums, word),
    JITGEMM_MEMBER("math", math, word),
    JITGEMM_MEMBER("batch", batch, number),
    JITGEMM_MEMBER("batch-stride-a", batch_stride_a, stride),
    JITGEMM_MEMBER("batch-stride-b", batch_stride_b, stride),
    JITGEMM_MEMBER("batch-stride-c", batch_stride_c, stride),
    JITGEMM_MEMBER("batch-stride-d", batch_stride_d, stride),
    JITGEMM_MEMBER("groups", groups, number),
    JITGEMM_MEMBER("group-rows", group_rows, number),
    JITGEMM_MEMBER("expected-rows", expected_rows, number),
    JITGEMM_MEMBER("ragged", ragged, word),
    JITGEMM_MEMBER("symmetric", symmetric, word),
    JITGEMM_MEMBER("source-rows", source_rows, number),
    JITGEMM_MEMBER("prepared", prepared, word),
    JITGEMM_MEMBER("pointers", pointers, word),
    JITGEMM_MEMBER("batch-inner", batch_inner, number),
    JITGEMM_MEMBER("outer-stride-a", outer_stride_a, stride),
    JITGEMM_MEMBER("outer-stride-b", outer_stride_b, stride),
    JITGEMM_MEMBER("outer-stride-c", outer_stride_c, stride),
    JITGEMM_MEMBER("outer-stride-d", outer_stride_d, stride),
};

#undef JITGEMM_MEMBER

#define JITGEMM_RESERVED(number, neutral, print)                                                             \
    ReservedMember {                                                                                         \
        "reserved_" #number, neutral, sizeof(jg_gemm::reserved_##number), print<&jg_gemm::reserved_##number> \
    }

/// Each with the one other value that programs of earlier headers may have set without asking for anything.
constexpr std::array kReserved{
    JITGEMM_RESERVED(1, "1", number),   JITGEMM_RESERVED(2, "-1", number),  JITGEMM_RESERVED(3, "-1", number),
    JITGEMM_RESERVED(4, "-1", number),  JITGEMM_RESERVED(5, "-1", number),  JITGEMM_RESERVED(6, "none", word),
    JITGEMM_RESERVED(7, "none", word),  JITGEMM_RESERVED(8, "none", word),  JITGEMM_RESERVED(9, "none", word),
    JITGEMM_RESERVED(10, "none", word), JITGEMM_RESERVED(11, "none", word),
};

#undef JITGEMM_RESERVED

void check_reserved(const jg_gemm& gemm) {
    for (const ReservedMember& member : kReserved) {
        const std::string value = member.word(gemm);
        if (value.empty() || value == member.neutral) continue;
        throw InvalidArgument(
            fmt::format("{} is {}: it must be 0 or NULL, because no kernel serves this member", member.name, value));
    }
}

/// A value as the spec's text has it: in quotes where it has blanks.
std::string text_word(std::string_view key, const std::string& value) {
    if (key == "epilogue") {
        if (value.find('\'') != std::string::npos)
            throw InvalidArgument(fmt::format("{} is \"{}\": it must not contain a quote (')", key, value));
        return fmt::format("'{}'", value);
    }
    if (value.find_first_of(" \t\r\n") != std::string::npos)  // would be read as other members
        throw InvalidArgument(fmt::format("{} is '{}': it must not contain blanks", key, value));
    return value;
}

}  // namespace

std::span<const GemmMember> gemm_members() { return kMembers; }
std::span<const ReservedMember> reserved_members() { return kReserved; }

std::string text_of(const jg_gemm* gemm) {
    const jg_gemm known = read_struct(gemm, "jg_gemm", kFirstVersionBytes);
    check_reserved(known);
    std::string text = "gemm-v9";
    for (const GemmMember& member : kMembers)
        if (const std::string value = member.word(known); !value.empty())
            text += fmt::format(" {}={}", member.key, text_word(member.key, value));
    return text;
}

}  // namespace jitgemm::c_api
