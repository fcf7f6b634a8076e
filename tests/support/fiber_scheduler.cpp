#include "support/fiber_scheduler.h"

#include <algorithm>

#include "dist/core/fail.h"
#include "dist/core/rank_label.h"

namespace dist::test {

FiberScheduler::FiberScheduler(int n, const FiberOptions& options, const std::function<void(int)>& body)
    : network_(n, options), ranks_(static_cast<std::size_t>(n)) {
  for (int r = 0; r < n; ++r) {
    ranks_[r].fiber = std::make_unique<Fiber>(options.stack_bytes, [this, r, &body] { run_body(r, body); });
    make_ready(r);
  }
}

void FiberScheduler::run_body(int rank, const std::function<void(int)>& body) {
  try {
    body(rank);
  } catch (const Error& e) {
    fail_all(Error(e.code(), fmt::format("rank {}: {}", rank, e.what())));
  } catch (const std::exception& e) {
    fail_all(Error(Errc::internal, fmt::format("rank {}: {}", rank, e.what())));
  }
}

void FiberScheduler::run() {
  const int label_before = current_rank_label();
  run_until_nobody_can();
  if (!std::ranges::all_of(ranks_, [](const Rank& r) { return r.fiber->is_done(); })) {
    fail_all(Error(Errc::timeout, "deadlock: " + who_waits_for_whom()));
    run_until_nobody_can();
  }
  set_current_rank_label(label_before);
  if (failure_) throw *failure_;
  check_nothing_is_left();
}

// At equal times ranks go first: what they post now may compete for the ports.
void FiberScheduler::run_until_nobody_can() {
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

void FiberScheduler::wake_sides(const Message& message) {
  for (int rank : {message.src, message.dst}) {
    Rank& side = ranks_[rank];
    if (!side.blocked_on || side.blocked_on->message.get() != &message || !side.blocked_on->is_done())
      continue;
    side.blocked_on.reset();
    side.clock = std::max(side.clock, message.ends);
    make_ready(rank);
  }
}

Transfer FiberScheduler::post_send(int rank, TensorView data, int dst) {
  throw_if_failed(rank);
  return network_.post_send(rank, data, dst, ranks_[rank].clock);
}

Transfer FiberScheduler::post_receive(int rank, TensorView data, int src) {
  throw_if_failed(rank);
  return network_.post_receive(rank, data, src, ranks_[rank].clock);
}

void FiberScheduler::wait_for(int rank, const Transfer& transfer) {
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

// Polling takes one round, so a polling loop advances the clock.
bool FiberScheduler::poll(int rank, const Transfer& transfer) {
  std::int64_t& clock = ranks_[rank].clock;
  const auto done = [&] { return transfer.is_done() && transfer.message->ends <= clock; };
  if (done()) return true;
  ++clock;
  make_ready(rank);
  pause(rank);
  return done();
}

void FiberScheduler::drop(int rank, const Transfer& transfer) noexcept {
  dropped_by_ = rank;
  network_.drop(transfer);
}

// Lets the scheduler go on until it is this rank's turn again.
void FiberScheduler::pause(int rank) {
  ranks_[rank].fiber->suspend();
  throw_if_failed(rank);
}

void FiberScheduler::throw_if_failed(int rank) const {
  if (failure_) fail(Errc::peer_failed, "rank {} gives up, because: {}", rank, failure_->what());
}

// The first failure counts; every other rank is woken to find it.
void FiberScheduler::fail_all(Error failure) {
  if (failure_) return;
  failure_ = std::move(failure);
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r)
    if (std::exchange(ranks_[r].blocked_on, std::nullopt)) make_ready(r);
}

std::string FiberScheduler::who_waits_for_whom() const {
  constexpr int most = 32;
  std::string text;
  int count = 0;
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
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

void FiberScheduler::check_nothing_is_left() const {
  if (dropped_by_ >= 0) fail(Errc::internal, "rank {} dropped a Request without wait()", dropped_by_);
  if (const Message* m = network_.left_over())
    fail(Errc::internal, "rank {} never received a message from rank {}", m->dst, m->src);
}

}  // namespace dist::test
