// Crew: grades the submissions of a class, several at once, each in a process of its own with a folder for
// all that it leaves lying about. Unattended: what hangs is ended, what a grader's fault has spoilt is tried
// once more.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "distlab/class/class_result.h"
#include "distlab/class/entries.h"
#include "distlab/labs.h"
#include "distlab/loop/job.h"
#include "distlab/temporary_folder.h"

namespace distlab {

struct Task {
  Entry entry;
  std::string key;  // ClassResult::key
  int tries = 0;    // so far
};

class Crew {
 public:
  // Gets the result of each submission as it is known; from the thread of grade().
  using ResultSink = std::function<void(const ClassResult&)>;
  // Gets the names of those that are being graded, now and then.
  using ProgressSink = std::function<void(const std::vector<std::string>& names)>;

  Crew(Lab lab, std::uint64_t seed, unsigned at_once);
  ~Crew();

  // Grades them all. False when a signal (SIGINT, SIGTERM, SIGHUP) came in between. Either way nothing runs
  // any more. Throws dist::Error{resource} when no process can be started.
  bool grade(std::vector<Task> tasks, const ResultSink& on_result, const ProgressSink& on_progress);

 private:
  using Clock = std::chrono::steady_clock;
  struct Place {
    Task task;
    std::unique_ptr<TemporaryFolder> folder;
    std::unique_ptr<loop::Job> job;
    Clock::time_point begun;
    std::string said = {};
  };

  void fill_places();
  bool wait_for_news();  // false: a signal
  // Takes what has come; the result if there is one now.
  void look_after(Place& place, const ResultSink& on_result);
  ClassResult result_of(Place& place);
  void stop();

  const Lab lab_;
  const std::uint64_t seed_;
  const unsigned at_once_;
  dist::UniqueFd signals_;
  std::deque<Task> waiting_;
  std::vector<Place> places_;
};

}  // namespace distlab
