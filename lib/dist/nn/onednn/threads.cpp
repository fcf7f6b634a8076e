// Parts of loops on the threads that oneDNN uses: GNU's OpenMP, which starts them once and keeps them. With a
// second pool, each would wait for the other's threads, which poll for a while before they sleep.
#include <atomic>
#include <exception>
#include <mutex>

#include "dist/nn/parts.h"

// What GCC makes of "#pragma omp parallel".
extern "C" void GOMP_parallel(void (*f)(void*), void* context, unsigned threads, unsigned flags);
extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();

namespace dist::nn {

namespace {

struct Parts {
  int count;
  void (*f)(const void*, int);
  const void* context;
  std::mutex mutex;
  std::exception_ptr error;
  // OpenMP orders the threads, in a way that a thread sanitizer cannot see; it sees this.
  std::atomic<int> order{0};

  // Called on every thread. There can be fewer threads than parts.
  void run() {
    order.load(std::memory_order_acquire);
    run_mine();
    order.fetch_add(1, std::memory_order_release);
  }
  void run_mine() {
    try {
      for (int part = omp_get_thread_num(); part < count; part += omp_get_num_threads()) f(context, part);
    } catch (...) {
      const std::scoped_lock lock(mutex);
      if (!error) error = std::current_exception();
    }
  }
};

}  // namespace

void run_parts(int parts, void (*f)(const void* context, int part), const void* context) {
  Parts all{parts, f, context, {}, {}, {}};
  all.order.store(0, std::memory_order_release);
  GOMP_parallel([](void* p) { static_cast<Parts*>(p)->run(); }, &all, static_cast<unsigned>(parts), 0);
  all.order.load(std::memory_order_acquire);
  if (all.error) std::rethrow_exception(all.error);
}

}  // namespace dist::nn
