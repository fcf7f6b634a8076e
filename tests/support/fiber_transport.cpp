#include "support/fiber_transport.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

#include "support/fiber.h"
#include "support/fiber_network.h"

namespace dist::testing {

namespace {

class World;

class FiberNet final : public Transport {
 public:
  FiberNet(World& world, int rank) : world_(world), rank_(rank) {}
  using Transport::scratch;
  int rank() const override { return rank_; }
  int size() const override;
  Request isend(TensorView data, int dst) override;
  Request irecv(TensorView data, int src) override;
  Scratch scratch(const TensorView& like, std::int64_t count) override;

  RankTraffic traffic;

 private:
  int wait(std::uint64_t id) override;
  bool test(std::uint64_t id) override;
  void cancel(std::uint64_t id) noexcept override;
  void free_scratch(TensorView view) noexcept override;

  World& world_;
  const int rank_;
  std::uint64_t next_id_ = 1;
  std::unordered_map<std::uint64_t, Transfer> pending_;
  std::int64_t scratch_bytes_ = 0;
};

struct Rank {
  std::unique_ptr<FiberNet> net;
  std::unique_ptr<Fiber> fiber;
  std::int64_t clock = 0;
  std::optional<Transfer> blocked_on;
};

// The scheduler: ranks and messages in the order of virtual time.
class World {
 public:
  World(int n, const std::function<void(Transport&)>& rank_main, const FiberOptions& options);
  FiberReport run();

  int size() const { return static_cast<int>(ranks_.size()); }
  Transfer post_send(int rank, TensorView data, int dst);
  Transfer post_receive(int rank, TensorView data, int src);
  void wait_for(int rank, const Transfer& transfer);
  bool poll(int rank, const Transfer& transfer);
  void drop(int rank, const Transfer& transfer) noexcept;

 private:
  void body(int rank, const std::function<void(Transport&)>& rank_main);
  void run_until_nobody_can();
  void make_ready(int rank) { ready_.emplace(ranks_[rank].clock, rank); }
  void pause(int rank);
  void wake_sides(const Message& message);
  void throw_if_failed(int rank) const;
  void fail_all(Error failure);
  std::string who_waits_for_whom() const;
  void check_nothing_is_left() const;

