// What ranks are notified of when something goes wrong: mismatches, timeouts, deaths, goodbyes.
#include <latch>

#include "unit/transport/ranks.h"

namespace dist::test {
namespace {

class Failure : public testing::TestWithParam<World> {};

TEST_P(Failure, different_sizes_are_named_on_both_sides) {
  run_world(GetParam(), [](Rank& me) {
    for (std::size_t bytes : {64u, 100000u}) {
      auto net = me.open({.tag = 3, .mode = SendMode::rendezvous, .name = me.rank() == 0 ? "recv" : "send"});
      Message message(me.rank() == 0 ? bytes : 2 * bytes, Memory::arena);
      auto request = me.rank() == 0 ? net->irecv(message.view(), 1) : net->isend(message.view(), 0);
      const Error error = error_of([&] { request.wait(); });
      const auto b = std::to_string(bytes), b2 = std::to_string(2 * bytes);
      if (me.rank() == 0)
        expect_error(error, Errc::mismatch,
                     {"rank 0: recv #3 expects " + b + " bytes from rank 1, which sent " + b2});
      else
        expect_error(error, Errc::mismatch,
                     {"rank 1: send #3 sent " + b2 + " bytes to rank 0, which expects " + b});
    }
  });
}

TEST_P(Failure, different_collectives_are_named_on_both_sides) {
  run_world(GetParam(), [](Rank& me) {
    for (std::size_t bytes : {64u, 100000u}) {
      const bool broadcasts = me.rank() == 1;
      const OpKind kind = broadcasts ? OpKind::broadcast : OpKind::all_reduce;
      auto net = me.open({.tag = 7,
                          .opcode = opcode_of(kind, DType::f32),
                          .mode = SendMode::rendezvous,
                          .name = broadcasts ? "chain_broadcast" : "ring_all_reduce",
                          .what = {16, DType::f32}});
      Message message(bytes, Memory::arena);
      auto request = me.rank() == 0 ? net->irecv(message.view(), 1) : net->isend(message.view(), 0);
      const Error error = error_of([&] { request.wait(); });
      if (me.rank() == 0)
        expect_error(
            error, Errc::mismatch,
            {"rank 0: ring_all_reduce #7 (16 f32): rank 1 is in broadcast f32 but rank 0 is in all_reduce "
             "f32 at the same place (#7)"});
      else
        expect_error(
            error, Errc::mismatch,
            {"rank 1: chain_broadcast #7 (16 f32): rank 0 is in all_reduce f32 but rank 1 is in broadcast "
             "f32 at the same place (#7)"});
    }
  });
}

// Its send has long returned, but the operation goes on: it ends with the mismatch, not with a timeout.
TEST_P(Failure, a_buffered_message_that_does_not_fit_fails_the_senders_operation) {
  run_world(GetParam(), [](Rank& me) {
    auto net = me.open({.tag = 9});
    Message small(64, Memory::arena), big(128, Memory::arena);
    if (me.rank() == 0) {
      auto got = net->irecv(small.view(), 1);
      expect_error(error_of([&] { got.wait(); }), Errc::mismatch,
                   {"expects 64 bytes from rank 1, which sent 128"});
    } else {
      auto reply = net->irecv(small.view(), 0);
      net->isend(big.view(), 0).wait();
      expect_error(error_of([&] { reply.wait(); }), Errc::mismatch, {"rank 0, which expects 64"});
    }
  });
}

TEST_P(Failure, a_timeout_says_who_what_and_how_far) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() == 1) {
      std::this_thread::sleep_for(200ms);
      return;
    }
    Message message(262144, Memory::arena);
    auto net =
        me.open({.tag = 17, .timeout = 50ms, .name = "ring_reduce_scatter", .what = {65536, DType::f32}});
    auto got = net->irecv(message.view(), 1);
    expect_error(error_of([&] { got.wait(); }), Errc::timeout,
                 {"rank 0: ring_reduce_scatter #17 (65536 f32) got 0 of 262144 bytes from rank 1 in ",
                  " ms; is that rank alive and calling the same collective?"});
    auto put = net->isend(message.view(), 1);
    EXPECT_TRUE(put.is_completed()) << "its time is over";
    expect_error(error_of([&] { put.wait(); }), Errc::timeout, {"handed over 0 of 262144 bytes to rank 1"});

    auto user = me.open({.tag = 5, .timeout = 30ms, .name = "recv", .point_to_point = true});
    expect_error(error_of([&] { user->irecv(message.view(), any_rank).wait(); }), Errc::timeout,
                 {"rank 0: recv #5 got 0 of 262144 bytes from any rank", "has any rank sent it"});
    expect_error(error_of([&] { user->irecv(message.view(), 0).wait(); }), Errc::timeout,
                 {"has that rank sent it"});
  });
}

