// Processes that send requests that the library would never send, or not in this order: the simulation stays
// as safe.
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "dist/dist.h"
#include "dist/simulate/remote/caller.h"
#include "dist/simulate/remote/protocol.h"
#include "dist/simulate/remote/rank.h"

#include "support/forked_ranks.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;
using sim::Question;
using sim::Verb;

sim::Report run(int n, const std::function<void(int rank)>& rank_main,
                const sim::ProcessOptions& limits = {}) {
  sim::RunOptions options;
  options.ranks = n;
  const RankProcess process = [&](int, UniqueFd socket) { sim::run_as_rank(std::move(socket), rank_main); };
  return simulate_processes(options, process, limits);
}

BoardCall board_call(Members members, Deadline deadline = Deadline::never()) {
  BoardCall call;
  call.context = 77;
  call.tag = 5;
  call.members = std::move(members);
  call.deadline = deadline;
  call.message.call = "barrier";
  return call;
}

TEST(Forged, ABoardCallOfOtherMembersIsRefused) {
  const auto report = run(40, [](int rank) {
    if (rank == 0) sim::compute(2.0);
    if (rank == 1) Question(Verb::exchange).with(board_call({0, 1})).ask();
    if (rank < 2) return;
    sim::compute(1.0);
    std::vector<int> all(40);
    for (int i = 0; i < 40; ++i) all[static_cast<std::size_t>(i)] = i;
    Question(Verb::exchange).with(board_call(all)).ask();
  });
  EXPECT_NE(report.text().find("others on one of 2 other ranks"), std::string::npos) << report.text();
}

TEST(Forged, ABoardCallMadeTwiceCountsOnce) {
  const auto report = run(2, [](int rank) {
    if (rank == 1) return sim::compute(100.0);
    for (int i = 0; i < 3; ++i) {
      const auto until = Deadline::after(1s);
      auto reply = Question(Verb::exchange).with(board_call({0, 1}, until)).ask();
      if (sim::get_numbers(reply.reader) != std::vector<int>{1})
        throw std::runtime_error("rank 1 never came");
    }
  });
  EXPECT_TRUE(report.failures.empty()) << report.text();
}

TEST(Forged, ATransportOfAClosedEndpoint) {
  const auto report = run(2, [](int rank) {
    if (rank != 0) return;
    const auto endpoint = Question(Verb::make_endpoint).ask().get<std::uint32_t>();
    TransportOptions options;
    options.members = Members{0, 1};
    options.label.name = "all_reduce";
    const auto number = Question(Verb::open).with(endpoint).with(options).ask().get<std::uint64_t>();
    Question(Verb::close).with(endpoint).with(std::string()).ask();
    const Bytes one(4);
    Question send(Verb::post_send);
    send.with(number).with(1).with(DType::f32).with(std::int64_t{1}).ask(one);
  });
  EXPECT_TRUE(report.failures.empty()) << report.text();
}

// No forgery: a crash closes the endpoint under a task of the rank that still works.
TEST(Forged, ACrashWithAWorkUnderWay) {
  const auto report = run(2, [](int rank) {
    init_process_group();
    Tensor t = ones({1 << 10});
    if (rank == 0) {
      Work work = all_reduce(t, ReduceOp::sum, {.async_op = true});
      sim::compute(1.0);
      raise(SIGKILL);
    }
    sim::compute(10.0);
    all_reduce(t);
  });
  ASSERT_FALSE(report.failures.empty());
  EXPECT_NE(report.failures[0].what.find("its process is gone"), std::string::npos) << report.text();
}

TEST(Forged, EagerMessagesThatNobodyTakesCount) {
  setenv("DIST_SEND", "eager", 1);
  const auto report = run(2,
                          [](int rank) {
                            init_process_group();
                            const Tensor t = zeros({1 << 20}, DType::u8);
                            for (int i = 0; rank == 0 && i < 100; ++i) send(t, 1);
                            sim::compute(100.0);
                          },
                          {.most_bytes = std::size_t{8} << 20});
  unsetenv("DIST_SEND");
  EXPECT_NE(report.text().find("more than 8 MiB of messages are under way"), std::string::npos)
      << report.text();
  EXPECT_EQ(report.messages, 8u);
}

TEST(Forged, EagerMessagesThatWereTakenDoNotCount) {
  setenv("DIST_SEND", "eager", 1);
  const auto report = run(2,
                          [](int rank) {
                            init_process_group();
                            Tensor t = zeros({1 << 20}, DType::u8);
                            for (int i = 0; i < 20; ++i)
                              rank == 0 ? send(t, 1), barrier() : (recv(t, 0), barrier());
                          },
                          {.most_bytes = std::size_t{8} << 20});
  unsetenv("DIST_SEND");
  EXPECT_TRUE(report.failures.empty()) << report.text();
}

TEST(Forged, OperationsOfTooManyPlaces) {
  const auto report = run(1, [](int) {
    const auto endpoint = Question(Verb::make_endpoint).ask().get<std::uint32_t>();
    TransportOptions options;
    options.members = Members{0};
    for (int i = 0; i < 2000; ++i) {
      options.label.name = std::to_string(i);
      Question(Verb::open).with(endpoint).with(options).ask();
    }
  });
  EXPECT_NE(report.text().find("operations of more than 1024 places"), std::string::npos) << report.text();
}

std::ptrdiff_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return std::distance(begin(all), end(all));
}

// A request that brings two descriptors where one is expected.
void ask_with_two_descriptors(int socket) {
  const Bytes frame = wire::Writer(Verb::at_store).finish();
  iovec part{const_cast<std::byte*>(frame.data()), frame.size()};
  const std::array passed{socket, socket};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof passed)> room{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = room.data();
  header.msg_controllen = room.size();
  cmsghdr* const control = CMSG_FIRSTHDR(&header);
  control->cmsg_level = SOL_SOCKET;
  control->cmsg_type = SCM_RIGHTS;
  control->cmsg_len = CMSG_LEN(sizeof passed);
  std::memcpy(CMSG_DATA(control), passed.data(), sizeof passed);
  if (sendmsg(socket, &header, 0) < 0) throw std::runtime_error("cannot send");
  sim::TaskChannel::current().receive();
}

TEST(Forged, NoDescriptorStays) {
  const auto before = open_descriptors();
  sim::RunOptions options;
  options.ranks = 1;
  const auto report = simulate_processes(options, [](int, UniqueFd socket) {
    const int raw = socket.get();
    sim::run_as_rank(std::move(socket), [raw](int) {
      for (int i = 0; i < 100; ++i) ask_with_two_descriptors(raw);
    });
  });
  EXPECT_TRUE(report.failures.empty()) << report.text();
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace dist::test
