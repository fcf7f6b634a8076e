// Messages of all sizes between all ranks, on every kind of link.
#include <algorithm>

#include "unit/transport/ranks.h"

namespace dist::test {
namespace {

class Exchange : public testing::TestWithParam<World> {};

// Every rank sends to every rank, itself included, receives posted first.
void exchange_all(Rank& me, std::size_t bytes, Memory out_memory, Memory in_memory, std::uint64_t tag) {
  auto net = me.open({.tag = tag});
  std::vector<Message> out, in;
  for (int peer = 0; peer < me.size(); ++peer) {
    out.emplace_back(bytes, out_memory).write(me.rank(), peer);
    in.emplace_back(bytes, in_memory).clear();
  }
  std::vector<Request> requests;
  for (int peer = 0; peer < me.size(); ++peer)
    requests.push_back(net->irecv(in[static_cast<std::size_t>(peer)].view(), peer));
  for (int peer = 0; peer < me.size(); ++peer)
    requests.push_back(net->isend(out[static_cast<std::size_t>(peer)].view(), peer));
  for (int i = 0; i < 2 * me.size(); ++i)
    EXPECT_EQ(requests[static_cast<std::size_t>(i)].wait(), i % me.size());
  for (int peer = 0; peer < me.size(); ++peer) in[static_cast<std::size_t>(peer)].check(peer, me.rank());
}

TEST_P(Exchange, sizes_and_memory) {
  run_world(GetParam(), [](Rank& me) {
    std::uint64_t tag = 0;
    for (std::size_t bytes : {0u, 1u, 7u, 16u, 17u, 4096u, 4097u, 32768u, 32769u, 65537u, 300001u})
      for (Memory out : {Memory::arena, Memory::foreign})
        for (Memory in : {Memory::arena, Memory::foreign}) exchange_all(me, bytes, out, in, ++tag);
  });
}

TEST_P(Exchange, eight_mebibytes_in_both_directions_at_once) {
  if (GetParam().n > 3) GTEST_SKIP() << "the same code with two and three ranks";
  run_world(GetParam(), [](Rank& me) {
    exchange_all(me, 8 << 20, Memory::arena, Memory::arena, 1);
    exchange_all(me, 8 << 20, Memory::foreign, Memory::foreign, 2);
  });
}

// A message that comes before its receive is unexpected, whatever its size.
TEST_P(Exchange, messages_wait_for_late_receives) {
  run_world(GetParam(), [](Rank& me) {
    const int n = me.size(), next = mod(me.rank() + 1, n), previous = mod(me.rank() - 1, n);
    auto net = me.open();
    std::vector<std::size_t> sizes{3, 5000, 0, 100000};
    std::vector<Message> out, in;
    std::vector<Request> sends;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      out.emplace_back(sizes[i], i % 2 ? Memory::arena : Memory::foreign)
          .write(me.rank(), next, static_cast<int>(i));
      sends.push_back(net->isend(out.back().view(), next));
    }
    std::this_thread::sleep_for(5ms);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      in.emplace_back(sizes[i], Memory::arena).clear();
      net->irecv(in[i].view(), previous).wait();
      in[i].check(previous, me.rank(), static_cast<int>(i));
    }
    for (auto& send : sends) send.wait();
  });
}

TEST_P(Exchange, more_messages_than_any_ring_holds_stay_in_order) {
  run_world(GetParam(), [](Rank& me) {
    const int n = me.size(), next = mod(me.rank() + 1, n), previous = mod(me.rank() - 1, n);
    auto net = me.open();
    const auto size = [](int i) { return static_cast<std::size_t>(i % 5 == 4 ? 6000 + i : i % 1500); };
    constexpr int count = 1200;
    std::vector<Message> out;
    std::vector<Request> sends;
    for (int i = 0; i < count; ++i) {
      out.emplace_back(size(i), Memory::foreign).write(me.rank(), next, i);
      sends.push_back(net->isend(out.back().view(), next));
    }
    for (int i = 0; i < count; ++i) {
      Message in(size(i), Memory::foreign);
      net->irecv(in.clear().view(), previous).wait();
      in.check(previous, me.rank(), i);
    }
    for (auto& send : sends) send.wait();
  });
}

TEST_P(Exchange, tags_and_contexts_keep_messages_apart) {
  run_world(GetParam(), [](Rank& me) {
    const int n = me.size(), next = mod(me.rank() + 1, n), previous = mod(me.rank() - 1, n);
    const OpOptions channels[] = {
        {.tag = 1}, {.tag = 2}, {.tag = 1, .context = 2}, {.tag = 1, .point_to_point = true}};
    std::vector<std::unique_ptr<Transport>> nets;
    std::vector<Message> out;
    std::vector<Request> sends;
    for (int i = 0; i < 4; ++i) {
      nets.push_back(me.open(channels[i]));
      out.emplace_back(9000 * (i % 2) + 10, Memory::arena).write(me.rank(), next, i);
      sends.push_back(nets.back()->isend(out.back().view(), next));
    }
    for (int i = 3; i >= 0; --i) {  // against the order of sending
      Message in(static_cast<std::size_t>(9000 * (i % 2) + 10), Memory::arena);
      nets[static_cast<std::size_t>(i)]->irecv(in.clear().view(), previous).wait();
      in.check(previous, me.rank(), i);
    }
    for (auto& send : sends) send.wait();
  });
}

