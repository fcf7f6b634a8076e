#include "support/device_transport.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dist/core/device.h"
#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

namespace dist::test {

namespace {

// One side of a message: its buffer, and the point of its stream from which the buffer may be used.
struct Side {
  TensorView view;
  Event ready;
};

// Made by whichever side calls first. `copied` is made when the copy is enqueued.
struct Message {
  std::optional<Side> from, to;
  std::optional<Event> copied;
  std::string mismatch;
};

// The ranks' meeting place. Thread-safe.
class Meeting {
 public:
  Meeting(int n, const DeviceRanksOptions& options) : options_(options) {
    const int devices = device_api(DeviceType::cuda).count();
    for (int rank = 0; rank < n; ++rank) copy_streams_.emplace_back(cuda(rank % devices));
  }

  int size() const { return static_cast<int>(copy_streams_.size()); }
  const DeviceRanksOptions& options() const { return options_; }

  std::shared_ptr<Message> post(int src, int dst, Side side, bool is_send);
  void wait_for_peer(const Message& message, int rank, int peer);  // until the copy is enqueued
  bool is_copied(const Message& message);
  void drop(const std::shared_ptr<Message>& message) noexcept;
  void fail_all(const std::string& reason);

 private:
  using Queue = std::deque<std::shared_ptr<Message>>;
  void enqueue_copy(Message& message, int src, int dst);

  const DeviceRanksOptions options_;
  std::vector<Stream> copy_streams_;  // of the receiving ranks
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, Queue> waiting_;  // (src, dst): messages of which one side is known
  std::string failure_;
};

std::shared_ptr<Message> Meeting::post(int src, int dst, Side side, bool is_send) {
  const std::scoped_lock lock(mutex_);
  Queue& queue = waiting_[{src, dst}];
  const bool is_second = !queue.empty() && queue.front()->from.has_value() != is_send;
  const auto message = is_second ? queue.front() : std::make_shared<Message>();
  (is_send ? message->from : message->to) = std::move(side);
  if (!is_second) {
    queue.push_back(message);
    return message;
  }
  queue.pop_front();
  enqueue_copy(*message, src, dst);
  changed_.notify_all();
  return message;
}

void Meeting::enqueue_copy(Message& message, int src, int dst) {
  const TensorView from = message.from->view, to = message.to->view;
  if (from.bytes() != to.bytes())
    message.mismatch = fmt::format("rank {} sent {} {} to rank {}, which expected {} {}", src, from.count,
                                   name(from.dtype), dst, to.count, name(to.dtype));
  const Stream& stream = copy_streams_[static_cast<std::size_t>(dst)];
  message.from->ready.make_wait(to.device, stream.handle());
  message.to->ready.make_wait(to.device, stream.handle());
  if (message.mismatch.empty() && from.count > 0)
    device_api(to.device.type).copy(to.device, stream.handle(), to.data, from.data, to.bytes());
  message.copied.emplace(to.device);
  message.copied->record(stream.handle());
}

void Meeting::wait_for_peer(const Message& message, int rank, int peer) {
  std::unique_lock lock(mutex_);
  const bool came = changed_.wait_for(lock, options_.timeout,
                                      [&] { return message.copied.has_value() || !failure_.empty(); });
  if (!came) fail(Errc::timeout, "rank {} waited for rank {}, which has not called", rank, peer);
  if (!message.copied) fail(Errc::peer_failed, "rank {} gives up, because: {}", rank, failure_);
  if (!message.mismatch.empty()) fail(Errc::mismatch, "{}", message.mismatch);
}

bool Meeting::is_copied(const Message& message) {
  const std::scoped_lock lock(mutex_);
  return message.copied && message.copied->is_done();
}

// If it is unmatched, it must not be matched any more.
void Meeting::drop(const std::shared_ptr<Message>& message) noexcept {
  const std::scoped_lock lock(mutex_);
  for (auto& [route, queue] : waiting_) std::erase(queue, message);
}

void Meeting::fail_all(const std::string& reason) {
  const std::scoped_lock lock(mutex_);
  if (failure_.empty()) failure_ = reason;
  changed_.notify_all();
}

class DeviceTransport final : public Transport {
 public:
  DeviceTransport(Meeting& meeting, int rank, Device device)
      : meeting_(meeting), rank_(rank), device_(device) {}
  ~DeviceTransport() override {
    for (const auto& [view, event] : free_) device_api(device_.type).deallocate(device_, view.data);
  }
  using Transport::scratch;

