#include "dist/nn/threads.h"

#include <atomic>

#include "dist/core/fail.h"

namespace dist::nn {

namespace {

std::atomic<int> threads{1};

}  // namespace

void set_num_threads(int n) {
  if (n < 1) fail(Errc::invalid_argument, "set_num_threads({}): at least one thread is needed", n);
  threads = n;
}

int num_threads() { return threads; }

}  // namespace dist::nn
