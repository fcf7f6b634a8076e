// Endpoint::carry: a message from start to end, beside the same by a Transport.
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

INSTANTIATE_TEST_SUITE_P(Worlds, Carry,
                         testing::Values(World{2, "auto"}, World{2, "tcp"}, World{4, "auto"},
                                         World{3, "auto", {"a", "b", "a"}}),
                         [](const auto& param_info) { return param_info.param.str(); });

}  // namespace
}  // namespace dist::test
