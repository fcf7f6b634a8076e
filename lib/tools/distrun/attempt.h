// Attempt: starts this node's ranks once and runs the event loop until all of them have ended.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <poll.h>

#include "dist/launch/oom_kills.h"
#include "dist/launch/root_cause.h"

#include "local_rank.h"
#include "nodes.h"
#include "watcher.h"

namespace distrun {

struct Ended {
  dist::RankFailure failure;
  int status = 0;  // as waitpid(2) gives it
  pid_t pid = 0;
  std::string last_lines;  // of its stderr
  std::string error;       // the message in its error file
};

struct Outcome {
  std::vector<Ended> failed;  // ranks that failed by themselves, in the order in which distrun noticed
  std::vector<int> ended;     // ranks that distrun ended
  int signal = 0;             // that told distrun to stop; 0: none
  int output_error = 0;       // errno of a failed write to standard output; 0: none
  std::string elsewhere;      // a failure of another node that came first
  bool is_good() const { return failed.empty() && signal == 0 && output_error == 0 && elsewhere.empty(); }
};

class Attempt {
 public:
  Attempt(const Stage& stage, const Command& command, int number);
  // Starts the ranks and returns when none is left. When one fails, the other ranks get the grace period to
  // report, then SIGTERM and the grace period again, then SIGKILL; distrun reports every phase that takes
  // longer than a second. Throws what Worker throws; then no rank is left either.
  Outcome run();

 private:
  enum class Phase { running, failing, reporting, stopping, killing };

  void wait_for_events();
  void collect_ended();
  void note_end(int local_rank, const LocalRank& local);
  void obey_signals();
  void obey(int number);
  void pause();
  void stop_if_output_broke();
  void obey_news(const std::string& news);
  void wait_for_reports();
  void advance();
  void stop(int number);
  void enter(Phase phase, double seconds);
  std::string still_running() const;  // "ranks 0, 2"
  std::string known_cause() const;
  void signal_all(int number);

  const Stage& stage_;
  const Command& command_;
  int number_;
  std::vector<LocalRank> ranks_;
  int running_ = 0;
  Phase phase_ = Phase::running;
  dist::Deadline deadline_ = dist::Deadline::never();
  int stop_signal_ = SIGTERM;  // in Phase::stopping
  const dist::OomKills oom_kills_;
  Watcher watcher_;
  Outcome outcome_;
};

}  // namespace distrun
