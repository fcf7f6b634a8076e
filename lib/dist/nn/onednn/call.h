// Wraps calls of oneDNN: sets the number of threads that they may use, and turns their errors into
// dist::Error.
#pragma once

#include <dnnl.hpp>

#include "dist/core/fail.h"
#include "dist/nn/settings.h"

// GNU's OpenMP, whose threads oneDNN uses. Each thread has a number of its own.
extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads();

namespace dist::nn::onednn {

class UseThreads {
 public:
  UseThreads() : before_(omp_get_max_threads()) { omp_set_num_threads(num_threads()); }
  ~UseThreads() { omp_set_num_threads(before_); }
  UseThreads(const UseThreads&) = delete;
  UseThreads& operator=(const UseThreads&) = delete;

 private:
  int before_;
};

template <class F>
decltype(auto) called(const F& f) {
  const UseThreads threads;
  try {
    return f();
  } catch (const dnnl::error& error) {
    fail(error.status == dnnl_out_of_memory ? Errc::resource : Errc::internal, "oneDNN: {}", error.what());
  }
}

}  // namespace dist::nn::onednn
