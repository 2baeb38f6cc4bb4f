/// \file Its argument: seconds that a thread may take. A program on standard input, a word at a time:
///
///     case LABEL FUNCTION BLOCKS THREADS ARGUMENTS     ARGUMENTS in hexadecimal
///     view NAME REGION OFFSET BYTES LINES RUN LD WHOLE a matrix in a region; WHOLE 1: reads may take neighbours along
///     expect NAME read|write LINE0 LINE1 POS0 POS1 within|cover|span SLACK
///     run BLOCK FIRST STEP COUNT                        threads of a block
///     check                                             and forget what was touched and expected
///
/// Prints a line for each thing that is wrong. Exits with 77 where the address space can't be had.
#include "replay.hpp"

#include "host_cuda.hpp"

#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

namespace replay {
namespace {

// ---- memory: regions of 8 TiB; only pages that are written exist ----------------------------------------------------

constexpr int kRegions = 5;
constexpr int kRegionBits = 43;
constexpr std::uint64_t kReserved = (std::uint64_t{1} << kRegionBits) - (std::uint64_t{1} << 30);

void* region_begin(int region) { return reinterpret_cast<void*>(std::uint64_t(region + 1) << kRegionBits); }

bool reserve() {
    for (int region = 0; region < kRegions; ++region) {
        void* const wanted = region_begin(region);
        if (mmap(wanted, kReserved, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != wanted)
            return false;
    }
    return true;
}

// ---- expectations ---------------------------------------------------------------------------------------------------

struct Expectation {
    bool write;
    std::int64_t line0, line1, pos0, pos1;
    std::string kind;
    std::int64_t slack;
    std::vector<bool> touched;  // of `cover`
    std::int64_t least_line, most_line, least_pos, most_pos;

    bool takes(bool is_write, std::int64_t line, std::int64_t pos) const {
        return write == is_write && line >= line0 && line < line1 && pos >= pos0 && pos < pos1;
    }
    void touch(std::int64_t line, std::int64_t pos) {
        if (!touched.empty()) touched[std::size_t((line - line0) * (pos1 - pos0) + pos - pos0)] = true;
        least_line = std::min(least_line, line);
        most_line = std::max(most_line, line);
        least_pos = std::min(least_pos, pos);
        most_pos = std::max(most_pos, pos);
    }
    bool met() const {
        if (line0 >= line1 || pos0 >= pos1) return true;
        if (kind == "cover") return std::find(touched.begin(), touched.end(), false) == touched.end();
        if (kind != "span") return true;
        // Both ends of the longer side: K, where it is long.
        return line1 - line0 > pos1 - pos0 ? least_line < line0 + slack && most_line >= line1 - slack
                                           : least_pos < pos0 + slack && most_pos >= pos1 - slack;
    }
};

struct View {
    std::string name;
    int region;
    std::uint64_t begin;  // address
    std::int64_t element_bytes, lines, run, ld;
    bool whole_chunks;
    std::vector<Expectation> expectations;

    std::uint64_t end() const {
        return lines == 0 || run == 0 ? begin : begin + std::uint64_t(((lines - 1) * ld + run) * element_bytes);
    }
};

struct Launch {
    std::string label;
    int function = 0;
    std::int64_t blocks = 0;
    int threads = 0;
    std::string arguments;
    std::vector<View> views;
};

Launch launch;
int wrong = 0;
int wrong_here = 0;  // of this check

template <typename... Values>
void report(const char* format, Values... values) {
    ++wrong;
    if (++wrong_here > 3) return;
    std::printf("%s: block %u thread %u: ", launch.label.c_str(), blockIdx.x, threadIdx.x);
    std::printf(format, values...);
    std::printf("\n");
}

void touch_element(View& view, std::int64_t line, std::int64_t pos, bool write) {
    for (Expectation& expectation : view.expectations)
        if (expectation.takes(write, line, pos)) return expectation.touch(line, pos);
    if (!write && view.whole_chunks) return;
    report("%s of %s (%lld, %lld), which it has no business with", write ? "write" : "read", view.name.c_str(),
           static_cast<long long>(line), static_cast<long long>(pos));
}

void touch_elements(View& view, std::int64_t first, std::int64_t last, bool write) {
    std::int64_t line = first / view.ld;
    std::int64_t pos = first % view.ld;
    for (std::int64_t element = first; element <= last; ++element) {
        touch_element(view, line, pos, write);
        if (++pos == view.ld) ++line, pos = 0;
    }
}

void touch(std::uint64_t address, std::uint64_t bytes, bool write) {
    const int region = int(address >> kRegionBits) - 1;
    if (region < 0 || region >= kRegions) return;  // the kernel's own variables
    for (View& view : launch.views) {
        if (view.region != region || address < view.begin || address + bytes > view.end()) continue;
        const auto offset = std::int64_t(address - view.begin);
        return touch_elements(view, offset / view.element_bytes,
                              (offset + std::int64_t(bytes) - 1) / view.element_bytes, write);
    }
    report("%s of %llu bytes at offset %llu of region %d, outside its matrices", write ? "write" : "read",
           static_cast<unsigned long long>(bytes),
           static_cast<unsigned long long>(address - reinterpret_cast<std::uint64_t>(region_begin(region))), region);
}

// ---- running -------------------------------------------------------------------------------------------------------

unsigned seconds_per_thread = 60;

void stop(int signal) {
    report("%s", signal == SIGVTALRM ? "spins"
                 : signal == SIGILL  ? "an index leaves its type (or a division by zero)"
                 : signal == SIGFPE  ? "a division by zero"
                                     : "reaches for an address that is nobody's");
    std::fflush(stdout);
    _exit(1);
}

/// Of the processor's time: the machine may be busy with something else.
void set_clock(unsigned seconds) {
    const itimerval clock{{0, 0}, {static_cast<time_t>(seconds), 0}};
    setitimer(ITIMER_VIRTUAL, &clock, nullptr);
}

std::string bytes_of(const std::string& hexadecimal) {
    std::string bytes;
    for (std::size_t i = 0; i + 1 < hexadecimal.size(); i += 2)
        bytes += static_cast<char>(std::stoi(hexadecimal.substr(i, 2), nullptr, 16));
    return bytes;
}

void read_case() {
    launch = {};
    std::string arguments;
    std::cin >> launch.label >> launch.function >> launch.blocks >> launch.threads >> arguments;
    launch.arguments = bytes_of(arguments);
    for (int region = 0; region < kRegions; ++region) madvise(region_begin(region), kReserved, MADV_DONTNEED);
}

void read_view() {
    View view{};
    std::uint64_t offset = 0;
    std::cin >> view.name >> view.region >> offset >> view.element_bytes >> view.lines >> view.run >> view.ld >>
        view.whole_chunks;
    view.begin = reinterpret_cast<std::uint64_t>(region_begin(view.region)) + offset;
    launch.views.push_back(view);
}

void read_expectation() {
    std::string name, access;
    Expectation x{};
    std::cin >> name >> access >> x.line0 >> x.line1 >> x.pos0 >> x.pos1 >> x.kind >> x.slack;
    x.write = access == "write";
    x.least_line = x.least_pos = INT64_MAX;
    x.most_line = x.most_pos = INT64_MIN;
    if (x.kind == "cover" && x.line0 < x.line1 && x.pos0 < x.pos1)
        x.touched.resize(std::size_t((x.line1 - x.line0) * (x.pos1 - x.pos0)));
    for (View& view : launch.views)
        if (view.name == name) view.expectations.push_back(x);
}

void run() {
    std::int64_t block = 0, first = 0, step = 0, count = 0;
    std::cin >> block >> first >> step >> count;
    if (block < 0 || block >= launch.blocks || launch.blocks > INT32_MAX)
        report("block %lld of %lld", static_cast<long long>(block), static_cast<long long>(launch.blocks));
    gridDim = {static_cast<unsigned>(launch.blocks), 1, 1};
    blockDim = {static_cast<unsigned>(launch.threads), 1, 1};
    blockIdx.x = static_cast<unsigned>(block);
    for (std::int64_t i = 0; i < count; ++i) {
        threadIdx.x = static_cast<unsigned>(first + i * step);
        set_clock(seconds_per_thread);
        functions[launch.function].call(launch.arguments.data());
    }
    set_clock(0);
}

void check() {
    for (View& view : launch.views) {
        for (const Expectation& x : view.expectations)
            if (!x.met())
                report("leaves some of %s [%lld, %lld) x [%lld, %lld) un%s", view.name.c_str(),
                       static_cast<long long>(x.line0), static_cast<long long>(x.line1), static_cast<long long>(x.pos0),
                       static_cast<long long>(x.pos1), x.write ? "written" : "read");
        view.expectations.clear();
    }
    wrong_here = 0;
}

// ---- cp.async -------------------------------------------------------------------------------------------------------

/// The operands of the instruction that begins at `text`, apart from brackets and blanks.
std::vector<std::string> operands_of(const char* text) {
    std::vector<std::string> operands(1);
    for (const char* c = std::strchr(text, ' '); c != nullptr && *c != '\0' && *c != ';'; ++c) {
        if (*c == ',')
            operands.emplace_back();
        else if (std::strchr(" []", *c) == nullptr)
            operands.back() += *c;
    }
    return operands;
}

int number_of(const std::string& operand) { return operand[0] == '%' ? std::atoi(operand.c_str() + 1) : -1; }

}  // namespace

AsyncCopy parse(const char* text) {
    AsyncCopy copy;
    const char* const at = std::strstr(text, "cp.async.c");
    if (at == nullptr || std::strstr(at, ".shared.global") == nullptr) return copy;
    const std::vector<std::string> operands = operands_of(at);
    copy.present = true;
    copy.size_operand = number_of(operands.at(2));
    copy.size = std::atoi(operands.at(2).c_str());
    copy.ignorable = operands.size() > 3 && operands[3] == "ignore";
    if (operands.size() > 3 && !copy.ignorable) copy.read_operand = number_of(operands[3]);
    copy.skippable = std::strstr(text, "@!skip") != nullptr;
    return copy;
}

void perform(const AsyncCopy& copy, std::initializer_list<std::uint64_t> operands) {
    if (!copy.present) return;
    const std::uint64_t* const value = operands.begin();
    if ((copy.skippable && value[3] != 0) || (copy.ignorable && value[2] == 0)) return;
    const std::uint64_t size = copy.size_operand >= 0 ? value[copy.size_operand] : std::uint64_t(copy.size);
    const std::uint64_t bytes = copy.read_operand >= 0 ? value[copy.read_operand] : size;
    // A source that is not read may point anywhere: beyond a lone line, whose pitch promises nothing, GPUs take it.
    if (bytes > 0 && value[1] % size != 0)
        report("cp.async of %llu bytes that are not aligned so", static_cast<unsigned long long>(size));
    if (bytes > size)
        report("cp.async reads %lld bytes of %llu", static_cast<long long>(bytes),
               static_cast<unsigned long long>(size));
    else if (bytes > 0)
        touch(value[1], bytes, false);
}

}  // namespace replay

// ---- what code compiled with -fsanitize=thread calls ----------------------------------------------------------------

extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
#define REPLAY_ACCESS(bytes)                                                                                        \
    void __tsan_read##bytes(void* p) { replay::touch(reinterpret_cast<std::uint64_t>(p), bytes, false); }           \
    void __tsan_write##bytes(void* p) { replay::touch(reinterpret_cast<std::uint64_t>(p), bytes, true); }           \
    void __tsan_unaligned_read##bytes(void* p) { replay::touch(reinterpret_cast<std::uint64_t>(p), bytes, false); } \
    void __tsan_unaligned_write##bytes(void* p) { replay::touch(reinterpret_cast<std::uint64_t>(p), bytes, true); } \
    void __tsan_read_write##bytes(void* p) { __tsan_read##bytes(p), __tsan_write##bytes(p); }                       \
    void __tsan_unaligned_read_write##bytes(void* p) { __tsan_read##bytes(p), __tsan_write##bytes(p); }
REPLAY_ACCESS(1)
REPLAY_ACCESS(2)
REPLAY_ACCESS(4)
REPLAY_ACCESS(8)
REPLAY_ACCESS(16)
void __tsan_read_range(void* p, unsigned long bytes) {
    replay::touch(reinterpret_cast<std::uint64_t>(p), bytes, false);
}
void __tsan_write_range(void* p, unsigned long bytes) {
    replay::touch(reinterpret_cast<std::uint64_t>(p), bytes, true);
}
void* __tsan_memcpy(void* to, const void* from, unsigned long bytes) {
    __tsan_read_range(const_cast<void*>(from), bytes);
    __tsan_write_range(to, bytes);
    return std::memcpy(to, from, bytes);
}
void* __tsan_memset(void* to, int value, unsigned long bytes) {
    __tsan_write_range(to, bytes);
    return std::memset(to, value, bytes);
}
}

int main(int count, char** arguments) {
    using namespace replay;
    if (count > 1) seconds_per_thread = static_cast<unsigned>(std::atoi(arguments[1]));
    if (!reserve()) return 77;
    for (const int signal : {SIGVTALRM, SIGILL, SIGFPE, SIGSEGV, SIGBUS}) std::signal(signal, stop);
    for (std::string word; std::cin >> word;) {
        if (word == "case")
            read_case();
        else if (word == "view")
            read_view();
        else if (word == "expect")
            read_expectation();
        else if (word == "run")
            run();
        else if (word == "check")
            check();
        else
            return std::printf("'%s' is no word of a program\n", word.c_str()), 2;
    }
    return wrong == 0 ? 0 : 1;
}
