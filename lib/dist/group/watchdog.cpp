#include "dist/group/watchdog.h"

#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/core/rank_label.h"
#include "dist/group/bounded.h"
#include "dist/group/report.h"

namespace dist {
namespace {

// Rounds are numbered on each rank alike: a round ends on a rank when it has answered.
std::string question_key(std::int64_t round, int rank) { return fmt::format("stall/{}/ask/{}", round, rank); }
std::string answer_key(std::int64_t round, int rank) {
  return fmt::format("stall/{}/answer/{}", round, rank);
}
std::string left_key(int rank) { return fmt::format("stall/left/{}", rank); }

std::string encode(const Activity& activity) {
  const auto seconds = std::chrono::duration<double>(activity.age).count();
  return fmt::format("{:.1f}\n{}", seconds, activity.what);
}

RankSays decode(int rank, const std::string& answer) {
  const auto end = answer.find('\n');
  return {rank, answer.substr(end + 1), fmt::format(" ({} s)", answer.substr(0, end))};
}

}  // namespace

struct Watchdog::Shared {
  std::shared_ptr<Store> store;
  std::shared_ptr<const FlightLog> log;
  std::atomic<std::int64_t> round{0};
  std::atomic<Deadline::Clock::rep> answered_at{0};  // when this rank answered the round before
  std::atomic<bool> stopping{false};
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false;
};

Watchdog::Watchdog(std::shared_ptr<Store> store, std::shared_ptr<const FlightLog> log)
    : shared_(std::make_shared<Shared>()) {
  shared_->store = std::move(store);
  shared_->log = std::move(log);
  if (shared_->log->world_size == 1) {
    shared_->ended = true;  // nobody will ask
    return;
  }
  try {
    std::thread([shared = shared_] { loop(shared); }).detach();
  } catch (const std::system_error& error) {
    fail(Errc::resource, "rank {}: no thread for the watchdog: {}", shared_->log->rank, error.what());
  }
}

Watchdog::~Watchdog() {
  shared_->stopping = true;
  constexpr Timeout patience = std::chrono::seconds(1);
  const auto say_goodbye = [shared = shared_] {
    try {
      std::unique_lock lock(shared->mutex);
      if (shared->ended) return;
      lock.unlock();
      const int rank = shared->log->rank;
      shared->store->set(left_key(rank), "1");
      // The loop may be between two rounds: ask in both.
      const auto round = shared->round.load();
      shared->store->set(question_key(round, rank), "stop");
      shared->store->set(question_key(round + 1, rank), "stop");
    } catch (const std::exception&) {
      // Without a store the loop ends by itself.
    }
  };
  try {
    if (!run_within(patience, say_goodbye)) return;  // the loop is as stuck as we were
  } catch (const std::exception&) {
    return;  // no thread to be had: the loop goes on with what it shares
  }
  std::unique_lock lock(shared_->mutex);
  shared_->changed.wait_for(lock, patience, [this] { return shared_->ended; });
}

void Watchdog::loop(const std::shared_ptr<Shared>& shared) {
  const int rank = shared->log->rank;
  set_current_rank_label(rank);
  try {
    while (true) {
      const auto round = shared->round.load();
      shared->store->get(question_key(round, rank), Deadline::never());
      if (shared->stopping) break;
      answer(*shared, round);
      shared->answered_at = Deadline::Clock::now().time_since_epoch().count();
      shared->round = round + 1;
    }
  } catch (const std::exception& error) {
    log(LogLevel::debug, "watchdog: {}", error.what());  // the store has gone, and the job with it
  }
  std::lock_guard lock(shared->mutex);
  shared->ended = true;
  shared->changed.notify_all();
}

// The first answer stays: a rank that gives up answers for itself, before its error makes it go on.
void Watchdog::answer(Shared& shared, std::int64_t round) {
  const Bytes text = to_bytes(encode(shared.log->recorder.activity()));
  shared.store->compare_set(answer_key(round, shared.log->rank), {}, text);
}

// When several ranks give up at the same moment, the first one's question fixes the picture for all: an
// answer that is half a second younger would tell of what a rank did after its own error.
std::int64_t Watchdog::round_to_read(const Shared& shared) {
  constexpr auto same_moment = std::chrono::milliseconds(500);
  const auto round = shared.round.load();
  const auto answered_at = Deadline::Clock::time_point(Deadline::Clock::duration(shared.answered_at.load()));
  return round > 0 && Deadline::Clock::now() - answered_at < same_moment ? round - 1 : round;
}

std::string Watchdog::collect(Shared& shared, Deadline deadline) {
  const auto round = round_to_read(shared);
  answer(shared, round);
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
    if (error.code() != Errc::timeout) throw;  // else: those who have not answered are told below
  }
  std::vector<RankSays> said;
  for (int rank = 0; rank < n; ++rank) {
    if (rank == shared.log->rank) continue;
    if (shared.store->check(std::array{answer_key(round, rank)})) {
      said.push_back(decode(rank, shared.store->get_text(answer_key(round, rank), deadline)));
    } else if (shared.store->check(std::array{left_key(rank)})) {
      said.push_back({rank, "out of the job: it has left", ""});
    } else {
      said.push_back({rank, "silent: dead or stuck", ""});
    }
  }
  return who_says_what(said, "is ", "are ");
}

std::string Watchdog::ask(Timeout patience) noexcept {
  struct Answer {
    std::mutex mutex;
    std::string text;
  };
  try {
    const auto answer = std::make_shared<Answer>();
    const auto deadline = Deadline::after(patience);
    const auto ask_all = [shared = shared_, answer, deadline] {
      try {
        auto text = collect(*shared, deadline);
        std::lock_guard lock(answer->mutex);
        answer->text = std::move(text);
      } catch (const std::exception& error) {
        log(LogLevel::debug, "watchdog: {}", error.what());
      }
    };
    constexpr Timeout for_the_reading = std::chrono::milliseconds(200);
    run_within(patience + for_the_reading, ask_all);
    std::lock_guard lock(answer->mutex);
    return answer->text;
  } catch (const std::exception&) {
    return {};  // no thread, no memory: the error is thrown without the others' state
  }
}

}  // namespace dist
