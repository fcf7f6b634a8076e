#include "attempt.h"

#include <algorithm>
#include <cerrno>
#include <chrono>

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include "dist/check/who.h"

namespace distrun {
namespace {

using dist::Deadline;

constexpr double silence_s = 1;  // most ranks end within it after a failure, so distrun stays silent
constexpr auto drain_patience = std::chrono::milliseconds(200);
constexpr int words_lines = 5, report_lines = 10;

}  // namespace

Attempt::Attempt(const Stage& stage, const Command& command, int number)
    : stage_(stage),
      command_(command),
      number_(number),
      watcher_(stage.nodes.board(), number, stage.options.monitor_interval_s) {}

Outcome Attempt::run() {
  for (int local_rank = 0; local_rank < stage_.nodes.place().local_size; ++local_rank, ++running_)
    ranks_.push_back(LocalRank::start(stage_, command_, number_, local_rank));
  while (running_ > 0) {
    wait_for_events();
    for (LocalRank& local : ranks_) {
      local.read(stage_.out, stage_.err);
      local.out.show_unfinished(), local.err.show_unfinished();
    }
    obey_signals();
    collect_ended();
    if (auto news = watcher_.news()) obey_news(*news);
    stop_if_output_broke();
    advance();
  }
  for (LocalRank& local : ranks_) {  // the ranks' own children may have written something meanwhile
    local.read(stage_.out, stage_.err);
    local.out.finish(), local.err.finish();
  }
  end_orphans(stage_.guardian.pid());
  return std::move(outcome_);
}

void Attempt::wait_for_events() {
  std::vector<pollfd> events{{stage_.signals.fd(), POLLIN, 0}, {watcher_.fd(), POLLIN, 0}};
  for (const LocalRank& local : ranks_) {
    if (local.out_open && !stage_.out.is_full()) events.push_back({local.worker.out(), POLLIN, 0});
    if (local.err_open && !stage_.err.is_full()) events.push_back({local.worker.err(), POLLIN, 0});
  }
  for (const Outlet* outlet : {&stage_.out, &stage_.err}) {
    if (outlet->is_waiting()) events.push_back({outlet->fd(), POLLOUT, 0});
  }
  Deadline next = deadline_;
  for (const LocalRank& local : ranks_) {
    if (local.worker.is_reaped() && !local.noted) next = Deadline::sooner(next, local.drain);
    next = Deadline::sooner(next, Deadline::sooner(local.out.due(), local.err.due()));
  }
  poll(events.data(), events.size(), next.poll_ms());
  stage_.out.pump();
  stage_.err.pump();
}

// A rank counts as ended when its leader is gone and its output has been read to the end, because that output
// must be shown before the report about the end. A process that left the rank's group may hold the streams
// open; we do not wait for it.
void Attempt::collect_ended() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    LocalRank& local = ranks_[i];
    if (local.noted) continue;
    if (!local.worker.is_reaped()) {
      if (!local.worker.reap()) continue;
      stage_.guardian.forget(local.worker.pid());
      local.drain = Deadline::after(drain_patience);
    }
    const bool blocked = stage_.out.is_full() || stage_.err.is_full();
    const bool all_read = (!local.out_open && !local.err_open) || (local.drain.passed() && !blocked);
    if (!all_read && phase_ != Phase::killing) continue;
    local.noted = true;
    --running_;
    note_end(static_cast<int>(i), local);
  }
}

void Attempt::note_end(int local_rank, const LocalRank& local) {
  const int rank = stage_.nodes.place().first_rank + local_rank, status = local.worker.status();
  if (status == 0) return stage_.nodes.report_end(number_, rank);
  if (phase_ >= Phase::stopping) {
    outcome_.ended.push_back(rank);
    return;
  }
  Ended end{
      {rank, std::chrono::steady_clock::now(), describe_status(status), local.tail->last_lines(words_lines)},
      status,
      local.worker.pid(),
      local.tail->last_lines(report_lines),
      error_in(local.error_file)};
  // An uncaught error ends in abort(), and its message counts. The message of a rank that died of any other
  // signal has nothing to do with its end.
  if (WIFSIGNALED(status) && WTERMSIG(status) != SIGABRT) end.failure.last_words.clear();
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) end.failure.what += oom_kills_.explain();
  stage_.nodes.report_failure(number_, end.failure);
  outcome_.failed.push_back(std::move(end));
  wait_for_reports();
}

