#include "attempt.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/check/who.h"
#include "dist/core/fail.h"

namespace distrun {
namespace {

using dist::Deadline;

constexpr int stdout_stream = 1, stderr_stream = 2;
constexpr double silence_s = 1;  // most ranks end within it after a failure, so distrun stays silent
constexpr auto drain_patience = std::chrono::milliseconds(200);
constexpr int words_lines = 5, report_lines = 10;

dist::UniqueFd open_log(const std::string& path) {
  dist::UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) dist::fail_errno(dist::Errc::resource, errno, "distrun: cannot write " + path);
  return fd;
}

}  // namespace

Attempt::Attempt(const Stage& stage, const Command& command, int number)
    : stage_(stage),
      command_(command),
      number_(number),
      watcher_(stage.nodes.board(), number, stage.options.monitor_interval_s) {}

std::string Attempt::log_folder(int local_rank) const {
  const Options& o = stage_.options;
  if (o.log_dir.empty()) return "";
  std::string folder = fmt::format("{}/{}/attempt_{}/{}", o.log_dir, o.run_id, number_, local_rank);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) dist::fail(dist::Errc::resource, "distrun: cannot create {}: {}", folder, error.message());
  return folder;
}

LineSink::Target Attempt::target(int local_rank, int stream, Outlet& outlet) const {
  const Options& o = stage_.options;
  LineSink::Target result;
  const bool tee = o.tee.has(local_rank, stream), redirect = o.redirects.has(local_rank, stream);
  const bool chosen = o.shown_ranks.empty() || std::ranges::count(o.shown_ranks, local_rank) > 0;
  if (chosen && (tee || !redirect)) result.shown = &outlet;
  if (o.prefix)
    result.prefix = line_prefix(stage_.nodes.place().first_rank + local_rank,
                                outlet.is_terminal() && getenv("NO_COLOR") == nullptr);
  if (tee || redirect) {
    result.file =
        open_log(log_folder(local_rank) + (stream == stdout_stream ? "/stdout.log" : "/stderr.log"));
  }
  return result;
}

void Attempt::start(int local_rank) {
  const Place& place = stage_.nodes.place();
  const std::string folder = log_folder(local_rank);
  Worker::Setup setup{stage_.signals.inherited(), {}};
  const std::string error_file = folder.empty() ? "" : folder + "/error.json";
  setup.environment =
      rank_environment(own_environment(), stage_.options, place, local_rank, number_, error_file);
  setup.reads_stdin = local_rank == 0 && isatty(0) == 0;
  setup.on_terminal = stage_.out.is_terminal();
  auto tail = std::make_unique<Tail>();
  auto out = target(local_rank, stdout_stream, stage_.out),
       err = target(local_rank, stderr_stream, stage_.err);
  err.tail = tail.get();
  Command command = command_;
  if (stage_.options.pass_local_rank)
    command.arguments.insert(command.arguments.begin() + 1, fmt::format("--local-rank={}", local_rank));
  Worker worker(command, setup);
  stage_.guardian.watch(worker.pid());
  ranks_.push_back(
      {std::move(worker), std::move(tail), LineSink(std::move(out)), LineSink(std::move(err)), error_file});
  ++running_;
}

Outcome Attempt::run() {
  for (int local_rank = 0; local_rank < stage_.nodes.place().local_size; ++local_rank) start(local_rank);
  while (running_ > 0) {
    wait_for_events();
    for (Local& local : ranks_) {
      read_streams(local);
      local.out.show_unfinished(), local.err.show_unfinished();
    }
    obey_signals();
    collect_ended();
    if (auto news = watcher_.news()) obey_news(*news);
    stop_if_output_broke();
    advance();
  }
  for (Local& local : ranks_) {  // the ranks' own children may have written something meanwhile
    read_streams(local);
    local.out.finish(), local.err.finish();
  }
  end_orphans(stage_.guardian.pid());
  return std::move(outcome_);
}

void Attempt::wait_for_events() {
  std::vector<pollfd> events{{stage_.signals.fd(), POLLIN, 0}, {watcher_.fd(), POLLIN, 0}};
  for (const Local& local : ranks_) {
    if (local.out_open && !stage_.out.is_full()) events.push_back({local.worker.out(), POLLIN, 0});
    if (local.err_open && !stage_.err.is_full()) events.push_back({local.worker.err(), POLLIN, 0});
  }
  for (const Outlet* outlet : {&stage_.out, &stage_.err}) {
    if (outlet->is_waiting()) events.push_back({outlet->fd(), POLLOUT, 0});
  }
  Deadline next = deadline_;
  for (const Local& local : ranks_) {
    if (local.worker.is_reaped() && !local.noted) next = Deadline::sooner(next, local.drain);
    next = Deadline::sooner(next, Deadline::sooner(local.out.due(), local.err.due()));
  }
  poll(events.data(), events.size(), next.poll_ms());
  stage_.out.pump();
  stage_.err.pump();
}

void Attempt::read_streams(Local& local) {
  if (!stage_.out.is_full()) read_stream(local.worker.out(), local.out, local.out_open);
  if (!local.out_open) local.worker.close_out();
  if (!stage_.err.is_full()) read_stream(local.worker.err(), local.err, local.err_open);
  if (!local.err_open) local.worker.close_err();
  stage_.out.pump();
  stage_.err.pump();
}

// Reads at most a few pieces at a time, so that no rank starves the others.
void Attempt::read_stream(int fd, LineSink& sink, bool& open) {
  std::array<char, 65536> piece;
  for (int i = 0; open && i < 4; ++i) {
    const ssize_t n = read(fd, piece.data(), piece.size());
    if (n > 0)
      sink.add({piece.data(), static_cast<std::size_t>(n)});
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
      open = false;  // EIO: a terminal's other side is closed
    else
      return;
  }
  if (!open) sink.finish();
}

// A rank counts as ended when its leader is gone and its output has been read to the end, because that output
// must be shown before the report about the end. A process that left the rank's group may hold the streams
// open; we do not wait for it.
void Attempt::collect_ended() {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Local& local = ranks_[i];
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

void Attempt::note_end(int local_rank, const Local& local) {
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
  for (const Local& local : ranks_) local.worker.send_signal(number);
}

}  // namespace distrun
