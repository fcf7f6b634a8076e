#include "judge/team.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <random>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "judge/crash.h"
#include "judge/outcome.h"
#include "judge/progress.h"
#include "judge/reported.h"
#include "judge/trouble.h"

namespace judge {
namespace {

constexpr Milliseconds look_again{20};  // whether it is overdue

// A submission of which a rank was stopped once will probably be stopped again, so it gets half the time
// after the first stop, and a quarter from the second on. That is still enough for a right answer. Among the
// solutions' runs the longest work 0.7 s of the 2.5 s that are left (lab 11), and sleep 0.8 s of 1.2 (lab
// 01): measured on two busy cores, in a development build. A run that sets its own limit, because it
// works long, keeps that limit.
constexpr int least_part = 4;
// Ranks may also be slow in every run without being stopped in any. Once all runs together have taken so much
// more than the solutions' do, runs that do not themselves say how long they may take have still less.
constexpr Milliseconds quick{250};  // nearly all runs of the solutions
constexpr Milliseconds most_beyond{20'000};
constexpr int least_part_beyond = 6;
// In the end no run is started any more: the grade is what has been seen by then. A run that has begun gets
// what is left, so all of them together never take more.
constexpr Milliseconds most_in_all{40'000};

// What a right answer may take of these limits, in all.
Milliseconds expected(const Limits& limits) { return limits.work > Limits{}.work ? limits.work / 2 : quick; }

// Throws OutOfPatience when nothing is left.
Limits shortened(Limits limits) {
  const Milliseconds left = most_in_all - progress().beyond;
  if (left <= Milliseconds(0))
    throw OutOfPatience(
        fmt::format("the ranks of earlier runs have taken {} s longer than right answers do; fix the first "
                    "test that failed",
                    most_in_all / Milliseconds(1000)));
  const int stopped = progress().is_second_try ? 0 : std::min(progress().stopped_runs, 2);
  const int part = std::min(1 << stopped, least_part);
  const int own_part = progress().beyond > most_beyond ? least_part_beyond : part;
  if (limits.work == Limits{}.work) limits.work /= own_part;
  limits.asleep /= limits.asleep == Limits{}.asleep ? own_part : part;
  limits.own_work /= part;
  limits.in_all = std::min(limits.in_all, left + expected(limits));
  return limits;
}

// Proves that an answer belongs to a task: unknown to every process before the task is sent.
std::string fresh_nonce() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

std::string in_words(int status) {
  constexpr int by_signal = 128;  // as a shell, and the sandbox, say it
  const bool is_said = WIFEXITED(status) && WEXITSTATUS(status) > by_signal;
  if (WIFSIGNALED(status) || is_said) {
    const int signal = is_said ? WEXITSTATUS(status) - by_signal : WTERMSIG(status);
    return fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal));
  }
  return fmt::format("ended with exit status {} before it had reported that it was done",
                     WEXITSTATUS(status));
}

}  // namespace

struct Team::Member {
  Member(const std::string& program, const Limits& limits, dist::UniqueFd line,
         std::shared_ptr<Allowance> allowance)
      : child(confine(program, limits), std::move(line)), frames(std::move(allowance)) {}

