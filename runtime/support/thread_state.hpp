#pragma once

#include <cfenv>

#include <locale.h>
#include <signal.h>

namespace jitgemm {

/// Restores the thread's own settings when the object ends, whatever other code did to them: its locale, its signal
/// mask and its floating-point environment. Meanwhile the floating-point environment is the usual one: it rounds to
/// nearest, keeps denormals and traps nothing. Threads that are started meanwhile inherit it.
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