TEST_P(Exchange, receives_from_any_rank_tell_the_source) {
  if (GetParam().n < 2) GTEST_SKIP() << "needs another rank";
  run_world(GetParam(), [](Rank& me) {
    for (int round = 0; round < 3; ++round) {
      auto net = me.open({.tag = static_cast<std::uint64_t>(round), .point_to_point = true});
      const std::size_t bytes = round == 1 ? 50000 : 8;
      if (me.rank() > 0) {
        Message out(bytes, Memory::arena);
        net->isend(out.write(me.rank(), 0, round).view(), 0).wait();
        continue;
      }
      std::vector<int> seen(static_cast<std::size_t>(me.size()));
      for (int k = 1; k < me.size(); ++k) {
        Message in(bytes, Memory::arena);
        const int source = net->irecv(in.clear().view(), any_rank).wait();
        in.check(source, 0, round);
        ++seen[static_cast<std::size_t>(source)];
      }
      for (int k = 1; k < me.size(); ++k) EXPECT_EQ(seen[static_cast<std::size_t>(k)], 1) << k;
    }
  });
}

TEST_P(Exchange, groups_use_their_own_rank_numbers) {
  if (GetParam().n < 3) GTEST_SKIP() << "needs a group that is not the world";
  run_world(GetParam(), [](Rank& me) {
    if (me.rank() == 0) return;
    std::vector<int> members;
    for (int r = me.size() - 1; r > 0; --r) members.push_back(r);
    auto net = me.open({.context = 5, .members = members});
    ASSERT_EQ(net->size(), me.size() - 1);
    ASSERT_EQ(members[static_cast<std::size_t>(net->rank())], me.rank());
    const int next = mod(net->rank() + 1, net->size()), previous = mod(net->rank() - 1, net->size());
    Message out(77, Memory::arena), in(77, Memory::arena);
    auto got = net->irecv(in.clear().view(), previous);
    auto put = net->isend(out.write(net->rank(), next).view(), next);
    EXPECT_EQ(got.wait(), previous);
    EXPECT_EQ(put.wait(), next);
    in.check(previous, net->rank());
  });
}

TEST_P(Exchange, send_recv_shifts_a_ring) {
  run_world(GetParam(), [](Rank& me) {
    const int n = me.size(), next = mod(me.rank() + 1, n), previous = mod(me.rank() - 1, n);
    auto net = me.open();
    for (int i = 0; i < 20; ++i) {
      Message out(70000, Memory::arena), in(70000, Memory::arena);
      send_recv(*net, out.write(me.rank(), next, i).view(), next, in.clear().view(), previous);
      in.check(previous, me.rank(), i);
    }
  });
}

TEST_P(Exchange, scratch_memory_is_reused_and_checked) {
  run_world(GetParam(), [](Rank& me) {
    auto net = me.open();
    const TensorView like{nullptr, 1000, DType::f32, cpu};
    std::byte* first = nullptr;
    {
      Scratch scratch = net->scratch(like);
      first = scratch.all().data;
      EXPECT_EQ(scratch.of(like).count, 1000);
      EXPECT_EQ(scratch.of({nullptr, 500, DType::f64, cpu}).bytes(), 4000u);
      EXPECT_THROW(scratch.of({nullptr, 501, DType::f64, cpu}), Error);
      std::memset(first, 1, 4000);
    }
    EXPECT_EQ(net->scratch(like).all().data, first);
  });
}

std::vector<World> worlds() {
  std::vector<World> all;
  for (int n : {1, 2, 3, 5, 8})
    for (const char* transport : {"auto", "tcp", "plain"}) all.push_back({n, transport});
  all.push_back({3, "auto", {"a", "b", "a"}});  // two share memory, the third is reached over TCP
  all.push_back({5, "auto", {"a", "a", "b", "b", "c"}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Worlds, Exchange, testing::ValuesIn(worlds()),
                         [](const auto& param_info) { return param_info.param.str(); });

TEST(Links, are_what_was_asked_for) {
  run_world({3, "auto", {"a", "b", "a"}}, [](Rank& me) {
    EXPECT_EQ(me.endpoint().link_kind(me.rank()), "self");
    EXPECT_EQ(me.endpoint().link_kind(mod(me.rank() + 1, 3)), me.rank() == 2 ? "thread" : "tcp");
  });
  run_world({2, "tcp"}, [](Rank& me) { EXPECT_EQ(me.endpoint().link_kind(1 - me.rank()), "tcp"); });
  run_world({2, "plain"}, [](Rank& me) { EXPECT_EQ(me.endpoint().link_kind(1 - me.rank()), "plain"); });
  run_world({2, "shm"}, [](Rank& me) { EXPECT_EQ(me.endpoint().link_kind(1 - me.rank()), "thread"); });
}

}  // namespace
}  // namespace dist::test