TEST_P(Failure, after_a_timeout_the_link_still_works) {
  run_world(GetParam(), [](Rank& me) {
    Message message(100000, Memory::foreign);
    if (me.rank() == 0) {
      auto late = me.open({.tag = 1, .timeout = 20ms});
      EXPECT_THROW(late->irecv(message.view(), 1).wait(), Error);
    }
    auto net = me.open({.tag = 2});
    Message out(100000, Memory::foreign), in(100000, Memory::foreign);
    send_recv(*net, out.write(me.rank(), 1 - me.rank()).view(), 1 - me.rank(), in.clear().view(),
              1 - me.rank());
    in.check(1 - me.rank(), me.rank());
  });
}

TEST_P(Failure, wrong_arguments_are_refused_at_once) {
  run_world(GetParam(), [](Rank& me) {
    auto net = me.open();
    Message message(8, Memory::arena);
    expect_error(error_of([&] { net->isend(message.view(), 2); }), Errc::invalid_argument, {"group rank 2"});
    expect_error(error_of([&] { net->irecv(message.view(), -2); }), Errc::invalid_argument,
                 {"group rank -2"});
    TensorView on_device = message.view();
    on_device.device = cuda(0);
    expect_error(error_of([&] { net->isend(on_device, 0); }), Errc::unsupported, {"cuda:0"});
    expect_error(error_of([&] { me.open({.members = {1 - me.rank()}}); }), Errc::invalid_argument,
                 {"not a member"});
    expect_error(error_of([&] {
                   me.open({.members = {me.rank(), 2}});
                 }),
                 Errc::invalid_argument, {"member 2"});
  });
}

INSTANTIATE_TEST_SUITE_P(Pairs, Failure,
                         testing::Values(World{2, "auto"}, World{2, "tcp"}, World{2, "plain"}),
                         [](const auto& param_info) { return param_info.param.str(); });

class Departure : public testing::TestWithParam<World> {};

OpOptions among(std::vector<int> members) {
  return {.tag = 4, .name = "ring_all_reduce", .members = std::move(members)};
}

TEST_P(Departure, a_death_ends_every_operation_of_its_groups) {
  std::latch everybody_waits(3);
  run_world(GetParam(), [&](Rank& me) {
    if (me.rank() == 1) {
      everybody_waits.wait();
      return me.die();
    }
    Message message(100, Memory::arena);
    auto net = me.open(among({0, 1, 2, 3}));
    auto others = me.open({.tag = 5, .members = {0, 2, 3}});
    // From a rank that is alive: the group still contains the dead one.
    auto pending = net->irecv(message.view(), me.rank() == 0 ? 2 : 0);
    everybody_waits.count_down();
    const auto before = std::chrono::steady_clock::now();
    expect_error(error_of([&] { pending.wait(); }), Errc::peer_failed,
                 {"rank " + std::to_string(me.rank()) + ": ring_all_reduce #4: rank 1 died"});
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
    expect_error(error_of([&] { net->irecv(message.view(), 0).wait(); }), Errc::peer_failed, {"rank 1 died"});
    expect_error(error_of([&] {
                   me.open(among({0, 1, 2, 3}))->isend(message.view(), 0).wait();
                 }),
                 Errc::peer_failed, {"rank 1 died"});
    // A group without the dead rank still works.
    const int next = mod(others->rank() + 1, 3), previous = mod(others->rank() - 1, 3);
    Message in(100, Memory::arena);
    send_recv(*others, message.view(), next, in.view(), previous);
  });
}

TEST_P(Departure, what_a_rank_sent_before_it_left_can_be_received) {
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open(among({0, 1, 2, 3}));
    Message message(700, Memory::arena);
    if (me.rank() == 1) {
      for (int peer : {0, 2, 3}) net->isend(message.write(1, peer).view(), peer).wait();
      return;  // says goodbye
    }
    std::this_thread::sleep_for(20ms);
    net->irecv(message.clear().view(), 1).wait();
    message.check(1, me.rank());
    const Error error = error_of([&] { net->irecv(message.view(), 1).wait(); });
    expect_error(error, Errc::peer_failed,
                 {"rank 1 has left the job and will not send the missing 700 bytes"});
    expect_error(error_of([&] { net->isend(Message(90000, Memory::arena).view(), 1).wait(); }),
                 Errc::peer_failed, {"rank 1 has left the job and will not receive these 90000 bytes"});
    // The others can still be spoken to, in the same group.
    const int next = me.rank() == 0   ? 2
                     : me.rank() == 2 ? 3
                                      : 0,
              previous = me.rank() == 0   ? 3
                         : me.rank() == 2 ? 0
                                          : 2;
    Message in(700, Memory::arena);
    send_recv(*net, message.view(), next, in.view(), previous);
  });
}