  int rank() const override { return rank_; }
  int size() const override { return meeting_.size(); }
  Request isend(TensorView data, int dst) override { return post(data, rank_, dst, true); }
  Request irecv(TensorView data, int src) override { return post(data, src, rank_, false); }
  Scratch scratch(const TensorView& like, std::int64_t count) override;

 private:
  struct Pending {
    std::shared_ptr<Message> message;
    int peer;
  };
  Request post(TensorView data, int src, int dst, bool is_send);
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override { return meeting_.is_copied(*pending_.at(id).message); }
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;

  Meeting& meeting_;
  const int rank_;
  const Device device_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, Pending> pending_;
  std::vector<std::pair<TensorView, Event>> free_;  // scratch, and the point from which it may be used again
};

Request DeviceTransport::post(TensorView data, int src, int dst, bool is_send) {
  const int peer = is_send ? dst : src;
  if (peer < 0 || peer >= size()) fail(Errc::internal, "rank {} is not among {} device ranks", peer, size());
  if (data.device != device_)
    fail(Errc::invalid_argument, "rank {} is on {}, its message on {}", rank_, device_.str(),
         data.device.str());
  Event ready(device_);
  ready.record(current_stream(device_));
  pending_[next_id_] = {meeting_.post(src, dst, {data, std::move(ready)}, is_send), peer};
  return {this, next_id_++};
}

int DeviceTransport::wait(std::uint64_t id) {
  const Pending done = pending_.extract(id).mapped();
  try {
    meeting_.wait_for_peer(*done.message, rank_, done.peer);
  } catch (...) {
    meeting_.drop(done.message);
    throw;
  }
  if (meeting_.options().wait_for_copies) done.message->copied->make_wait(device_, current_stream(device_));
  return done.peer;
}

void DeviceTransport::cancel(std::uint64_t id) noexcept {
  const Pending given_up = pending_.extract(id).mapped();
  meeting_.drop(given_up.message);
  if (given_up.message->copied) given_up.message->copied->make_wait(device_, current_stream(device_));
}

// A block that was freed is used again as soon as the current stream has passed the point of its last use.
Scratch DeviceTransport::scratch(const TensorView& like, std::int64_t count) {
  const TensorView wanted{nullptr, count, like.dtype, device_};
  for (auto block = free_.begin(); block != free_.end(); ++block) {
    if (block->first.bytes() != wanted.bytes()) continue;
    block->second.make_wait(device_, current_stream(device_));
    const TensorView again{block->first.data, count, like.dtype, device_};
    free_.erase(block);
    return {this, again};
  }
  auto* memory = static_cast<std::byte*>(device_api(device_.type).allocate(device_, wanted.bytes()));
  return {this, {memory, count, like.dtype, device_}};
}

void DeviceTransport::free_scratch(TensorView view) noexcept {
  Event last_use(device_);
  last_use.record(current_stream(device_));
  free_.emplace_back(view, std::move(last_use));
}

}  // namespace

void run_device_ranks(int n, const std::function<void(Transport&, Device)>& rank_main,
                      const DeviceRanksOptions& options) {
  Meeting meeting(n, options);
  std::mutex mutex;
  std::exception_ptr first;
  const int devices = device_api(DeviceType::cuda).count();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank)
    threads.emplace_back([&, rank] {
      set_current_rank_label(rank);
      try {
        const Device device = cuda(rank % devices);
        const Stream stream(device);
        const StreamGuard guard(device, stream.handle());
        DeviceTransport net(meeting, rank, device);
        rank_main(net, device);
      } catch (const std::exception& error) {
        {
          const std::scoped_lock lock(mutex);
          if (!first) first = std::current_exception();
        }
        meeting.fail_all(fmt::format("rank {}: {}", rank, error.what()));
      }
    });
  for (auto& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace dist::test
