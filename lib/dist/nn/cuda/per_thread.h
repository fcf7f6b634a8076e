// Handles of cuBLAS and cuDNN: they are expensive to make, and never destroyed, because the driver may be
// gone when a thread ends. Each thread has its own per device and leaves it to a later thread, because some
// threads live for one call only (DataParallel's).
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "dist/core/device.h"

namespace dist::nn {

template <class Handle>
struct PerThread {
  Handle handle{};                // null: the caller makes it
  StreamHandle stream = nullptr;  // its last use, perhaps by a thread that has ended

  static PerThread& of(Device device) {
    thread_local Own own;
    const auto [mine, is_new] = own.by_device.try_emplace(device.index);
    if (is_new) mine->second = take_left(device.index);
    return mine->second;
  }

 private:
  struct Left {
    std::mutex mutex;
    std::map<int, std::vector<PerThread>> by_device;
  };
  struct Own {
    std::map<int, PerThread> by_device;
    ~Own() {
      const std::scoped_lock lock(left().mutex);
      for (const auto& [index, mine] : by_device)
        if (mine.handle) left().by_device[index].push_back(mine);
    }
  };
  static Left& left() {
    static auto* const instance = new Left;
    return *instance;
  }
  static PerThread take_left(int index) {
    const std::scoped_lock lock(left().mutex);
    auto& of_device = left().by_device[index];
    if (of_device.empty()) return {};
    const PerThread taken = of_device.back();
    of_device.pop_back();
    return taken;
  }
};

}  // namespace dist::nn
