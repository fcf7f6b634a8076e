// The file store: a map that every user rebuilds from the records of one shared file. A call reads the new
// records under the lock, and a change appends one. Users that are counted enter and leave by records too, so
// that the last one removes the file.
#include "dist/store/file_store.h"

#include <algorithm>
#include <mutex>
#include <thread>

#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/tasking.h"
#include "dist/store/file_log.h"
#include "dist/store/key_value_map.h"
#include "dist/store/wire.h"

namespace dist {
namespace {

using namespace std::chrono_literals;
constexpr Timeout first_look_pause = 1ms, longest_look_pause = 50ms;  // between polls of the file
constexpr Timeout lock_patience = 60s;
constexpr Timeout farewell_patience = 2s;

// What a record says. A key and a value follow (both empty when unused).
enum class Change : std::uint8_t { set, remove, enter, leave, append };

class FileStore final : public Store {
 public:
  FileStore(const std::string& path, int expected_users) : log_(path), expected_users_(expected_users) {
    if (expected_users_ == 0) log_.be_present();
    while (expected_users_ > 0 && !enter()) log_ = FileLog(path);  // the last user was just removing it
  }
  ~FileStore() override {
    if (expected_users_ > 0 && getpid() == owner_) leave();
  }
  using Store::append;
  using Store::set;

  void set(std::string_view key, ConstBytes value) override {
    change([&] { write(Change::set, key, value); });
  }

  Bytes get(std::string_view key, Deadline deadline) override {
    const std::string keys[]{std::string(key)};
    Bytes value;
    wait_until([&] { return (value_if_there(key, value)); }, keys, deadline);
    return value;
  }

  std::int64_t add(std::string_view key, std::int64_t delta) override {
    std::int64_t sum = 0;
    change([&] {
      sum = add_to(key, map_.find(key), delta);
      write(Change::set, key, to_bytes(std::to_string(sum)));
    });
    return sum;
  }

  Bytes compare_set(std::string_view key, ConstBytes expected, ConstBytes desired) override {
    Bytes now;
    change([&] {
      if (matches(map_.find(key), expected)) write(Change::set, key, desired);
      value_if_there(key, now);
    });
    return now;
  }

  void append(std::string_view key, ConstBytes value) override {
    change([&] {
      (void)appended(key, map_.find(key), value);  // before it is in the file
      write(Change::append, key, value);
    });
  }

  void wait(std::span<const std::string> keys, Deadline deadline) override {
    wait_until([&] { return map_.missing(keys).empty(); }, keys, deadline);
  }

  bool check(std::span<const std::string> keys) override {
    std::lock_guard guard(mutex_);
    catch_up(Deadline::after(lock_patience));
    return map_.missing(keys).empty();
  }

  bool remove(std::string_view key) override {
    bool existed = false;
    change([&] {
      existed = map_.find(key) != nullptr;
      if (existed) write(Change::remove, key, {});
    });
    return existed;
  }

  std::int64_t num_keys() override {
    std::lock_guard guard(mutex_);
    catch_up(Deadline::after(lock_patience));
    return map_.size();
  }

  std::string where() const override { return "file://" + log_.path(); }

 private:
  // The lock belongs to the open file, which a forked child shares with its parent: it would keep neither of
  // them out.
  void check_owner() const {
    if (getpid() == owner_) return;
    fail(Errc::invalid_argument,
         "store {}: this handle belongs to process {}, of which {} is a fork; the child must "
         "make its own",
         where(), owner_, getpid());
  }

  void apply(ConstBytes record) {
    wire::Reader in(record);
    const auto kind = static_cast<Change>(in.get<std::uint8_t>());
    const auto key = in.text();
    switch (kind) {
      case Change::set: return map_.set(key, in.bytes());
      case Change::remove: map_.remove(key); return;
      case Change::enter: ++entered_; return;
      case Change::leave: ++left_; return;
      case Change::append: return map_.set(key, appended(key, map_.find(key), in.bytes()));
    }
    fail(Errc::connection, "store {}: a record of unknown kind {}", where(), static_cast<int>(kind));
  }

  void read_news() {
    log_.read([this](ConstBytes record) { apply(record); });
  }

  void catch_up(Deadline deadline) {
    check_owner();
    if (!log_.has_news()) return;
    const auto lock = log_.lock_shared(deadline);
    read_news();
  }

  template <class F>
  void change(F&& f) {
    std::lock_guard guard(mutex_);
    check_owner();
    const auto lock = log_.lock_exclusive(Deadline::after(lock_patience));
    read_news();
    f();
  }

  void write(Change kind, std::string_view key, ConstBytes value) {
    const Bytes frame = wire::Writer(kind).put(key).put(value).finish();
    const ConstBytes record = ConstBytes(frame).subspan(wire::prefix_bytes);
    if (record.size() > wire::max_frame) {
      fail(Errc::invalid_argument, "store {}: key and value of {} bytes together; they may have {}", where(),
           record.size(), wire::max_frame);
    }
    log_.append(record);
    apply(record);
  }

  bool value_if_there(std::string_view key, Bytes& value) const {
    const Bytes* found = map_.find(key);
    if (found) value = *found;
    return found != nullptr;
  }

  template <class F>
  void wait_until(F&& there, std::span<const std::string> keys, Deadline deadline) {
    const auto since = Deadline::Clock::now();
    for (Timeout pause = first_look_pause;; pause = std::min(2 * pause, longest_look_pause)) {
      {
        std::lock_guard guard(mutex_);
        catch_up(Deadline::after(lock_patience));
        if (there()) return;
        if (deadline.passed()) fail_missing(map_.missing(keys), since, where());
      }
      sleep(std::min(pause, deadline.left()));
    }
  }

  bool enter() {
    const auto lock = log_.lock_exclusive(Deadline::after(lock_patience));
    if (log_.is_removed()) return false;
    read_news();
    // It becomes present only now, under the lock: of two that open at once, each would take the other for a
    // survivor.
    const bool was_left_behind = entered_ > left_ || (entered_ > 0 && entered_ < expected_users_);
    if (was_left_behind && log_.is_alone()) begin_anew();
    log_.be_present();
    write(Change::enter, "", {});
    return true;
  }

  // Users that never left and are gone were killed, and users that left before all had joined have given up:
  // what they wrote means nothing to a new job.
  void begin_anew() {
    log(LogLevel::info, "{} was left behind by a job that was killed or gave up; starting afresh", where());
    log_.clear();
    map_ = {};
    entered_ = left_ = 0;
  }

  void leave() noexcept {
    try {
      const auto lock = log_.lock_exclusive(Deadline::after(farewell_patience));
      read_news();
      write(Change::leave, "", {});
      const bool is_last = left_ == entered_ || log_.is_alone();  // the others may have been killed
      if (is_last && entered_ >= expected_users_) log_.remove();  // users may leave and come back
    } catch (const std::exception& error) {
      log(LogLevel::info, "{}; the file stays", error.what());
    }
  }

  const pid_t owner_ = getpid();
  std::mutex mutex_;
  FileLog log_;
  KeyValueMap map_;
  int expected_users_;
  int entered_ = 0, left_ = 0;  // users that are counted
};

}  // namespace

std::shared_ptr<Store> make_file_store(const std::string& path, int expected_users) {
  return std::make_shared<FileStore>(path, expected_users);
}

}  // namespace dist
