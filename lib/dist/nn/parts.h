// Divides loops among the threads of settings.h. The division depends on their number, so what a loop
// computes for one index must not depend on the others: then the bits are the same for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "dist/nn/settings.h"

namespace dist::nn {

// Calls f(part) for every part below `parts`, on as many threads, and returns when all have returned. Then it
// throws the first exception of one of them.
void run_parts(int parts, void (*f)(const void* context, int part), const void* context);

// While it lives, num_threads() is 1 on this thread: what it calls is not divided once more.
class OnOneThread {
 public:
  OnOneThread();
  ~OnOneThread();
  OnOneThread(const OnOneThread&) = delete;
  OnOneThread& operator=(const OnOneThread&) = delete;

 private:
  bool before_;
};

// Calls f(begin, end) for runs that are [0, count) together, on several threads if there are at least two
// runs of `grain` iterations.
template <class F>
void in_parts(std::int64_t count, std::int64_t grain, const F& f) {
  const auto parts = static_cast<int>(std::min<std::int64_t>(num_threads(), count / grain));
  if (parts <= 1) {
    const OnOneThread alone;
    return f(std::int64_t{0}, count);
  }
  struct Loop {
    const F& f;
    std::int64_t count;
    int parts;
  };
  const Loop loop{f, count, parts};
  run_parts(
      parts,
      [](const void* context, int part) {
        const Loop& l = *static_cast<const Loop*>(context);
        const OnOneThread alone;
        l.f(l.count * part / l.parts, l.count * (part + 1) / l.parts);
      },
      &loop);
}

}  // namespace dist::nn
