#include "dist/store/memory_store.h"

#include <mutex>

#include "dist/core/tasking.h"
#include "dist/store/key_value_map.h"

namespace dist {
namespace {

class MemoryStore final : public Store {
 public:
  using Store::append;
  using Store::set;

  void set(std::string_view key, ConstBytes value) override {
    const auto lock = enter();
    put(key, value);
  }

  Bytes get(std::string_view key, Deadline deadline) override {
    const std::string keys[]{std::string(key)};
    auto lock = enter();
    wait_for(lock, keys, deadline);
    return *map_.find(key);
  }

  std::int64_t add(std::string_view key, std::int64_t delta) override {
    const auto lock = enter();
    const std::int64_t sum = add_to(key, map_.find(key), delta);
    put(key, to_bytes(std::to_string(sum)));
    return sum;
  }

  Bytes compare_set(std::string_view key, ConstBytes expected, ConstBytes desired) override {
    const auto lock = enter();
    if (matches(map_.find(key), expected)) put(key, desired);
    const Bytes* now = map_.find(key);
    return now ? *now : Bytes{};
  }

  void append(std::string_view key, ConstBytes value) override {
    const auto lock = enter();
    put(key, appended(key, map_.find(key), value));
  }

  void wait(std::span<const std::string> keys, Deadline deadline) override {
    auto lock = enter();
    wait_for(lock, keys, deadline);
  }

  bool check(std::span<const std::string> keys) override {
    const auto lock = enter();
    return map_.missing(keys).empty();
  }

  bool remove(std::string_view key) override {
    const auto lock = enter();
    return map_.remove(key);
  }

  std::int64_t num_keys() override {
    const auto lock = enter();
    return map_.size();
  }

  std::string where() const override { return "memory"; }

 private:
  // Virtual ranks that poll must not hold up the others, and the order in which ranks get here is open.
  std::unique_lock<std::mutex> enter() {
    if (Tasking* const simulated = Tasking::current()) simulated->at_store();
    return std::unique_lock(mutex_);
  }

  void put(std::string_view key, ConstBytes value) {
    map_.set(key, value);
    changed_.notify_all();
  }

  void wait_for(std::unique_lock<std::mutex>& lock, std::span<const std::string> keys, Deadline deadline) {
    const auto since = Deadline::Clock::now();
    while (!map_.missing(keys).empty()) {
      if (deadline.passed()) fail_missing(map_.missing(keys), since, where());
      changed_.wait_until(lock, deadline);
    }
  }

  std::mutex mutex_;
  Condition changed_;
  KeyValueMap map_;
};

}  // namespace

std::shared_ptr<Store> make_memory_store() { return std::make_shared<MemoryStore>(); }

}  // namespace dist
