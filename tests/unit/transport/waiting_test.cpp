// When sends and receives complete, cancelling, and several threads of one rank.
#include <atomic>
#include <ctime>
#include <latch>

#include "unit/transport/ranks.h"

namespace dist::test {
namespace {

class Waiting : public testing::TestWithParam<World> {};

TEST_P(Waiting, a_rendezvous_send_waits_for_its_receive) {
  for (std::size_t bytes : {0u, 8u, 5000u, 100000u}) {
    std::atomic<bool> is_posted{false};
    run_world(GetParam(), [&](Rank& me) {
      auto net = me.open({.mode = SendMode::rendezvous});
      Message message(bytes, Memory::arena);
      if (me.rank() == 0) {
        auto send = net->isend(message.write(0, 1).view(), 1);
        EXPECT_FALSE(send.is_completed());
        send.wait();
        EXPECT_TRUE(is_posted) << bytes << " bytes were 'received' before any rank asked for them";
      } else {
        std::this_thread::sleep_for(30ms);
        is_posted = true;
        net->irecv(message.clear().view(), 0).wait();
        message.check(0, 1);
      }
    });
  }
}

TEST_P(Waiting, a_small_eager_send_does_not) {
  std::atomic<bool> has_sent{false};
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open();
    Message message(512, Memory::foreign);
    if (me.rank() == 0) {
      net->isend(message.write(0, 1).view(), 1).wait();
      message.clear();  // the buffer is the sender's again
      has_sent = true;
    } else {
      while (!has_sent) std::this_thread::sleep_for(1ms);
      net->irecv(message.clear().view(), 0).wait();
      message.check(0, 1);
    }
  });
}

TEST_P(Waiting, is_completed_becomes_true_without_wait) {
  run_world(GetParam(), [](Rank& me) {
    auto net = me.open();
    for (std::size_t bytes : {10u, 50000u, 1000000u}) {
      Message out(bytes, Memory::foreign), in(bytes, Memory::arena);
      auto got = net->irecv(in.clear().view(), 1 - me.rank());
      auto put = net->isend(out.write(me.rank(), 1 - me.rank()).view(), 1 - me.rank());
      while (!got.is_completed() || !put.is_completed()) std::this_thread::yield();
      in.check(1 - me.rank(), me.rank());
      got.wait();
      put.wait();
    }
  });
}

// One thread waits and another polls: a message that the second takes in must wake the first, whenever it
// arrives.
TEST_P(Waiting, what_another_thread_takes_in_ends_the_wait) {
  run_world(GetParam(), [](Rank& me) {
    auto waits = me.open({.tag = 1}), asks = me.open({.tag = 2});
    const int peer = 1 - me.rank();
    Message never(8, Memory::arena);
    auto asked = asks->irecv(never.view(), peer);
    std::jthread asker([&](const std::stop_token& ends) {
      while (!ends.stop_requested()) static_cast<void>(asked.is_completed());
    });
    for (int i = 0; i < 2000; ++i) {
      Message out(8, Memory::arena), in(8, Memory::arena);
      auto put = waits->isend(out.write(me.rank(), peer).view(), peer);
      waits->irecv(in.clear().view(), peer).wait();
      in.check(peer, me.rank());
      put.wait();
    }
  });
}

TEST_P(Waiting, a_cancelled_receive_leaves_the_message_for_the_next) {
  run_world(GetParam(), [](Rank& me) {
    auto net = me.open();
    Message message(100, Memory::arena), unused(100, Memory::arena);
    if (me.rank() == 0) {
      { auto cancelled = net->irecv(unused.clear().view(), 1); }
      net->irecv(message.clear().view(), 1).wait();
      message.check(1, 0);
    } else {
      std::this_thread::sleep_for(10ms);
      net->isend(message.write(1, 0).view(), 0).wait();
    }
  });
}

