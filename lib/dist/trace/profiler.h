// Named ranges of time for a profiler that watches the process (Nsight Systems, by NVTX). Where none does,
// which is seen once when a rank joins, a range costs the look at a null pointer.
#pragma once

#include <atomic>
#include <string>

namespace dist {

// Ranges of a thread lie in each other. Thread-safe.
class Profiler {
 public:
  virtual ~Profiler() = default;
  virtual void begin(const std::string& name) = 0;
  virtual void end() = 0;
};

namespace detail {
inline std::atomic<Profiler*> attached_profiler{nullptr};
}

inline Profiler* profiler() { return detail::attached_profiler.load(std::memory_order_acquire); }
// Looks whether a profiler watches this process; the first call decides.
void attach_profiler();
// Another one (tests), which outlives all ranges; null: none.
void set_profiler(Profiler* profiler);

// Begun here, ended with the object. `name()` gives a std::string, and is only called when somebody reads it.
class ProfilerRange {
 public:
  template <class Name>
  explicit ProfilerRange(const Name& name) : profiler_(profiler()) {
    if (profiler_) profiler_->begin(name());
  }
  ~ProfilerRange() {
    if (profiler_) profiler_->end();
  }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;

 private:
  Profiler* const profiler_;
};

}  // namespace dist
