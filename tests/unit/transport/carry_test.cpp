// Endpoint::carry: a message from start to end, compared with the same by a Transport.
#include "unit/transport/ranks.h"

namespace dist::test {
namespace {

class Carry : public testing::TestWithParam<World> {};

// From each rank to the next; the first one sends first.
void pass_round(Rank& me, std::size_t bytes, Memory memory, const OpOptions& op) {
  const int next = mod(me.rank() + 1, me.size()), previous = mod(me.rank() - 1, me.size());
  Message out(bytes, memory), in(bytes, memory);
  out.write(me.rank(), next);
  in.clear();
  const auto send = [&] { EXPECT_EQ(me.carry_send(out.view(), next, op), next); };
  if (me.rank() == 0) send();
  EXPECT_EQ(me.carry_recv(in.view(), previous, op), previous);
  if (me.rank() != 0) send();
  in.check(previous, me.rank());
}

TEST_P(Carry, messages_go_round) {
  run_world(GetParam(), [](Rank& me) {
    std::uint64_t tag = 0;
    for (std::size_t bytes : {0u, 1u, 16u, 17u, 4096u, 4097u, 65535u, 65536u, 65537u, 3'000'001u})
      for (Memory memory : {Memory::arena, Memory::foreign})
        for (SendMode mode : {SendMode::eager, SendMode::rendezvous})
          pass_round(me, bytes, memory, {.tag = ++tag, .mode = mode, .point_to_point = true});
  });
}

void work_for(std::chrono::nanoseconds time) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) continue;
}

// Every answer is followed by a message. The answer is seen before the message, or together with it, however
// long the rank has looked for it.
TEST_P(Carry, two_ranks_in_turn_do_not_miss_an_answer) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() > 1) return;
    constexpr int turns = 3000;
    const int other = 1 - me.rank();
    for (const std::size_t bytes : {4u, 100u}) {
      Message out(bytes, Memory::arena), in(bytes, Memory::arena);
      out.write(me.rank(), other);
      in.clear();
      const OpOptions op{.tag = bytes, .mode = SendMode::rendezvous, .point_to_point = true};
      for (int i = 0; i < turns; ++i) {
        if (me.rank() == 0) me.carry_send(out.view(), other, op);
        if (me.rank() == 1) work_for(2us * (i % 8));
        me.carry_recv(in.view(), other, op);
        if (me.rank() == 1) me.carry_send(out.view(), other, op);
      }
      in.check(other, me.rank());
    }
  });
}

TEST_P(Carry, meets_what_a_transport_sends) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() > 1) return;
    for (std::size_t bytes : {8u, 100'000u}) {
      Message out(bytes, Memory::arena), in(bytes, Memory::arena);
      out.write(me.rank(), 1 - me.rank());
      in.clear();
      const OpOptions op{.tag = bytes, .point_to_point = true};
      auto net = me.open(op);
      if (me.rank() == 0) {
        Request put = net->isend(out.view(), 1);
        EXPECT_EQ(me.carry_recv(in.view(), any_rank, op), 1);
        put.wait();
      } else {
        Request got = net->irecv(in.view(), 0);
        EXPECT_EQ(me.carry_send(out.view(), 0, op), 0);
        got.wait();
      }
      in.check(1 - me.rank(), me.rank());
    }
  });
}

// A send that has given up is still received, late, between others.
TEST_P(Carry, a_late_answer_is_not_taken_for_another) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() > 1) return;
    constexpr int others = 8;
    Message message(64, Memory::arena);
    const OpOptions usual{.tag = 1, .mode = SendMode::rendezvous, .point_to_point = true};
    OpOptions late = usual;
    late.tag = 2;
    late.timeout = 100ms;
    if (me.rank() == 0) {
      EXPECT_EQ(error_of([&] { me.carry_send(message.write(0, 1).view(), 1, late); }).code(), Errc::timeout);
      for (int i = 0; i < others; ++i) me.carry_send(message.view(), 1, usual);
      return;
    }
    std::this_thread::sleep_for(300ms);
    for (int i = 1; i < others; ++i) me.carry_recv(message.clear().view(), 0, usual);
    std::this_thread::sleep_for(50ms);  // the sender sleeps
    me.carry_recv(message.clear().view(), 0, usual);
    me.carry_recv(message.clear().view(), 0, late);
    message.check(0, 1);
  });
}

TEST_P(Carry, errors_are_those_of_a_transport) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() > 1) return;
    Message message(65536, Memory::arena), small(64, Memory::arena);
    const OpOptions late{
        .tag = 5, .timeout = 50ms, .name = "recv", .what = {64, DType::u8}, .point_to_point = true};
    if (me.rank() == 0)
      expect_error(error_of([&] { me.carry_recv(small.view(), 1, late); }), Errc::timeout,
                   {"rank 0: recv #5 (64 u8) got 0 of 64 bytes from rank 1 in ", "has that rank sent it"});
    const OpOptions differs{.tag = 6, .mode = SendMode::rendezvous, .point_to_point = true};
    const auto misfit = error_of([&] {
      me.rank() == 0 ? me.carry_recv(small.view(), 1, differs) : me.carry_send(message.view(), 0, differs);
    });
    expect_error(misfit, Errc::mismatch, {"64", "65536"});
    expect_error(error_of([&] { me.carry_send(small.view(), me.size()); }), Errc::invalid_argument,
                 {"sends to group rank"});
    const OpOptions after{.tag = 7, .mode = SendMode::rendezvous, .point_to_point = true};
    me.rank() == 0 ? me.carry_send(small.view(), 1, after) : me.carry_recv(small.view(), 0, after);
  });
}