  Network network_;
  std::vector<Rank> ranks_;
  std::set<std::pair<std::int64_t, int>> ready_;  // (clock, rank)
  std::optional<Error> failure_;
  int dropped_by_ = -1;
};

World::World(int n, const std::function<void(Transport&)>& rank_main, const FiberOptions& options)
    : network_(n, options), ranks_(static_cast<std::size_t>(n)) {
  for (int r = 0; r < n; ++r) {
    ranks_[r].net = std::make_unique<FiberNet>(*this, r);
    ranks_[r].fiber =
        std::make_unique<Fiber>(options.stack_bytes, [this, r, &rank_main] { body(r, rank_main); });
    make_ready(r);
  }
}

void World::body(int rank, const std::function<void(Transport&)>& rank_main) {
  try {
    rank_main(*ranks_[rank].net);
  } catch (const Error& e) {
    fail_all(Error(e.code(), fmt::format("rank {}: {}", rank, e.what())));
  } catch (const std::exception& e) {
    fail_all(Error(Errc::internal, fmt::format("rank {}: {}", rank, e.what())));
  }
}

FiberReport World::run() {
  const int label_before = current_rank_label();
  run_until_nobody_can();
  if (!std::ranges::all_of(ranks_, [](const Rank& r) { return r.fiber->is_done(); })) {
    fail_all(Error(Errc::timeout, "deadlock: " + who_waits_for_whom()));
    run_until_nobody_can();
  }
  set_current_rank_label(label_before);
  if (failure_) throw *failure_;
  check_nothing_is_left();
  FiberReport report;
  for (Rank& r : ranks_) {
    r.net->traffic.rounds = r.clock;
    report.rounds = std::max(report.rounds, r.clock);
    report.ranks.push_back(std::move(r.net->traffic));
  }
  return report;
}

// At equal times ranks go first: what they post now may compete for the ports.
void World::run_until_nobody_can() {
  for (;;) {
    const auto start = network_.next_start();
    if (!ready_.empty() && (!start || ready_.begin()->first <= *start)) {
      const int rank = ready_.extract(ready_.begin()).value().second;
      set_current_rank_label(rank);
      ranks_[rank].fiber->resume();
    } else if (start) {
      if (const auto message = network_.start_next()) wake_sides(*message);
    } else {
      return;
    }
  }
}

void World::wake_sides(const Message& message) {
  for (int rank : {message.src, message.dst}) {
    Rank& side = ranks_[rank];
    if (!side.blocked_on || side.blocked_on->message.get() != &message || !side.blocked_on->is_done())
      continue;
    side.blocked_on.reset();
    side.clock = std::max(side.clock, message.ends);
    make_ready(rank);
  }
}

Transfer World::post_send(int rank, TensorView data, int dst) {
  throw_if_failed(rank);
  return network_.post_send(rank, data, dst, ranks_[rank].clock);
}

Transfer World::post_receive(int rank, TensorView data, int src) {
  throw_if_failed(rank);
  return network_.post_receive(rank, data, src, ranks_[rank].clock);
}

void World::wait_for(int rank, const Transfer& transfer) {
  throw_if_failed(rank);
  if (transfer.is_done()) {
    ranks_[rank].clock = std::max(ranks_[rank].clock, transfer.message->ends);
    make_ready(rank);
  } else {
    ranks_[rank].blocked_on = transfer;
  }
  pause(rank);
  if (transfer.is_send)
    transfer.message->load();
  else
    transfer.message->deliver();
}

// Looking takes a round, so that a loop of looking moves time on.
bool World::poll(int rank, const Transfer& transfer) {
  std::int64_t& clock = ranks_[rank].clock;
  const auto done = [&] { return transfer.is_done() && transfer.message->ends <= clock; };
  if (done()) return true;
  ++clock;
  make_ready(rank);
  pause(rank);
  return done();
}

void World::drop(int rank, const Transfer& transfer) noexcept {
  dropped_by_ = rank;
  network_.drop(transfer);
}

// Lets the scheduler go on until it is this rank's turn again.
void World::pause(int rank) {
  ranks_[rank].fiber->suspend();
  throw_if_failed(rank);
}

void World::throw_if_failed(int rank) const {
  if (failure_) fail(Errc::peer_failed, "rank {} gives up, because: {}", rank, failure_->what());
}

// The first failure counts; every other rank is woken to find it.
void World::fail_all(Error failure) {
  if (failure_) return;
  failure_ = std::move(failure);
  for (int r = 0; r < size(); ++r)
    if (std::exchange(ranks_[r].blocked_on, std::nullopt)) make_ready(r);
}

std::string World::who_waits_for_whom() const {
  constexpr int most = 32;
  std::string text;
  int count = 0;
  for (int r = 0; r < size(); ++r) {
    const auto& transfer = ranks_[r].blocked_on;
    if (!transfer || ++count > most) continue;
    const Message& m = *transfer->message;
    text += fmt::format("{}rank {} waits ", count > 1 ? "; " : "", r);
    if (transfer->is_send)
      text += fmt::format("for rank {} to receive {} bytes", m.dst, m.from->bytes());
    else if (m.src == any_rank)
      text += fmt::format("for {} bytes from any rank", m.to->bytes());
    else
      text += fmt::format("for {} bytes from rank {}", m.to->bytes(), m.src);
  }
  return count > most ? text + fmt::format("; and {} more ranks", count - most) : text;
}

void World::check_nothing_is_left() const {
  if (dropped_by_ >= 0) fail(Errc::internal, "rank {} dropped a Request without wait()", dropped_by_);
  if (const Message* m = network_.left_over())
    fail(Errc::internal, "rank {} never received a message of rank {}", m->dst, m->src);
}

int FiberNet::size() const { return world_.size(); }

Request FiberNet::isend(TensorView data, int dst) {
  if (dst < 0 || dst >= size())
    fail(Errc::invalid_argument, "rank {} sends to rank {} of {}", rank_, dst, size());
  ++traffic.messages_sent, traffic.bytes_sent += static_cast<std::int64_t>(data.bytes());
  traffic.sent_to.insert(dst);
  pending_[next_id_] = world_.post_send(rank_, data, dst);
  return Request(this, next_id_++);
}

Request FiberNet::irecv(TensorView data, int src) {
  if (src < any_rank || src >= size())
    fail(Errc::invalid_argument, "rank {} receives from rank {} of {}", rank_, src, size());
  pending_[next_id_] = world_.post_receive(rank_, data, src);
  return Request(this, next_id_++);
}

int FiberNet::wait(std::uint64_t id) {
  const auto node = pending_.extract(id);
  if (node.empty()) fail(Errc::internal, "rank {} waits twice for one Request", rank_);
  const Transfer& transfer = node.mapped();
  world_.wait_for(rank_, transfer);
  const Message& m = *transfer.message;
  if (transfer.is_send) return m.dst;
  ++traffic.messages_received, traffic.bytes_received += static_cast<std::int64_t>(m.to->bytes());
  traffic.received_from.insert(m.src);
  return m.src;
}

bool FiberNet::test(std::uint64_t id) { return world_.poll(rank_, pending_.at(id)); }

void FiberNet::cancel(std::uint64_t id) noexcept {
  if (const auto node = pending_.extract(id)) world_.drop(rank_, node.mapped());
}

Scratch FiberNet::scratch(const TensorView& like, std::int64_t count) {
  TensorView view{nullptr, count, like.dtype, like.device};
  view.data = new std::byte[view.bytes()];
  scratch_bytes_ += static_cast<std::int64_t>(view.bytes());
  traffic.peak_scratch_bytes = std::max(traffic.peak_scratch_bytes, scratch_bytes_);
  return Scratch(this, view);
}

void FiberNet::free_scratch(TensorView view) noexcept {
  scratch_bytes_ -= static_cast<std::int64_t>(view.bytes());
  delete[] view.data;
}

}  // namespace

FiberReport run_fibers(int n, const std::function<void(Transport& net)>& rank_main,
                       const FiberOptions& options) {
  return World(n, rank_main, options).run();
}

}  // namespace dist::testing