// The message is still there when its receive comes, but no rank could send it any more.
TEST_P(Departure, what_a_rank_offered_and_left_behind_never_comes) {
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open(among({0, 1, 2, 3}));
    Message message(90000, Memory::foreign);
    if (me.rank() == 1) {
      const auto given_up = net->isend(message.view(), 0);
      return;  // says goodbye
    }
    if (me.rank() != 0) return;
    // It learns that rank 1 has left, and only then asks for what that had offered.
    auto other = me.open({.tag = 5, .members = {0, 1}});
    const auto missed = error_of([&] { other->irecv(message.view(), 1).wait(); });
    expect_error(missed, Errc::peer_failed, {"rank 1 has left"});
    const auto before = std::chrono::steady_clock::now();
    expect_error(error_of([&] { net->irecv(message.view(), 1).wait(); }), Errc::peer_failed, {"rank 1"});
    EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
  });
}

// Enough messages to fill the ring or the socket, and a rank that looks at none of them for longer than a
// ring's owner waits. (390,000 messages of 8 bytes would fit: on a busy machine they take longer than 20 s.)
void leave_a_busy_peer(const std::string& transport) {
  run_world({2, transport}, [](Rank& me) {
    auto net = me.open({.name = "recv", .point_to_point = true});
    Message message(2000, Memory::arena);
    if (me.rank() == 1) {
      message.write(1, 0);
      std::vector<Request> sends;
      const auto all_are_sent = [&] { return sends.empty() || sends.back().is_completed(); };
      while (all_are_sent()) sends.push_back(net->isend(message.view(), 0));
      return;  // says goodbye
    }
    std::this_thread::sleep_for(6s);
    for (int i = 0; i < 100; ++i) {
      net->irecv(message.clear().view(), 1).wait();
      message.check(1, 0);
    }
    try {
      for (;;) net->irecv(message.view(), 1).wait();
    } catch (const Error& error) {
      expect_error(error, Errc::peer_failed, {"rank 1 has left the job"});
    }
  });
}

TEST(DepartureOfABusyPeer, a_goodbye_that_finds_no_room_is_one_all_the_same) {
  std::thread by_tcp([] { leave_a_busy_peer("tcp"); });
  leave_a_busy_peer("auto");
  by_tcp.join();
}

TEST_P(Departure, a_goodbye_ends_receives_that_wait_for_that_rank_alone) {
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open(among({0, 1, 2, 3}));
    Message message(8, Memory::arena);
    if (me.rank() != 0) return;
    expect_error(error_of([&] { net->irecv(message.view(), 3).wait(); }), Errc::peer_failed,
                 {"rank 3 has left"});
    expect_error(error_of([&] { net->irecv(message.view(), any_rank).wait(); }), Errc::peer_failed,
                 {"all other ranks have left"});
  });
}

TEST_P(Departure, who_left_first_is_named_beside_the_rank_that_died_of_it) {
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open(among({0, 1, 2, 3}));
    Message message(8, Memory::arena);
    if (me.rank() == 1) return;  // says goodbye
    const Error error = error_of([&] { net->irecv(message.view(), me.rank() == 0 ? 1 : 0).wait(); });
    if (me.rank() == 0) {
      expect_error(error, Errc::peer_failed, {"rank 1 has left the job"});
      net.reset();
      me.die();
    } else {
      expect_error(error, Errc::peer_failed, {"rank 0 died", "; rank 1 had left the job before"});
    }
  });
}

// Rank 1, whose death ends rank 0, is not in the group in which rank 3 waits for rank 0.
TEST_P(Departure, who_died_first_is_named_beside_the_rank_of_another_group_that_died_of_it) {
  run_world(GetParam(), [&](Rank& me) {
    auto world = me.open(among({0, 1, 2, 3}));
    Message message(8, Memory::arena);
    if (me.rank() == 1) {
      world.reset();
      return me.die();
    }
    if (me.rank() != 3) {
      expect_error(error_of([&] { world->irecv(message.view(), 1).wait(); }), Errc::peer_failed,
                   {"rank 1 died"});
      if (me.rank() == 2) return;
      world.reset();
      return me.die();
    }
    for (int of = 0; of < 2; ++of) {
      auto pair = me.open(among({0, 3}));
      expect_error(error_of([&] { pair->irecv(message.view(), 0).wait(); }), Errc::peer_failed,
                   {": rank 0 died", "; before that, rank 1 died"});
    }
  });
}

