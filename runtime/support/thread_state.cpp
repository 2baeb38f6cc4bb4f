#include "runtime/support/thread_state.hpp"

#include <pthread.h>

namespace jitgemm {

UsualThreadState::UsualThreadState() : locale_(::uselocale(nullptr)) {
    ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked_);
    std::fegetenv(&arithmetic_);
    std::fesetenv(FE_DFL_ENV);
}

UsualThreadState::~UsualThreadState() {
    std::fesetenv(&arithmetic_);
    ::pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
    ::uselocale(locale_);
}

}  // namespace jitgemm
