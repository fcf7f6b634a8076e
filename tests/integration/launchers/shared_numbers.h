// Numbers that a test and the processes that it forks see alike.
#pragma once

#include <atomic>

#include <sys/mman.h>

namespace dist_test {

class SharedNumbers {
 public:
  SharedNumbers()
      : numbers_(static_cast<std::atomic<int>*>(
            mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {}
  ~SharedNumbers() { munmap(numbers_, 4096); }
  std::atomic<int>& operator[](int i) { return numbers_[i]; }

 private:
  std::atomic<int>* numbers_;
};

}  // namespace dist_test