TEST_P(Departure, a_reason_reaches_everybody) {
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open(among({0, 1, 2, 3}));
    Message message(8, Memory::arena);
    if (me.rank() == 2) return me.endpoint().close("rank 2: the data set is empty");
    const Error error = error_of([&] { net->irecv(message.view(), (me.rank() + 1) % 2).wait(); });
    expect_error(error, Errc::peer_failed, {": rank 2 gave up: rank 2: the data set is empty"});
    // The others may hear of this before they hear of rank 2; still they are to name rank 2.
    EXPECT_EQ(std::string(error.what()).find("rank 0 gave up"), std::string::npos) << error.what();
    me.endpoint().close(error.what());
  });
}

// Whichever link is read first.
TEST_P(Departure, what_others_sent_before_a_rank_gave_up_has_come) {
  for (int leaver : {1, 2, 3}) {
    std::latch posted(1), left(1), read(1);
    run_world(GetParam(), [&](Rank& me) {
      auto net = me.open(among({0, 1, 2, 3}));
      Message message(8, Memory::arena);
      const std::vector<int> senders{leaver % 3 + 1, (leaver + 1) % 3 + 1};
      if (me.rank() == 0) {
        std::vector<Request> receives;
        for (int from : senders) receives.push_back(net->irecv(message.view(), from));
        posted.count_down();
        left.wait();
        for (auto& receive : receives) EXPECT_NO_THROW(receive.wait());
        expect_error(error_of([&] { net->irecv(message.view(), leaver).wait(); }), Errc::peer_failed,
                     {"rank " + std::to_string(leaver) + " gave up: it has seen enough"});
        read.count_down();
        return;
      }
      posted.wait();
      if (me.rank() == leaver) {
        for (int from : senders) net->irecv(message.view(), from).wait();
        me.endpoint().close("it has seen enough");
        left.count_down();
        return;
      }
      for (int to : {0, leaver}) net->isend(message.view(), to).wait();
      read.wait();
    });
  }
}

// Rank 2 gives up its send because rank 3 has given up; rank 1 reads about both at once.
TEST_P(Departure, what_was_given_up_because_of_a_rank_fails_by_that_rank) {
  if (GetParam().transport == "plain")
    GTEST_SKIP() << "its thread delivers the message before it can be given up";
  std::latch posted(1), sent(1), withdrawn(1), read(1);
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open(among({0, 1, 2, 3}));
    Message message(200'000, Memory::arena);
    if (me.rank() == 1) {
      auto receive = net->irecv(message.view(), 2);
      posted.count_down();
      withdrawn.wait();
      expect_error(error_of([&] { receive.wait(); }), Errc::peer_failed,
                   {"rank 3 gave up: it has seen enough"});
      read.count_down();
    } else if (me.rank() == 2) {
      posted.wait();
      {
        auto send = net->isend(message.view(), 1);
        sent.count_down();
        expect_error(error_of([&] { net->irecv(message.view(), 3).wait(); }), Errc::peer_failed, {"rank 3"});
      }
      withdrawn.count_down();
      read.wait();
    } else if (me.rank() == 3) {
      sent.wait();
      me.endpoint().close("it has seen enough");
    } else {
      read.wait();
    }
  });
}

TEST_P(Departure, abort_ends_this_rank_s_operations_only) {
  std::latch rank_0_is_done(1);
  run_world(GetParam(), [&](Rank& me) {
    auto net = me.open(among({0, 1, 2, 3}));
    Message message(8, Memory::arena);
    if (me.rank() == 0) {
      std::thread watchdog([&] {
        std::this_thread::sleep_for(20ms);
        me.endpoint().abort("the watchdog lost patience");
      });
      expect_error(error_of([&] { net->irecv(message.view(), 1).wait(); }), Errc::aborted,
                   {"rank 0: ring_all_reduce #4: the watchdog lost patience"});
      watchdog.join();
      expect_error(error_of([&] { me.open()->irecv(message.view(), 1).wait(); }), Errc::aborted,
                   {"watchdog"});
      rank_0_is_done.count_down();
      return;
    }
    const int next = me.rank() % 3 + 1, previous = (me.rank() + 1) % 3 + 1;
    Message in(8, Memory::arena);
    send_recv(*net, message.view(), next, in.view(), previous);
    rank_0_is_done.wait();
  });
}

INSTANTIATE_TEST_SUITE_P(FourRanks, Departure,
                         testing::Values(World{4, "auto"}, World{4, "tcp"}, World{4, "plain"},
                                         World{4, "auto", {"a", "a", "b", "b"}}),
                         [](const auto& param_info) { return param_info.param.str(); });

}  // namespace
}  // namespace dist::test
