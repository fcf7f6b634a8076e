#include "distlab/loop/watcher.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "distlab/columns.h"
#include "distlab/fitted_output.h"
#include "distlab/stray_processes.h"
#include "distlab/terminal.h"
#include "distlab/workspace.h"

namespace distlab::loop {
namespace {

std::string time_of_day() { return fmt::format("{:%H:%M:%S}", fmt::localtime(std::time(nullptr))); }

}  // namespace

std::string status_line(const std::string& state, int columns) {
  constexpr std::array keys{"h hint  t trace  r run  g grade  n next  q quit",
                            "h)int t)race r)un g)rade n)ext q)uit", "h t r g n q"};
  for (const std::string text : keys) {
    const auto line = text + "  |  " + state;
    if (columns_of(line) < columns) return line;
  }
  return state + "  |  " + keys.back();
}

Watcher::Watcher(Lab lab)
    : lab_(std::move(lab)),
      has_keys_(::isatty(STDIN_FILENO) == 1 && stdout_is_terminal()),
      screen_(stdout_is_terminal()) {
  do_not_fit_output();  // the screen crops its pages itself
  adopt_stray_processes();
  if (has_keys_) raw_.emplace();
  // The jobs inherit these: a folder for temporary files that is removed when they are stopped, and colours.
  ::setenv("TMPDIR", temporary_.path().c_str(), 1);
  if (colours_on()) ::setenv("CLICOLOR_FORCE", "1", 1);
  go_to(lab_);
}

void Watcher::go_to(const Lab& lab) {
  lab_ = lab;
  file_.emplace(edited_file(lab_));
  screen_.show({styled(Style::bold, lab_.title),
                fmt::format("Whenever you save {}, it is built and graded.",
                            std::filesystem::relative(edited_file(lab_), workspace().root).string())});
  begin(Action::grade);
}

void Watcher::begin(Action action) {
  stop_job();
  page_.clear();
  is_page_shown_ = false;
  next_.reset();
  action_ = action;
  ::setenv("COLUMNS", std::to_string(terminal_width()).c_str(), 1);
  std::vector<std::string> argv{this_program()};
  switch (action) {
    case Action::grade: argv.insert(argv.end(), {"round", "grade"}); break;
    case Action::run: argv.insert(argv.end(), {"round", "run"}); break;
    case Action::trace: argv.insert(argv.end(), {"round", "trace"}); break;
    case Action::hint: argv.emplace_back("hint"); break;
  }
  argv.push_back(std::to_string(lab_.number));
  job_ = std::make_unique<Job>(argv);
}

// If a grading is running, a hint or a trace waits for it: both are about its result.
void Watcher::ask_for(Action action) {
  if (job_ && action_ == Action::grade && action != Action::grade)
    next_ = action;
  else
    begin(action);
}

void Watcher::show_state(const std::string& state) {
  const auto text = fmt::format("lab {}, {}", lab_.number, state);
  screen_.set_status(has_keys_ ? status_line(text, terminal_columns()) : text);
}

std::string Watcher::rest() const {
  return fmt::format("... to see everything: ./distlab grade {}", lab_.number);
}

void Watcher::take_output() {
  constexpr std::string_view status_mark = "@@ ";
  std::vector<std::string> lines;
  for (auto& line : job_->read_lines()) {
    if (line.starts_with(status_mark))
      show_state(line.substr(status_mark.size()));
    else
      lines.push_back(std::move(line));
  }
  if (action_ == Action::grade) {
    page_.insert(page_.end(), lines.begin(), lines.end());
  } else if (!lines.empty()) {
    if (!std::exchange(is_page_shown_, true)) screen_.show({});
    screen_.append(lines);
  }
  if (job_->has_ended()) end_job();
}

void Watcher::end_job() {
  job_->exit_code();
  stop_job();
  show_state(time_of_day());
  if (action_ == Action::grade) {
    if (!has_keys_) page_.insert(page_.begin(), fmt::format("--- {}", time_of_day()));
    screen_.show(std::exchange(page_, {}), rest());
  }
  if (next_)
    begin(*next_);
  else if (is_last_)
    has_ended_ = true;
}

void Watcher::take_key(char key) {
  switch (key) {
    case 'h': return ask_for(Action::hint);
    case 't': return ask_for(Action::trace);
    case 'r': return ask_for(Action::run);
    case 'g': return ask_for(Action::grade);
    case 'q': has_ended_ = true; return;
    case 'n': break;
    default: return;
  }
  const auto labs = find_labs();
  for (std::size_t i = 0; i < labs.size(); ++i) {
    if (labs[i].number == lab_.number)
      return go_to(labs[(i + 1) % labs.size()]);  // after the last lab comes the first
  }
}

void Watcher::take_signal(int signal) {
  if (signal == SIGWINCH) return screen_.redraw();
  if (signal != SIGTSTP) {
    has_ended_ = true;
    return;
  }
  screen_.leave();
  if (raw_) raw_->restore();
  ::kill(::getpid(), SIGSTOP);  // SIGTSTP itself is blocked
  if (raw_) raw_->resume();
  screen_.redraw();
}

void Watcher::take_input() {
  const auto keys = read_keys();
  if (!keys) {
    is_last_ = true;
    if (!job_ || has_keys_) has_ended_ = true;
    return;
  }
  if (!has_keys_) return;
  for (const char key : *keys) take_key(key);
}

void Watcher::wait_for_something() {
  constexpr int look_ms = 500;  // to notice saves that inotify does not report
  std::array<pollfd, 4> asked{{{signals_.fd(), POLLIN, 0},
                               {file_->fd(), POLLIN, 0},
                               {is_last_ ? -1 : STDIN_FILENO, POLLIN, 0},
                               {job_ ? job_->fd() : -1, POLLIN, 0}}};
  if (::poll(asked.data(), asked.size(), look_ms) < 0 && errno != EINTR) {
    has_ended_ = true;
    return;
  }
  if (asked[0].revents != 0) {
    for (const int signal : signals_.take()) take_signal(signal);
  }
  if (asked[3].revents != 0) take_output();
  if (asked[2].revents != 0) take_input();
  if (!has_ended_ && file_->has_changed()) {
    show_state("saved");
    begin(Action::grade);
  }
}

// Ends the job, and the sandboxes that it has just started: they leave its process group and would wait
// forever.
void Watcher::stop_job() {
  job_.reset();
  end_stray_processes();
}

void Watcher::run() {
  while (!has_ended_) wait_for_something();
  stop_job();
  screen_.leave();
}

}  // namespace distlab::loop
