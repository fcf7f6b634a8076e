#include "dist/core/forks.h"

#include <pthread.h>

namespace dist::detail {

std::uint32_t forks_before = 0;

namespace {
[[maybe_unused]] const int registered = pthread_atfork(nullptr, nullptr, [] { ++detail::forks_before; });
}

}  // namespace dist::detail
