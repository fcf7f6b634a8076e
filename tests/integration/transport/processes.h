// Ranks as forked processes with an endpoint each, that may be killed.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dist/core/handles.h"
#include "dist/store/tcp_store.h"

#include "unit/transport/ranks.h"

namespace dist::test {

class Processes {
 public:
  using Clock = std::chrono::steady_clock;
  struct Report {
    std::string text;  // what the body returned, or its error; empty when it was killed
    int signal = 0;
    Clock::time_point ended;
  };
  using Body = std::function<std::string(Rank&)>;

  // `prepare` is called in each process before it connects.
  Processes(
      const World& world, const Body& body, const std::function<void(int)>& prepare = [](int) {})
      : server_("unix://@distlab-test-" + std::to_string(getpid()) + "-" + std::to_string(++count()),
                "secret") {
    for (int rank = 0; rank < world.n; ++rank) start(world, rank, body, prepare);
    char dot = 0;
    for (auto& child : children_)
      EXPECT_EQ(::read(child.pipe.get(), &dot, 1), 1) << "a rank did not reach the store";
  }
  ~Processes() {
    for (auto& child : children_) {
      if (child.ended) continue;
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, nullptr, 0);
    }
  }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  void kill(int rank) { ::kill(children_[static_cast<std::size_t>(rank)].pid, SIGKILL); }

  std::vector<Report> join(std::chrono::milliseconds patience) {
    const auto end = Clock::now() + patience;
    std::vector<Report> reports;
    for (auto& child : children_) {
      read_all(child, end);
      int status = 0;
      if (child.report.text == "still running") ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, &status, 0);
      child.ended = true;
      child.report.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
      reports.push_back(child.report);
    }
    return reports;
  }

 private:
  struct Child {
    pid_t pid = -1;
    UniqueFd pipe;
    bool ended = false;
    Report report;
  };
  static int& count() {
    static int value = 0;
    return value;
  }

  void start(const World& world, int rank, const Body& body, const std::function<void(int)>& prepare) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    std::fflush(nullptr);
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::close(ends[0]);
      const std::string text = run(world, rank, body, prepare, ends[1]);
      [[maybe_unused]] const auto written = ::write(ends[1], text.data(), text.size());
      ::_exit(0);
    }
    ::close(ends[1]);
    children_.push_back({pid, UniqueFd(ends[0]), false, {}});
  }

  // Its end of the pipe says first that this rank has reached the store, then how it ended.
  std::string run(const World& world, int rank, const Body& body, const std::function<void(int)>& prepare,
                  int pipe) {
    std::string text;
    std::unique_ptr<Rank> me;
    try {
      const Deadline deadline = Deadline::after(20s);
      const LastWill will{"gone/" + std::to_string(rank), "lost"};
      auto store = make_tcp_store(server_.address(), "secret", deadline, will);
      [[maybe_unused]] const auto written = ::write(pipe, ".", 1);
      prepare(rank);
      EndpointOptions options{
          .rank = rank, .world_size = world.n, .token = "secret", .transport = world.transport};
      options.deadline = deadline;
      options.is_gone = [&store](int peer) {
        const std::string key = "gone/" + std::to_string(peer);
        return store->check(std::span(&key, 1));
      };
      if (!world.hosts.empty()) options.host = world.hosts[static_cast<std::size_t>(rank)];
      me = std::make_unique<Rank>(rank, world.n, connect_endpoint(*store, options));
      text = body(*me);
      if (testing::Test::HasFailure()) text += " (an expectation failed in this rank)";
      if (me->is_alive()) me->endpoint().close("");
    } catch (const std::exception& error) {
      text = error.what();
      if (me && me->is_alive()) me->endpoint().close(text);
    }
    return text;
  }

  // Reports are as long as a pipe holds; the end of the pipe is the end of the process.
  static void read_all(Child& child, Clock::time_point end) {
    char buffer[4096];
    for (;;) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      pollfd entry{child.pipe.get(), POLLIN, 0};
      if (::poll(&entry, 1, static_cast<int>(std::max<long long>(left, 0))) == 0) {
        child.report.text = "still running";
        break;
      }
      const auto got = ::read(child.pipe.get(), buffer, sizeof buffer);
      if (got <= 0) break;
      child.report.text.append(buffer, static_cast<std::size_t>(got));
    }
    child.report.ended = Clock::now();
  }

  StoreServer server_;
  std::vector<Child> children_;
};

inline void expect_all_well(const std::vector<Processes::Report>& reports) {
  for (std::size_t rank = 0; rank < reports.size(); ++rank) {
    EXPECT_EQ(reports[rank].text, "") << "rank " << rank;
    EXPECT_EQ(reports[rank].signal, 0) << "rank " << rank;
  }
}

}  // namespace dist::test