// The buffer of a cancelled send may be gone: its receive must fail, and the next message still arrive.
TEST_P(Waiting, a_cancelled_send_fails_its_receive) {
  for (std::size_t bytes : {5000u, 200000u}) {
    for (Memory memory : {Memory::arena, Memory::foreign}) {
      run_world(GetParam(), [&](Rank& me) {
        auto net = me.open({.tag = 17, .name = "exchange", .what = {5000, DType::u8}});
        auto control = me.open({.context = 2});
        Message second(64, Memory::arena), go(0, Memory::arena);
        if (me.rank() == 0) {
          const bool is_eager = GetParam().transport != "auto" && bytes <= 32768;
          {
            Message gone(bytes, memory);
            auto cancelled = net->isend(gone.view(), 1);
          }
          net->isend(second.write(0, 1).view(), 1).wait();
          control->isend(go.view(), 1).wait();
          Message told(1, Memory::arena);
          control->irecv(told.view(), 1).wait();
          EXPECT_EQ(told.data()[0], is_eager ? 0 : 1);
        } else {
          control->irecv(go.view(), 0).wait();
          Message first(bytes, Memory::arena), told(1, Memory::arena);
          auto request = net->irecv(first.clear().view(), 0);
          told.data()[0] = 0;
          try {
            request.wait();
          } catch (const Error& error) {
            told.data()[0] = 1;
            expect_error(error, Errc::peer_failed, {"rank 1: exchange #17", "rank 0 gave up its send"});
          }
          net->irecv(second.clear().view(), 0).wait();
          second.check(0, 1);
          control->isend(told.view(), 0).wait();
        }
      });
    }
  }
}

// More messages than can be offered in place: the rest is streamed, messages to the rank itself as well.
TEST_P(Waiting, many_large_messages_to_oneself) {
  run_world(GetParam(), [](Rank& me) {
    constexpr std::size_t bytes = 5000, messages = 1100;
    auto net = me.open();
    Message out(bytes, Memory::arena);
    out.write(me.rank(), me.rank());
    std::vector<Request> requests;
    std::vector<std::unique_ptr<Message>> in;
    for (std::size_t i = 0; i < messages; ++i) requests.push_back(net->isend(out.view(), me.rank()));
    for (std::size_t i = 0; i < messages; ++i) {
      in.push_back(std::make_unique<Message>(bytes, Memory::arena));
      requests.push_back(net->irecv(in.back()->clear().view(), me.rank()));
    }
    for (Request& request : requests) request.wait();
    for (const auto& message : in) message->check(me.rank(), me.rank());
  });
}

TEST_P(Waiting, a_cancelled_receive_in_mid_stream_fails_the_send) {
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open({.name = "send", .point_to_point = true});
    auto control = me.open({.context = 2});
    Message big(32 << 20, Memory::foreign), go(0, Memory::arena);
    if (me.rank() == 0) {
      auto send = net->isend(big.view(), 1);
      control->isend(go.view(), 1).wait();
      if (me.endpoint().link_kind(1) == "tcp")
        expect_error(error_of([&] { send.wait(); }), Errc::peer_failed,
                     {"rank 1 gave up its receive of 33554432"});
      else
        send.wait();  // copied, or given up, in one piece
    } else {
      control->irecv(go.view(), 0).wait();
      auto cancelled = net->irecv(big.view(), 0);
      if (me.endpoint().link_kind(0) == "tcp") {
        for (int i = 0; i < 3; ++i) cancelled.is_completed();
      } else {
        cancelled.wait();
      }
    }
  });
}

TEST_P(Waiting, four_threads_of_a_rank_run_their_own_operations) {
  run_world(GetParam(), [](Rank& me) {
    std::vector<std::thread> threads;
    std::exception_ptr failure;
    std::mutex mutex;
    for (std::uint32_t context = 10; context < 14; ++context) {
      threads.emplace_back([&, context] {
        try {
          for (std::uint64_t i = 0; i < 60; ++i) {
            auto net = me.open({.tag = i, .context = context});
            const std::size_t bytes = (i % 4) * 30000 + context;
            Message out(bytes, i % 2 ? Memory::arena : Memory::foreign), in(bytes, Memory::arena);
            const int peer = 1 - me.rank(), number = static_cast<int>(i);
            send_recv(*net, out.write(me.rank(), peer, number).view(), peer, in.clear().view(), peer);
            in.check(peer, me.rank(), number);
          }
        } catch (...) {
          std::lock_guard lock(mutex);
          failure = std::current_exception();
        }
      });
    }
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
  });
}