  int rank = 0;
  Child child;
  FrameReader frames;
  std::string nonce = fresh_nonce();
  Clock::time_point started{};
  bool is_started = false, has_ended = false, channel_open = true, output_open = true;
  std::string protocol_error;
  Reported said;
  Outcome outcome;
};

Team::Team(const std::string& program, int size, const Limits& limits, std::vector<dist::UniqueFd> lines)
    : program_(program), limits_(limits), patience_(shortened(limits)) {
  lines.resize(static_cast<std::size_t>(size));
  const auto allowance = std::make_shared<Allowance>();
  for (auto& line : lines)
    members_.push_back(std::make_unique<Member>(program, limits, std::move(line), allowance));
  for (int rank = 0; rank < size; ++rank) members_[static_cast<std::size_t>(rank)]->rank = rank;
}

Team::~Team() = default;

void Team::hide(const Hidden& hidden) {
  hidden_ = hidden;
  for (auto& member : members_) member->frames.allow(hidden_ ? most_requests : 0);
}

void Team::start(int rank, const Json& task) {
  wait_until_ready();
  auto& member = *members_.at(static_cast<std::size_t>(rank));
  member.is_started = true;
  member.started = Clock::now();
  // A process that has already gone is noticed when its end is read; one that does not read its task will be
  // overdue.
  const std::string frame = frame_of({{"nonce", member.nonce}, {"task", task}});
  for (std::size_t done = 0; done < frame.size();) {
    const auto put =
        ::send(member.child.channel(), frame.data() + done, frame.size() - done, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (put >= 0) done += static_cast<std::size_t>(put);
    if (put >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN || is_overdue()) return;
    pollfd room{member.child.channel(), POLLOUT, 0};
    ::poll(&room, 1, static_cast<int>(look_again.count()));
  }
}

void Team::start_all(const std::vector<Json>& tasks) {
  for (int rank = 0; rank < size(); ++rank) start(rank, tasks.at(static_cast<std::size_t>(rank)));
}

bool Team::has_answered(int rank) const {
  return members_.at(static_cast<std::size_t>(rank))->said.has_answered();
}

void Team::wait_until_ready() {
  while (!all_ready() && !is_overdue()) poll_once(look_again);
}

bool Team::all_ready() const {
  return std::ranges::all_of(members_,
                             [](const auto& member) { return member->said.ready || member->has_ended; });
}

bool Team::all_ended() const {
  return std::ranges::all_of(members_,
                             [](const auto& member) { return !member->is_started || member->has_ended; });
}

void Team::listen(Milliseconds duration) {
  const auto until = Clock::now() + duration;
  for (auto now = Clock::now(); now < until; now = Clock::now()) {
    poll_once(std::chrono::ceil<Milliseconds>(until - now));
  }
}

bool Team::is_overdue() {
  std::vector<pid_t> processes;
  for (const auto& member : members_) processes.push_back(member->child.pid());
  if (!hidden_) return patience_.is_used_up(processes);
  // A process whose request has not been answered yet waits for the grader, and so do those that wait for it.
  return patience_.is_used_up(processes, [this] {
    const int before = given_;
    poll_once(Milliseconds(0));
    return given_ != before;
  });
}

void Team::stop() {
  for (auto& member : members_) {
    if (!member->has_ended) member->child.end();
  }
}

std::vector<Outcome> Team::finish() {
  while (!all_ended() && !is_overdue()) poll_once(look_again);
  if (!patience_.why().empty()) ++progress().stopped_runs;
  if (patience_.has_slept_too_long()) progress().has_slept_too_long = true;
  std::vector<Outcome> outcomes;
  for (auto& member : members_) {
    conclude(*member);
    outcomes.push_back(member->outcome);
  }
  progress().beyond += std::max(patience_.spent() - expected(limits_), Milliseconds(0));  // reading included
  return outcomes;
}

void Team::poll_once(Milliseconds patience) {
  std::vector<pollfd> watched;
  for (const auto& member : members_) {
    watched.push_back({member->channel_open ? member->child.channel() : -1, POLLIN, 0});
    watched.push_back({member->output_open ? member->child.output() : -1, POLLIN, 0});
    watched.push_back({member->has_ended ? -1 : member->child.pidfd(), POLLIN, 0});
  }
  if (::poll(watched.data(), watched.size(), static_cast<int>(patience.count())) <= 0) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto& member = *members_[i];
    if (watched[3 * i].revents != 0) take_channel(member);
    if (watched[3 * i + 1].revents != 0) take_output(member);
    if (watched[3 * i + 2].revents != 0) member.has_ended = true;
  }
}

// Reads one piece, so that a process that writes without end does not hold up the others.
void Team::take_channel(Member& member) {
  std::array<char, 65536> piece{};
  const auto got = ::recv(member.child.channel(), piece.data(), piece.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    member.channel_open = false;
    return;
  }
  try {
    member.frames.feed({piece.data(), static_cast<std::size_t>(got)});
    while (auto frame = member.frames.next()) {
      if (const auto request = request_in(*frame, member.nonce)) {
        give(member, *request);
        continue;
      }
      const bool had_answered = member.said.has_answered();
      member.said.take(std::move(*frame), member.nonce);
      if (had_answered || !member.said.has_answered()) continue;
      member.outcome.answered_after = std::chrono::duration_cast<Milliseconds>(Clock::now() - member.started);
      member.outcome.asleep = patience_.asleep();
    }
  } catch (const std::exception& error) {
    member.protocol_error = error.what();
    member.channel_open = false;
    member.child.kill();
  }
}

// A runner has one request under way, so there is always room for the piece.
void Team::give(Member& member, const Request& request) {
  if (!hidden_) throw std::runtime_error("a request for data, where the task has none");
  ++given_;
  const std::string frame = frame_of({{"piece", hidden_(member.rank, request)}});
  if (member.child.pid() < 0) return;  // it has ended meanwhile
  const auto put = ::send(member.child.channel(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  const bool is_gone = put < 0 && (errno == EPIPE || errno == ECONNRESET);
  if (!is_gone && put != static_cast<ssize_t>(frame.size()))
    throw std::runtime_error("requests for data that are not read");
}

void Team::take_output(Member& member) {
  std::array<char, 65536> piece{};
  const auto got = ::read(member.child.output(), piece.data(), piece.size());
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (got <= 0) {
    member.output_open = false;
    return;
  }
  const auto room = limits_.output_bytes - std::min(limits_.output_bytes, member.outcome.output.size());
  member.outcome.output.append(piece.data(), std::min(room, static_cast<std::size_t>(got)));
}

void Team::conclude(Member& member) {
  const bool in_time = member.has_ended;
  const int status = member.child.end();
  // What it wrote before it ended is still there. Bounded: no process is left that could write.
  for (std::size_t piece = 0; piece <= most_answered >> 16 && member.channel_open; ++piece)
    take_channel(member);
  for (int piece = 0; piece < 64 && member.output_open; ++piece) take_output(member);

  auto& outcome = member.outcome;
  outcome.reply = std::move(member.said.reply);
  outcome.fault = member.said.fault;
  outcome.peak_memory_bytes = member.child.peak_memory_bytes();
  if (!member.is_started) {
    outcome.how_it_ended = "was not started";
  } else if (!member.protocol_error.empty()) {
    outcome.how_it_ended = "wrote nonsense into its private channel: " + member.protocol_error;
  } else if (!in_time) {
    outcome.how_it_ended = patience_.why() + " and was stopped";
  } else if (status != 0 || !member.said.done || outcome.reply.is_null()) {
    outcome.how_it_ended = in_words(status);
    const auto why = crash_in_words(program_, member.said.crash, outcome.output);
    if (!why.empty()) outcome.how_it_ended += " " + why;
  } else {
    outcome.completed = true;
  }
}

}  // namespace judge
