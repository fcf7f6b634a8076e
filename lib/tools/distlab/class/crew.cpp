#include "distlab/class/crew.h"

#include <cerrno>
#include <csignal>

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "dist/core/fail.h"

#include "distlab/file_text.h"
#include "distlab/stray_processes.h"
#include "distlab/workspace.h"

namespace distlab {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// The grader itself limits everything that a submission can do; the slowest cheats take some minutes.
constexpr auto longest = 30min;
constexpr int most_tries = 2;

sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

Crew::Crew(Lab lab, std::uint64_t seed, unsigned at_once)
    : lab_(std::move(lab)), seed_(seed), at_once_(at_once) {
  const auto signals = ending_signals();
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  signals_ = dist::UniqueFd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) dist::fail_errno(dist::Errc::resource, errno, "cannot wait for signals");
  adopt_stray_processes();
}

Crew::~Crew() {
  stop();
  const auto signals = ending_signals();
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

bool Crew::grade(std::vector<Task> tasks, const ResultSink& on_result, const ProgressSink& on_progress) {
  waiting_.assign(tasks.begin(), tasks.end());
  for (fill_places(); !places_.empty(); fill_places()) {
    std::vector<std::string> names;
    for (const auto& place : places_) names.push_back(place.task.entry.name);
    on_progress(names);
    if (!wait_for_news()) {
      stop();
      return false;
    }
    for (auto& place : places_) look_after(place, on_result);
    std::erase_if(places_, [](const Place& place) { return place.job == nullptr; });
  }
  stop();
  return true;
}

void Crew::fill_places() {
  for (; places_.size() < at_once_ && !waiting_.empty(); waiting_.pop_front()) {
    Place place{.task = std::move(waiting_.front()),
                .folder = std::make_unique<TemporaryFolder>("class"),
                .job = nullptr,
                .begun = Clock::now()};
    ++place.task.tries;
    const auto& folder = place.folder->path();
    fs::permissions(folder, fs::perms::owner_all | fs::perms::group_exec | fs::perms::others_exec);
    place.job = std::make_unique<loop::Job>(
        std::vector<std::string>{this_program(), "class-one", std::to_string(lab_.number),
                                 place.task.entry.path, std::to_string(seed_), folder});
    places_.push_back(std::move(place));
  }
}

bool Crew::wait_for_news() {
  std::vector<pollfd> watched{{signals_.get(), POLLIN, 0}};
  std::vector<pid_t> jobs;
  for (const auto& place : places_) {
    watched.push_back({place.job->fd(), POLLIN, 0});
    jobs.push_back(place.job->pid());
  }
  constexpr int patience_ms = 1000;
  ::poll(watched.data(), watched.size(), patience_ms);
  reap_stray_processes(jobs);
  signalfd_siginfo signal{};
  return ::read(signals_.get(), &signal, sizeof signal) != sizeof signal;
}

void Crew::look_after(Place& place, const ResultSink& on_result) {
  for (const auto& line : place.job->read_lines()) place.said += (place.said.empty() ? "" : "\n") + line;
  const bool is_late = Clock::now() - place.begun > longest;
  if (!place.job->has_ended() && !is_late) return;
  auto result = result_of(place);
  place.job.reset();
  place.folder.reset();
  if (result.status == ClassResult::Status::ungraded && place.task.tries < most_tries)
    waiting_.push_back(std::move(place.task));
  else
    on_result(result);
}

ClassResult Crew::result_of(Place& place) {
  const auto fault = [&](const std::string& reason) {
    ClassResult result;
    result.reason = reason;
    return result;
  };
  ClassResult result;
  if (!place.job->has_ended()) {
    result = fault(fmt::format("grading had not finished after {} min", longest.count()));
  } else if (const int status = place.job->exit_code(); status != 0) {
    result = fault(place.said.empty() ? fmt::format("grading ended with status {}", status) : place.said);
  } else {
    result = read_class_result(text_of_file(place.folder->path() / "result.json"));
  }
  result.name = place.task.entry.name;
  result.key = place.task.key;
  return result;
}

void Crew::stop() {
  for (auto& place : places_) place.job.reset();
  end_stray_processes();
  places_.clear();  // removes their folders as well
}

}  // namespace distlab