void Attempt::obey_signals() {
  for (int number; (number = stage_.signals.next()) != 0;) obey(number);
}

void Attempt::obey(int number) {
  switch (number) {
    case SIGCHLD: return;
    case SIGUSR1:
    case SIGUSR2:
    case SIGCONT: return signal_all(number);
    case SIGTSTP: return pause();
    default:
      if (outcome_.signal != 0) {
        if (stage_.signals.is_echo()) return;
        stage_.err.say(fmt::format("a second {}: killing {}", signal_name(number), still_running()));
        signal_all(SIGKILL);
        return enter(Phase::killing, 1);
      }
      outcome_.signal = number;
      stage_.err.say(fmt::format("{}: passed on to {}, which may take {:g} s to end; a second one kills them",
                                 signal_name(number), still_running(), stage_.options.grace_s));
      stop(number);
  }
}

// Ctrl-Z reaches only distrun, because each rank leads a process group of its own.
void Attempt::pause() {
  signal_all(SIGTSTP);
  if (!stage_.signals.stop_here()) signal_all(SIGCONT);
}

// distrun ends like any program whose pipe breaks: "distrun ... | head" ends all ranks. A full disk ends
// them, too.
void Attempt::stop_if_output_broke() {
  if (!stage_.out.is_broken() || phase_ >= Phase::stopping) return;
  if (stage_.out.error() == EPIPE && !stage_.signals.inherited().ignores(SIGPIPE))
    outcome_.signal = SIGPIPE;
  else
    outcome_.output_error = stage_.out.error();
  stop(SIGTERM);
}

// All nodes have agreed that the attempt ends. Ranks that are being stopped already have the time that they
// were promised.
void Attempt::obey_news(const std::string& news) {
  outcome_.elsewhere = news;
  if (news != a_node_joins) return wait_for_reports();
  if (phase_ < Phase::stopping) stop(SIGTERM);
}

void Attempt::wait_for_reports() {
  if (phase_ == Phase::running) enter(Phase::failing, std::min(silence_s, stage_.options.grace_s));
}

void Attempt::advance() {
  if (!deadline_.passed()) return;
  const double grace_s = stage_.options.grace_s;
  switch (phase_) {
    case Phase::running: return;
    case Phase::failing:
      if (grace_s <= silence_s) break;
      stage_.err.say(fmt::format("{}; waiting up to {:g} s for the report of {}", known_cause(), grace_s,
                                 still_running()));
      return enter(Phase::reporting, grace_s - silence_s);
    case Phase::reporting: break;
    case Phase::stopping:
      stage_.err.say(fmt::format("killing {}: still running {:g} s after {}", still_running(), grace_s,
                                 signal_name(stop_signal_)));
      [[fallthrough]];
    case Phase::killing: signal_all(SIGKILL); return enter(Phase::killing, 1);
  }
  stage_.err.say(fmt::format("{}; sending SIGTERM to {}: still running {:g} s later", known_cause(),
                             still_running(), grace_s));
  stop(SIGTERM);
}

void Attempt::stop(int number) {
  stop_signal_ = number;
  signal_all(number);
  enter(Phase::stopping, stage_.options.grace_s);
}

void Attempt::enter(Phase phase, double seconds) {
  phase_ = phase;
  deadline_ =
      Deadline::after(std::chrono::duration_cast<dist::Timeout>(std::chrono::duration<double>(seconds)));
}

std::string Attempt::still_running() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (!ranks_[i].noted) ranks.push_back(stage_.nodes.place().first_rank + static_cast<int>(i));
  }
  return dist::check::list_ranks(ranks);
}

std::string Attempt::known_cause() const {
  if (outcome_.failed.empty()) return outcome_.elsewhere;
  const dist::RankFailure& first = outcome_.failed.front().failure;
  return fmt::format("rank {} failed: {}", first.rank, first.what);
}

void Attempt::signal_all(int number) {
  for (const LocalRank& local : ranks_) local.worker.send_signal(number);
}

}  // namespace distrun
