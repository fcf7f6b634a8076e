// Watcher: builds and grades a lab whenever its file is saved, and reacts to keys.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "distlab/labs.h"
#include "distlab/loop/folder_watch.h"
#include "distlab/loop/job.h"
#include "distlab/loop/screen.h"
#include "distlab/loop/terminal_input.h"
#include "distlab/temporary_folder.h"

namespace distlab::loop {

// Returns the status line: the keys, if there is room for them, and the current or last state.
std::string status_line(const std::string& state, int columns);

class Watcher {
 public:
  explicit Watcher(Lab lab);

  // Runs until the user quits.
  void run();

 private:
  enum class Action { grade, run, trace, hint };

  void begin(Action action);
  void ask_for(Action action);
  void take_output();
  void take_key(char key);
  void take_signal(int signal);
  void take_input();
  void go_to(const Lab& lab);
  void end_job();
  void stop_job();
  void show_state(const std::string& state);
  void wait_for_something();
  std::string rest() const;

  Lab lab_;
  const bool has_keys_;  // standard input and output are terminals
  TemporaryFolder temporary_{"watch"};
  SignalInput signals_;
  std::optional<RawInput> raw_;
  Screen screen_;
  std::optional<FolderWatch> file_;
  std::unique_ptr<Job> job_;
  Action action_ = Action::grade;             // of the job
  std::optional<Action> next_;                // begins when the job has ended
  std::vector<std::string> page_;             // output of the job, until it has ended
  bool is_page_shown_ = false;                // its lines are shown as they come
  bool has_ended_ = false, is_last_ = false;  // is_last_: end when the job has ended
};

}  // namespace distlab::loop
