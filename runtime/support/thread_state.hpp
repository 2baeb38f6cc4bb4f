#pragma once

#include <cfenv>

#include <locale.h>
#include <signal.h>

namespace jitgemm {

/// What a thread of the program has set for itself is as it was when the object goes, whatever others' code did to it:
/// its locale, its signal mask and its floating-point environment. Meanwhile the last is the usual one: it rounds to
/// nearest, keeps denormals and traps nothing. Threads that are started meanwhile inherit that.
class UsualThreadState {
public:
    UsualThreadState();
    UsualThreadState(const UsualThreadState&) = delete;
    UsualThreadState& operator=(const UsualThreadState&) = delete;
    ~UsualThreadState();

private:
    locale_t locale_;
    sigset_t blocked_{};
    std::fenv_t arithmetic_{};
};

}  // namespace jitgemm
