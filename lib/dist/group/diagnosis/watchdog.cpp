// The watchdog. loop() runs on a thread that sleeps in the store until a rank asks, and answers with this
// rank's snapshot. ask() puts a question to all ranks, or reads the answers to one that another rank has just
// put, and collect() gathers them; Answer words them. The first functions name the keys in the store.
#include "dist/group/diagnosis/watchdog.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "dist/check/who.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/core/start_thread.h"
#include "dist/group/diagnosis/bounded.h"

namespace dist {
namespace {

// Every rank numbers the rounds in the same way: a round ends on a rank when it has answered.
std::string question_key(std::int64_t round, int rank) { return fmt::format("stall/{}/ask/{}", round, rank); }
std::string answer_key(std::int64_t round, int rank) {
  return fmt::format("stall/{}/answer/{}", round, rank);
}
std::string left_key(int rank) { return fmt::format("stall/left/{}", rank); }

check::RankSays words_of(const Snapshot& snapshot) {
  switch (snapshot.state) {
    case Snapshot::State::present:
      return {snapshot.rank, snapshot.activity, fmt::format(" ({:.1f} s)", snapshot.activity_s)};
    case Snapshot::State::left:
    case Snapshot::State::failed: return {snapshot.rank, "no longer in the job", ""};
    case Snapshot::State::silent: return {snapshot.rank, "silent: dead or stuck", ""};
  }
  __builtin_unreachable();
}

constexpr std::string_view in_order = "in order";

}  // namespace

struct Watchdog::Shared {
  std::shared_ptr<Store> store;
  std::shared_ptr<const FlightLog> log;
  std::atomic<std::int64_t> round{0};
  std::atomic<Deadline::Clock::rep> answered_at{0};  // when this rank answered the previous round
  std::atomic<bool> stopping{false}, leaves_in_order{false};
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
};

Watchdog::Watchdog(std::shared_ptr<Store> store, std::shared_ptr<const FlightLog> log)
    : shared_(std::make_shared<Shared>()) {
  shared_->store = std::move(store);
  shared_->log = std::move(log);
  if (shared_->log->world_size == 1) return;  // no rank will ask
  thread_ = start_thread("the watchdog", [shared = shared_] { loop(*shared); });
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  // The thread is joined, so that nothing of the store outlives this: a file store removes its file at its
  // end.
  is_ending() ? thread_.join() : thread_.detach();
}

// Says goodbye; false when the loop did not react in time, because the store does not answer.
bool Watchdog::is_ending() {
  shared_->stopping = true;
  constexpr Timeout patience = std::chrono::seconds(1);
  const auto say_goodbye = [shared = shared_] {
    try {
      std::unique_lock lock(shared->mutex);
      if (shared->ended) return;
      lock.unlock();
      const int rank = shared->log->rank;
      shared->store->set(left_key(rank), std::string(shared->leaves_in_order ? in_order : "failed"));
      // The loop may be between two rounds, so the question is put in both.
      const auto round = shared->round.load();
      shared->store->set(question_key(round, rank), "stop");
      shared->store->set(question_key(round + 1, rank), "stop");
    } catch (const std::exception&) {
      // Without a store the loop ends by itself.
    }
  };
  try {
    if (!run_within(patience, say_goodbye)) return false;  // the loop is stuck as well
  } catch (const std::exception&) {
    return false;  // no thread could be started: the loop keeps running on the shared state
  }
  std::unique_lock lock(shared_->mutex);
  return shared_->changed.wait_for(lock, patience, [this] { return shared_->ended; });
}

void Watchdog::leaving(bool in_order_) { shared_->leaves_in_order = in_order_; }

void Watchdog::loop(Shared& shared) {
  const int rank = shared.log->rank;
  set_current_rank_label(rank);
  try {
    while (true) {
      const auto round = shared.round.load();
      shared.store->get(question_key(round, rank), Deadline::never());
      if (shared.stopping) break;
      answer(shared, round);
      shared.answered_at = Deadline::Clock::now().time_since_epoch().count();
      shared.round = round + 1;
    }
  } catch (const std::exception& error) {
    log(LogLevel::debug, "watchdog: {}", error.what());  // the store has gone, and the job with it
  }
  std::lock_guard lock(shared.mutex);
  shared.ended = true;
  shared.changed.notify_all();
}

// The first answer stays: a rank that gives up answers for itself before its error lets it go on.
void Watchdog::answer(Shared& shared, std::int64_t round) {
  const Bytes text = to_bytes(encode(take_snapshot(*shared.log)));
  shared.store->compare_set(answer_key(round, shared.log->rank), {}, text);
}

// When several ranks give up at the same moment, the question of the first one fixes the snapshots for all:
// an answer that is half a second younger would show what a rank did after its own error. A call that was
// begun since then belongs to another moment.
std::int64_t Watchdog::round_to_read(const Shared& shared, Deadline::Clock::time_point since) {
  constexpr auto same_moment = std::chrono::milliseconds(500);
  const auto round = shared.round.load();
  const auto answered_at = Deadline::Clock::time_point(Deadline::Clock::duration(shared.answered_at.load()));
  const bool is_told = answered_at > since && Deadline::Clock::now() - answered_at < same_moment;
  return round > 0 && is_told ? round - 1 : round;
}

Watchdog::Answer Watchdog::collect(Shared& shared, Deadline::Clock::time_point since, Deadline deadline) {
  const auto round = round_to_read(shared, since);
  auto begin = Deadline::Clock::now();
  if (round == shared.round.load())
    answer(shared, round);
  else
    begin = Deadline::Clock::time_point(Deadline::Clock::duration(shared.answered_at.load()));
  const int n = shared.log->world_size;
  std::vector<std::string> answers;
  for (int rank = 0; rank < n; ++rank) {
    shared.store->set(question_key(round, rank), "1");
    if (rank != shared.log->rank && !shared.store->check(std::array{left_key(rank)})) {
      answers.push_back(answer_key(round, rank));
    }
  }
  try {
    shared.store->wait(answers, deadline);
  } catch (const Error& error) {
    if (error.code() != Errc::timeout) throw;  // otherwise: ranks that have not answered are marked below
  }
  Answer all;
  for (int rank = 0; rank < n; ++rank) {
    Snapshot snapshot;
    if (rank == shared.log->rank) {
      snapshot = take_snapshot(*shared.log);
    } else if (shared.store->check(std::array{answer_key(round, rank)})) {
      snapshot = decode_snapshot(shared.store->get_text(answer_key(round, rank), deadline));
    } else if (shared.store->check(std::array{left_key(rank)})) {
      const bool left = shared.store->get_text(left_key(rank), deadline) == in_order;
      snapshot.state = left ? Snapshot::State::left : Snapshot::State::failed;
    }
    snapshot.rank = rank;
    all.snapshots.push_back(std::move(snapshot));
  }
  all.took = Deadline::Clock::now() - begin;
  return all;
}

std::string Watchdog::Answer::others(int rank) const {
  std::vector<check::RankSays> said;
  for (const Snapshot& snapshot : snapshots)
    if (snapshot.rank != rank) said.push_back(words_of(snapshot));
  return check::who_says_what(said, "is ", "are ");
}

std::chrono::milliseconds Watchdog::Answer::settled(int rank, std::uint64_t record) const {
  using std::chrono::milliseconds;
  constexpr milliseconds least{100}, most{10'000};
  const SnapshotCall* const failed = snapshots[static_cast<std::size_t>(rank)].find(record);
  const auto quarter = failed ? failed->age / 4 : least;
  return std::clamp(quarter, least, most) + std::chrono::duration_cast<milliseconds>(took);
}

Watchdog::Answer Watchdog::ask(Deadline::Clock::time_point since, Timeout patience) noexcept {
  struct Slot {
    std::mutex mutex;
    Answer answer;
  };
  try {
    const auto slot = std::make_shared<Slot>();
    const auto deadline = Deadline::after(patience);
    const auto ask_all = [shared = shared_, slot, since, deadline] {
      try {
        auto all = collect(*shared, since, deadline);
        std::lock_guard lock(slot->mutex);
        slot->answer = std::move(all);
      } catch (const std::exception& error) {
        log(LogLevel::debug, "watchdog: {}", error.what());
      }
    };
    constexpr Timeout for_the_reading = std::chrono::milliseconds(200);
    run_within(patience + for_the_reading, ask_all);
    std::lock_guard lock(slot->mutex);
    return std::move(slot->answer);
  } catch (const std::exception&) {
    return {};  // no thread or memory: the error is thrown without the others' state
  }
}

}  // namespace dist
