#include "dist/nn/settings.h"

#include <algorithm>
#include <array>
#include <atomic>

#include "dist/core/fail.h"
#include "dist/nn/parts.h"

namespace dist::nn {

namespace {

std::atomic<int> threads{1};
thread_local bool is_alone = false;

constexpr std::array<std::string_view, 3> precisions{"highest", "high", "medium"};
std::atomic<std::size_t> precision_index{0};
std::atomic<bool> convolutions_in_tf32{true};

}  // namespace

void set_num_threads(int n) {
  if (n < 1) fail(Errc::invalid_argument, "set_num_threads({}): at least one thread is needed", n);
  threads = n;
}

int num_threads() { return is_alone ? 1 : threads.load(std::memory_order_relaxed); }

OnOneThread::OnOneThread() : before_(is_alone) { is_alone = true; }
OnOneThread::~OnOneThread() { is_alone = before_; }

void set_matmul_precision(std::string_view precision) {
  const auto found = std::ranges::find(precisions, precision);
  if (found == precisions.end())
    fail(Errc::invalid_argument, "set_matmul_precision(\"{}\"): choose highest, high or medium", precision);
  precision_index = static_cast<std::size_t>(found - precisions.begin());
}

std::string_view matmul_precision() { return precisions.at(precision_index); }

void set_tf32_convolutions(bool allowed) { convolutions_in_tf32 = allowed; }
bool tf32_convolutions() { return convolutions_in_tf32; }

}  // namespace dist::nn
