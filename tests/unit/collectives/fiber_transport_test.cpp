#include "support/fiber_transport.h"

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dist/core/fail.h"

namespace dist::test {
namespace {

TensorView view_of(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), static_cast<std::int64_t>(values.size()), DType::f32,
          cpu};
}

// The message of the Error that the run must end with.
std::string error_of(int n, const std::function<void(Transport&)>& rank_main,
                     const FiberOptions& options = {}) {
  try {
    run_fibers(n, rank_main, options);
  } catch (const Error& e) {
    return fmt::format("{}: {}", name(e.code()), e.what());
  }
  return "no error";
}

constexpr FiberOptions eager{.mode = SendMode::eager};
constexpr FiberOptions late{.touch = Touch::late};

TEST(FiberTransport, MessagesBetweenTwoRanksArriveInTheirOrder) {
  for (auto options : {FiberOptions{}, eager, late}) {
    run_fibers(
        2,
        [](Transport& net) {
          std::vector<float> a{1}, b{2};
          if (net.rank() == 0) {
            Request first = net.isend(view_of(a), 1), second = net.isend(view_of(b), 1);
            second.wait();
            first.wait();
          } else {
            Request first = net.irecv(view_of(b), 0), second = net.irecv(view_of(a), 0);
            EXPECT_EQ(second.wait(), 0);
            first.wait();
            EXPECT_EQ(b[0], 1);
            EXPECT_EQ(a[0], 2);
          }
        },
        options);
  }
}

TEST(FiberTransport, CountsMessagesBytesPeersAndScratch) {
  const FiberReport report = run_fibers(3, [](Transport& net) {
    std::vector<float> data(5);
    if (net.rank() == 0) {
      net.isend(view_of(data), 2).wait();
      net.isend(view_of(data).slice(0, 0), 2).wait();
    } else if (net.rank() == 2) {
      const Scratch inbox = net.scratch(view_of(data));
      net.irecv(inbox.all(), 0).wait();
      net.irecv(inbox.all().slice(0, 0), 0).wait();
    }
  });
  EXPECT_EQ(report.ranks[0].messages_sent, 2);
  EXPECT_EQ(report.ranks[0].bytes_sent, 20);
  EXPECT_EQ(report.ranks[0].sent_to, std::set<int>{2});
  EXPECT_EQ(report.ranks[0].messages_received, 0);
  EXPECT_EQ(report.ranks[1].messages_sent + report.ranks[1].messages_received, 0);
  EXPECT_EQ(report.ranks[2].messages_received, 2);
  EXPECT_EQ(report.ranks[2].bytes_received, 20);
  EXPECT_EQ(report.ranks[2].received_from, std::set<int>{0});
  EXPECT_EQ(report.ranks[2].peak_scratch_bytes, 20);
  EXPECT_EQ(report.rounds, 2);
}

TEST(FiberTransport, AMessageHoldsBothPortsForOneRound) {
  for (auto options : {FiberOptions{}, eager}) {
    const auto rounds = [&](int n, const std::function<void(Transport&)>& rank_main) {
      return run_fibers(n, rank_main, options).rounds;
    };
    const auto ring = [](Transport& net) {
      std::vector<float> out(1), in(1);
      send_recv(net, view_of(out), mod(net.rank() + 1, net.size()), view_of(in),
                mod(net.rank() - 1, net.size()));
    };
    EXPECT_EQ(rounds(6, ring), 1) << "all at once: a rank sends and receives at the same time";
    const auto relay = [](Transport& net) {
      std::vector<float> data(1);
      if (net.rank() > 0) net.irecv(view_of(data), net.rank() - 1).wait();
      if (net.rank() + 1 < net.size()) net.isend(view_of(data), net.rank() + 1).wait();
    };
    EXPECT_EQ(rounds(6, relay), 5) << "one after the other";
  }
}

TEST(FiberTransport, ManyMessagesToOneRankTakeTurnsAtItsPort) {
  const auto fan_in = [](Transport& net) {
    std::vector<float> data(static_cast<std::size_t>(net.size()));
    if (net.rank() > 0) {
      net.isend(view_of(data).slice(0, 1), 0).wait();
      return;
    }
    std::vector<Request> gots;
    for (int r = 1; r < net.size(); ++r) gots.push_back(net.irecv(view_of(data).slice(r, 1), r));
    for (Request& got : gots) got.wait();
  };
  EXPECT_EQ(run_fibers(6, fan_in).rounds, 5);
  EXPECT_EQ(run_fibers(6, fan_in, eager).rounds, 5);
}

TEST(FiberTransport, BothSendingFirstIsADeadlockWithRendezvousOnly) {
  const auto both_send = [](Transport& net) {
    std::vector<float> out(3), in(3);
    net.isend(view_of(out), 1 - net.rank()).wait();
    net.irecv(view_of(in), 1 - net.rank()).wait();
  };
  EXPECT_EQ(error_of(2, both_send),
            "timeout: deadlock: rank 0 waits for rank 1 to receive 12 bytes; "
            "rank 1 waits for rank 0 to receive 12 bytes");
  EXPECT_EQ(error_of(2, both_send, eager), "no error");
}

TEST(FiberTransport, ADeadlockNamesOnlyThoseWhoWait) {
  EXPECT_EQ(error_of(3,
                     [](Transport& net) {
                       std::vector<float> in(1);
                       if (net.rank() == 1) net.irecv(view_of(in), 2).wait();
                     }),
            "timeout: deadlock: rank 1 waits for 4 bytes from rank 2");
}

