// Crew: grades the submissions of a class, several at the same time, each in a process of its own with a
// folder for temporary files. It needs no attention: it ends gradings that hang, and repeats a grading once
// if the grader failed.
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
  int tries = 0;    // how often it was started
};

class Crew {
 public:
  // Is called with the result of each submission, in the thread of grade().
  using ResultSink = std::function<void(const ClassResult&)>;
  // Is called from time to time with the names of the students whose submissions are being graded.
  using ProgressSink = std::function<void(const std::vector<std::string>& names)>;

  Crew(Lab lab, std::uint64_t seed, unsigned at_once);
  ~Crew();

  // Grades all tasks. Returns false when a signal (SIGINT, SIGTERM, SIGHUP) has interrupted it. In both cases
  // no process is left running. Throws dist::Error{resource} when a process cannot be started.
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
  bool wait_for_news();  // returns false when a signal has arrived
  // Reads new output, and passes on the result if the grading has ended.
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