TEST_P(Carry, a_death_ends_it) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() == me.size() - 1) {
      std::this_thread::sleep_for(20ms);
      return me.die();
    }
    Message message(64, Memory::arena);
    expect_error(error_of([&] { me.carry_recv(message.view(), me.size() - 1, {.point_to_point = true}); }),
                 Errc::peer_failed, {"died"});
    expect_error(error_of([&] { me.carry_recv(message.view(), me.size() - 1, {.point_to_point = true}); }),
                 Errc::peer_failed, {"died"});
  });
}

TEST_P(Carry, comes_behind_an_earlier_receive) {
  run_world(GetParam(), [](Rank& me) {
    constexpr int times = 50;
    for (int i = 0; i < times && me.rank() < 2; ++i) {
      const OpOptions op{.tag = 9, .point_to_point = true};
      Message first(8, Memory::arena), second(8, Memory::arena);
      if (me.rank() == 0) {
        me.carry_send(first.write(0, 1, 2 * i).view(), 1, op);
        me.carry_send(second.write(0, 1, 2 * i + 1).view(), 1, op);
      } else {
        auto net = me.open(op);
        Request earlier = net->irecv(first.clear().view(), 0);
        EXPECT_EQ(me.carry_recv(second.clear().view(), 0, op), 0);
        earlier.wait();
        first.check(0, 1, 2 * i);
        second.check(0, 1, 2 * i + 1);
      }
    }
  });
}

TEST_P(Carry, tags_are_taken_in_any_order) {
  run_world(GetParam(), [](Rank& me) {
    constexpr int tags = 20;
    Message message(100, Memory::arena);
    for (int i = 0; i < tags && me.rank() < 2; ++i) {
      const int tag = me.rank() == 0 ? i : tags - 1 - i;
      const OpOptions op{.tag = static_cast<std::uint64_t>(tag), .point_to_point = true};
      if (me.rank() == 0) {
        me.carry_send(message.write(0, 1, tag).view(), 1, op);
      } else {
        me.carry_recv(message.clear().view(), 0, op);
        message.check(0, 1, tag);
      }
    }
  });
}

TEST_P(Carry, goes_on_after_a_refusal) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() > 1) return;
    const OpOptions op{.tag = 3, .mode = SendMode::rendezvous, .point_to_point = true};
    Message large(64, Memory::arena), out(32, Memory::arena), in(32, Memory::arena);
    const auto misfit = error_of(
        [&] { me.rank() == 0 ? me.carry_send(large.view(), 1, op) : me.carry_recv(in.view(), 0, op); });
    expect_error(misfit, Errc::mismatch, {"64", "32"});
    for (int i = 0; i < 200; ++i) {
      if (me.rank() == 0) me.carry_send(out.write(0, 1, i).view(), 1, op);
      me.carry_recv(in.clear().view(), 1 - me.rank(), op);
      in.check(1 - me.rank(), me.rank(), i);
      if (me.rank() == 1) me.carry_send(out.write(1, 0, i).view(), 0, op);
    }
  });
}

TEST_P(Carry, a_send_ends_when_its_receive_is_there) {
  std::atomic<bool> receives{false};
  run_world(GetParam(), [&](Rank& me) {
    const OpOptions op{.mode = SendMode::rendezvous, .point_to_point = true};
    Message message(8, Memory::arena);
    if (me.rank() == 0) {
      me.carry_send(message.view(), 1, op);
      EXPECT_TRUE(receives.load());
    } else if (me.rank() == 1) {
      std::this_thread::sleep_for(20ms);
      receives = true;
      me.carry_recv(message.view(), 0, op);
    }
  });
}

TEST_P(Carry, threads_of_a_rank_do_not_meet_each_others_answers) {
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() > 1) return;
    const auto work = [&](std::uint64_t tag) {
      const OpOptions op{.tag = tag, .mode = SendMode::rendezvous, .point_to_point = true};
      Message message(40, Memory::arena);
      for (int i = 0; i < 300; ++i) {
        const int number = static_cast<int>(tag) * 1000 + i;
        if (me.rank() == 0) {
          me.carry_send(message.write(0, 1, number).view(), 1, op);
        } else {
          me.carry_recv(message.clear().view(), 0, op);
          message.check(0, 1, number);
        }
      }
    };
    std::thread other(work, 1);
    work(2);
    other.join();
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, Carry,
                         testing::Values(World{2, "auto"}, World{2, "tcp"}, World{2, "plain"},
                                         World{4, "auto"}, World{3, "auto", {"a", "b", "a"}}),
                         [](const auto& param_info) { return param_info.param.str(); });

}  // namespace
}  // namespace dist::test
