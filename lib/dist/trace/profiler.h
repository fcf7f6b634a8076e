// Named ranges of time for a profiler that watches the process (Nsight Systems, by NVTX). Without one, which
// is decided once when a rank joins, a range costs a test for a null pointer.
#pragma once

#include <atomic>
#include <string>

namespace dist {

// Ranges of a thread nest. Thread-safe.
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
// Checks whether a profiler watches this process; the first call decides.
void attach_profiler();
// Installs another profiler (tests), which must outlive all ranges; null: none.
void set_profiler(Profiler* profiler);

// A range that begins here and ends with the object. `name()` returns a std::string and is called only if a
// profiler reads it.
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