// Does what a backend's progress thread does: no rank waits, one thread moves everything.
TEST_P(Waiting, progress_completes_what_nobody_waits_for) {
  run_world(GetParam(), [](Rank& me) {
    auto net = me.open();
    constexpr int count = 20;
    std::vector<Message> out, in;
    std::vector<Request> requests;
    for (int i = 0; i < count; ++i) {
      const std::size_t bytes = static_cast<std::size_t>(i) * 10007;
      in.emplace_back(bytes, Memory::arena).clear();
      out.emplace_back(bytes, Memory::foreign).write(me.rank(), 1 - me.rank(), i);
      requests.push_back(net->irecv(in.back().view(), 1 - me.rank()));
      requests.push_back(net->isend(out.back().view(), 1 - me.rank()));
    }
    const auto all_done = [&] {
      return std::all_of(requests.begin(), requests.end(), [](Request& r) { return r.is_completed(); });
    };
    while (!all_done()) me.endpoint().progress(1s);
    for (int i = 0; i < count; ++i) in[static_cast<std::size_t>(i)].check(1 - me.rank(), me.rank(), i);
    for (auto& request : requests) request.wait();
  });
}

TEST_P(Waiting, interrupt_ends_progress) {
  run_world(GetParam(), [](Rank& me) {
    std::atomic<bool> stop{false};
    std::thread progress([&] {
      while (!stop) me.endpoint().progress(20s);
    });
    std::this_thread::sleep_for(10ms);
    const auto before = std::chrono::steady_clock::now();
    stop = true;
    me.endpoint().interrupt();
    progress.join();
    EXPECT_LT(std::chrono::steady_clock::now() - before, 5s);
  });
}

TEST_P(Waiting, progress_returns_after_its_patience) {
  run_world(GetParam(), [](Rank& me) {
    me.endpoint().progress(0s);
    const auto before = std::chrono::steady_clock::now();
    me.endpoint().progress(50ms);
    EXPECT_GE(std::chrono::steady_clock::now() - before, 49ms);
  });
}

// With more ranks than cores, a rank that waits must leave the cores to the others.
TEST_P(Waiting, a_waiting_rank_sleeps) {
  run_world(GetParam(), [](Rank& me) {
    auto net = me.open();
    Message message(8, Memory::arena);
    if (me.rank() == 0) {
      std::this_thread::sleep_for(400ms);
      net->isend(message.view(), 1).wait();
      return;
    }
    const auto cpu_time = [] {
      timespec now{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
      return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
    };
    const auto before = cpu_time();
    net->irecv(message.view(), 0).wait();
    EXPECT_LT(cpu_time() - before, 20ms);  // 5 %
  });
}

INSTANTIATE_TEST_SUITE_P(Links, Waiting,
                         testing::Values(World{2, "auto"}, World{2, "tcp"}, World{2, "plain"}),
                         [](const auto& param_info) { return param_info.param.str(); });

TEST(WaitingOnOneself, works_in_any_order_and_with_any_mode) {
  run_world({1}, [](Rank& me) {
    for (SendMode mode : {SendMode::eager, SendMode::rendezvous}) {
      for (std::size_t bytes : {0u, 100u, 100000u}) {
        auto net = me.open({.mode = mode});
        Message out(bytes, Memory::foreign), in(bytes, Memory::foreign);
        auto put = net->isend(out.write(0, 0).view(), 0);
        auto got = net->irecv(in.clear().view(), 0);
        put.wait();
        got.wait();
        in.check(0, 0);
      }
    }
  });
}

}  // namespace
}  // namespace dist::test