TEST(FiberTransport, AnExceptionNamesItsRankAndEndsTheOthers) {
  int ended = 0;
  const auto one_throws = [&](Transport& net) {
    std::vector<float> in(1);
    if (net.rank() == 2) fail(Errc::invalid_argument, "seven is not a shape");
    try {
      net.irecv(view_of(in), 2).wait();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Errc::peer_failed);
      ++ended;
      throw;
    }
  };
  EXPECT_EQ(error_of(4, one_throws), "invalid_argument: rank 2: seven is not a shape");
  EXPECT_EQ(ended, 3);
  EXPECT_EQ(error_of(1, [](Transport&) { throw std::runtime_error("oops"); }), "internal: rank 0: oops");
}

TEST(FiberTransport, SizesMustAgree) {
  EXPECT_EQ(error_of(2,
                     [](Transport& net) {
                       std::vector<float> data(4);
                       if (net.rank() == 0)
                         net.isend(view_of(data), 1).wait();
                       else
                         net.irecv(view_of(data).slice(0, 3), 0).wait();
                     }),
            "mismatch: rank 1: rank 0 sends 16 bytes to rank 1, which receives 12 bytes");
}

TEST(FiberTransport, AMessageNobodyReceivesAndARequestNobodyWaitsForAreErrors) {
  const auto unreceived = [](Transport& net) {
    std::vector<float> data(1);
    if (net.rank() == 0) net.isend(view_of(data), 1).wait();
  };
  EXPECT_EQ(error_of(2, unreceived, eager), "internal: rank 1 never received a message from rank 0");
  const auto dropped = [](Transport& net) {
    std::vector<float> data(1);
    if (net.rank() == 0)
      Request forgotten = net.isend(view_of(data), 1);
    else
      net.irecv(view_of(data), 0).wait();
  };
  EXPECT_EQ(error_of(2, dropped, eager), "internal: rank 0 dropped a Request without wait()");
}

TEST(FiberTransport, PeersOutOfRangeAreRefused) {
  std::vector<float> data(1);
  EXPECT_EQ(error_of(1, [&](Transport& net) { net.isend(view_of(data), 1).wait(); }),
            "invalid_argument: rank 0: rank 0 sends to rank 1 of 1");
}

TEST(FiberTransport, ARankMaySendToItself) {
  const auto to_self = [](Transport& net) {
    std::vector<float> out{4}, in(1);
    send_recv(net, view_of(out), 0, view_of(in), 0);
    EXPECT_EQ(in[0], 4);
  };
  for (auto options : {FiberOptions{}, eager, late}) run_fibers(1, to_self, options);
}

TEST(FiberTransport, AReceiveFromAnyRankTellsItsSource) {
  for (auto options : {FiberOptions{}, eager, late}) {
    run_fibers(
        4,
        [](Transport& net) {
          std::vector<float> data{static_cast<float>(net.rank())};
          if (net.rank() > 0) {
            net.isend(view_of(data), 0).wait();
            return;
          }
          std::set<int> sources;
          for (int i = 1; i < net.size(); ++i) {
            const int source = net.irecv(view_of(data), any_rank).wait();
            EXPECT_EQ(data[0], static_cast<float>(source));
            sources.insert(source);
          }
          EXPECT_EQ(sources, (std::set{1, 2, 3}));
        },
        options);
  }
}

TEST(FiberTransport, PollingComesToAnEnd) {
  run_fibers(2, [](Transport& net) {
    std::vector<float> data{7};
    Request request = net.rank() == 0 ? net.isend(view_of(data), 1) : net.irecv(view_of(data), 0);
    while (!request.is_completed()) {
    }
    request.wait();
    EXPECT_EQ(data[0], 7);
  });
}

// The two ways to break the rule "not before wait()": each shows with one of the two times at which the
// network touches buffers.
TEST(FiberTransport, ChangingASendBufferBeforeWaitShowsWhenTheNetworkIsLate) {
  const auto received = [](FiberOptions options) {
    float got = 0;
    run_fibers(
        2,
        [&](Transport& net) {
          std::vector<float> data{1};
          if (net.rank() == 0) {
            Request put = net.isend(view_of(data), 1);
            data[0] = 2;
            put.wait();
          } else {
            net.irecv(view_of(data), 0).wait();
            got = data[0];
          }
        },
        options);
    return got;
  };
  EXPECT_EQ(received({.mode = SendMode::eager}), 1);
  EXPECT_EQ(received({.mode = SendMode::eager, .touch = Touch::late}), 2);
}

TEST(FiberTransport, AReceiveBufferHoldsGarbageUntilWait) {
  run_fibers(
      2,
      [](Transport& net) {
        std::vector<float> data{1};
        if (net.rank() == 1) {
          net.isend(view_of(data), 0).wait();
          return;
        }
        Request got = net.irecv(view_of(data), 1);
        EXPECT_NE(data[0], 1);
        got.wait();
        EXPECT_EQ(data[0], 1);
      },
      late);
}

TEST(FiberTransport, TheSameProgramTakesTheSameRounds) {
  const auto program = [](Transport& net) {
    std::vector<float> out(1), in(1);
    for (int k = 1; k < net.size(); ++k)
      send_recv(net, view_of(out), mod(net.rank() + k * k, net.size()), view_of(in),
                mod(net.rank() - k * k, net.size()));
  };
  const FiberReport once = run_fibers(37, program), again = run_fibers(37, program);
  for (int r = 0; r < 37; ++r) EXPECT_EQ(once.ranks[r].rounds, again.ranks[r].rounds);
}

}  // namespace
}  // namespace dist::test
