// AreaPool: which areas of a rank's shared segment are in use. Thread-safe.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <vector>

namespace dist::net {

class AreaPool {
 public:
  explicit AreaPool(int areas);
  std::optional<int> take();  // an area's index; nullopt when all are in use
  void give_back(int index);
  // Gives it back as soon as is_left(): some peers may still read it. That is checked when an area is taken.
  void retire(int index, std::function<bool()> is_left);

 private:
  struct Retired {
    int index;
    std::function<bool()> is_left;
  };
  std::mutex mutex_;
  std::vector<int> free_;
  std::vector<Retired> retired_;
};

}  // namespace dist::net
