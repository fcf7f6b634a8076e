// Around calls of oneDNN: the threads that they may take, and their errors as ours.
#pragma once

#include <dnnl.hpp>

#include "dist/core/fail.h"
#include "dist/nn/threads.h"

// GNU's OpenMP, whose threads oneDNN takes. The number is each thread's own.
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
