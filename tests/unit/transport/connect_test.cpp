// Making the mesh: which connections are refused, and which ranks are reported as missing.
#include <atomic>
#include <latch>
#include <optional>

#include <sys/socket.h>
#include <unistd.h>

#include "dist/store/socket.h"
#include "dist/store/tcp_store.h"
#include "dist/transport/mesh/handshake.h"
#include "dist/transport/mesh/rank_address.h"

#include "unit/transport/ranks.h"

namespace dist::test {
namespace {

EndpointOptions options_of(int rank, int n, const std::string& transport = "auto", Timeout timeout = 20s) {
  EndpointOptions options{.rank = rank, .world_size = n, .token = "secret", .transport = transport};
  options.deadline = Deadline::after(timeout);
  return options;
}

// Runs one function per rank and returns the message of each rank's error, "" when there was none.
std::vector<std::string> errors_of(int n, const std::function<void(int, Store&)>& body) {
  auto store = make_memory_store();
  std::vector<std::string> errors(static_cast<std::size_t>(n));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < n; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank, *store);
      } catch (const Error& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  return errors;
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const auto& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' in: " << text;
}

// Publishes what another rank at this address would publish.
void publish_address(Store& store, int rank, int world_size, const std::string& address) {
  net::RankAddress published = net::describe_process();
  published.rank = rank;
  published.world_size = world_size;
  published.addresses = {address};
  store.set("endpoint/" + std::to_string(rank), published.str());
}

TEST(Connect, wrong_options_are_refused) {
  auto store = make_memory_store();
  for (auto [rank, n] : {std::pair{0, 0}, {2, 2}, {-1, 3}})
    expect_error(error_of([&] { connect_endpoint(*store, options_of(rank, n)); }), Errc::invalid_argument,
                 {"rank"});
  expect_error(error_of([&] { connect_endpoint(*store, options_of(0, 2, "infiniband")); }),
               Errc::invalid_argument, {"'infiniband'", "auto, shm, tcp or plain"});
}

TEST(Connect, missing_ranks_are_named) {
  const auto errors = errors_of(5, [](int rank, Store& store) {
    if (rank != 1 && rank != 3) connect_endpoint(store, options_of(rank, 5, "auto", 400ms));
  });
  for (int rank : {0, 2, 4})  // the rank that waited first tells the others
    expect_parts(errors[static_cast<std::size_t>(rank)], {" ms for ranks 1, 3 of 5 to come"});
}

TEST(Connect, a_rank_that_fails_tells_the_others_why) {
  const auto errors = errors_of(3, [](int rank, Store& store) {
    // Rank 2 does not wait as long; the others need not sit out their own deadline.
    connect_endpoint(store, options_of(rank, 4, "auto", rank == 2 ? 300ms : 15s));
  });
  for (int rank : {0, 1})
    expect_parts(errors[static_cast<std::size_t>(rank)],
                 {"rank " + std::to_string(rank) + " stops connecting: rank 2 gave up", "rank 3 of 4"});
}

// Rank 2 has dialled and is answered, but leaves before it learns of the answer: only the end of its
// connection tells the others.
TEST(Connect, a_rank_that_gave_up_unheard_is_not_taken_for_dead) {
  auto store = make_memory_store();
  const UniqueFd silent = listen_at({.host = "127.0.0.1", .port = 0, .name = {}});  // rank 0 never answers
  publish_address(*store, 0, 3, "tcp://127.0.0.1:" + std::to_string(local_port(silent.get())));
  publish_address(*store, 2, 3, "tcp://127.0.0.1:1");
  std::thread goes([&] {
    const auto address = net::RankAddress::parse(store->get_text("endpoint/1", Deadline::after(10s)), "here");
    auto way = dial(parse_address(address.addresses.back()), Deadline::after(5s));
    ASSERT_TRUE(way.fd) << way.problem;
    net::Handshake talk(std::move(way.fd));
    ASSERT_TRUE(talk.say({.from = 2, .to = 1, .world_size = 3}, "secret", {}));
    while (talk.listen() == net::Handshake::State::listening) std::this_thread::sleep_for(1ms);
    store->set("endpoint/failed", "rank 2 gave up: rank 0 died");
  });
  expect_error(error_of([&] { connect_endpoint(*store, options_of(1, 3, "tcp")); }), Errc::peer_failed,
               {"rank 1 stops connecting: rank 2 gave up: rank 0 died"});
  goes.join();
}

// Rank 1 took long to be accepted and has dialled again: the connection that it gave up is read first.
TEST(Connect, a_connection_that_was_given_up_is_not_a_death) {
  auto store = make_memory_store();
  publish_address(*store, 1, 2, "tcp://127.0.0.1:1");
  std::thread calls_twice([&] {
    const auto rank = net::RankAddress::parse(store->get_text("endpoint/0", Deadline::after(10s)), "here");
    const auto call = [&] {
      auto way = dial(parse_address(rank.addresses.back()), Deadline::after(5s));
      EXPECT_TRUE(way.fd) << way.problem;
      auto talk = std::make_unique<net::Handshake>(std::move(way.fd));
      EXPECT_TRUE(talk->say({.from = 1, .to = 0, .world_size = 2}, "secret", {}));
      return talk;
    };
    call();
    const auto talk = call();
    while (talk->listen() == net::Handshake::State::listening) std::this_thread::sleep_for(1ms);
    EXPECT_TRUE(talk->say({.from = 1, .to = 0, .world_size = 2}, {}, {}));
    std::this_thread::sleep_for(300ms);
  });
  Rank me(0, 2, connect_endpoint(*store, options_of(0, 2, "tcp")));
  EXPECT_EQ(me.endpoint().link_kind(1), "tcp");
  me.endpoint().close("");
  calls_twice.join();
}

// Rank 0 has published where it is, and ends; the store, which it kept, ends with it.
TEST(Connect, a_death_is_told_where_the_store_died_with_the_rank) {
  auto server = std::make_optional<StoreServer>("tcp://127.0.0.1:0", "secret");
  const auto store = make_tcp_store(server->address(), "secret", Deadline::after(10s));
  const UniqueFd silent = listen_at({.host = "127.0.0.1", .port = 0, .name = {}});
  publish_address(*store, 0, 2, "tcp://127.0.0.1:" + std::to_string(local_port(silent.get())));
  auto options = options_of(1, 2, "tcp");
  options.is_gone = [&](int) {
    server.reset();
    return true;
  };
  expect_error(
      error_of([&] { connect_endpoint(*store, options); }), Errc::peer_failed,
      {"rank 1: rank 0 (process " + std::to_string(::getpid()) + ") died while the ranks were connecting"});
}

TEST(Connect, different_world_sizes_are_named) {
  const auto errors = errors_of(
      3, [](int rank, Store& store) { connect_endpoint(store, options_of(rank, rank == 1 ? 2 : 3)); });
  for (const auto& error : errors) expect_parts(error, {"was told that the world has", "check WORLD_SIZE"});
}

TEST(Connect, one_rank_number_twice) {
  const auto errors =
      errors_of(3, [](int, Store& store) { connect_endpoint(store, options_of(0, 2, "auto", 2s)); });
  int twice = 0;
  for (const auto& error : errors)
    twice += error.find("two processes say that they are rank 0") != std::string::npos;
  EXPECT_GE(twice, 2);
}

TEST(Connect, shared_memory_does_not_reach_another_host) {
  const auto errors = errors_of(2, [](int rank, Store& store) {
    auto options = options_of(rank, 2, "shm");
    options.host = rank == 0 ? "a" : "b";
    connect_endpoint(store, options);
  });
  expect_parts(errors[0] + errors[1], {"are on different hosts (", "DIST_TRANSPORT=auto or tcp"});
}

TEST(Connect, another_jobs_token_is_refused) {
  const auto errors = errors_of(2, [](int rank, Store& store) {
    auto options = options_of(rank, 2, "tcp", 3s);
    options.token = rank == 0 ? "mine" : "yours";
    connect_endpoint(store, options);
  });
  expect_parts(errors[1], {"rank 1: rank 0 closed the connection instead of greeting", "token"});
  EXPECT_NE(errors[0], "");
}

// Strangers knock while the ranks connect: silent ones, talkative ones, and impostors with the wrong token.
TEST(Connect, strangers_are_ignored) {
  auto store = make_memory_store();
  std::latch knocked(1);
  std::vector<UniqueFd> strangers;
  std::thread knocking([&] {
    const auto rank = net::RankAddress::parse(store->get_text("endpoint/0", Deadline::after(10s)), "here");
    for (const std::string& address : {rank.local_address, rank.addresses.back()}) {
      for (int i = 0; i < 80; ++i) {
        auto stranger = dial(parse_address(address), Deadline::after(5s));
        ASSERT_TRUE(stranger.fd) << stranger.problem;
        const std::string noise(static_cast<std::size_t>(i) * 7, 'x');
        if (i % 3 == 1) ::send(stranger.fd.get(), noise.data(), noise.size(), MSG_NOSIGNAL);
        if (i % 3 == 2) {
          net::Handshake impostor(std::move(stranger.fd));
          impostor.say({.from = 1, .to = 0, .world_size = 2}, "guess", {});
          strangers.push_back(impostor.take_socket());
        } else {
          strangers.push_back(std::move(stranger.fd));
        }
      }
    }
    knocked.count_down();
  });
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    ranks.emplace_back([&, rank] {
      if (rank == 1) knocked.wait();
      auto options = options_of(rank, 2);
      options.host = rank == 0 ? "a" : "b";  // so that a connection is needed
      Rank me(rank, 2, connect_endpoint(*store, options));
      Message out(100, Memory::arena), in(100, Memory::arena);
      send_recv(*me.open(), out.write(rank, 1 - rank).view(), 1 - rank, in.clear().view(), 1 - rank);
      in.check(1 - rank, rank);
      me.endpoint().close("");
    });
  }
  knocking.join();
  for (auto& rank : ranks) rank.join();
}

TEST(Connect, a_job_may_connect_again_and_again) {
  for (int i = 0; i < 20; ++i)
    run_world({3, i % 2 ? "auto" : "tcp"}, [](Rank& me) {
      Message out(10, Memory::arena), in(10, Memory::arena);
      send_recv(*me.open(), out.view(), mod(me.rank() + 1, 3), in.view(), mod(me.rank() - 1, 3));
    });
}

TEST(RankAddress, survives_the_store) {
  net::RankAddress address = net::describe_process();
  address.rank = 3;
  address.world_size = 7;
  address.host = "\"quoted\" host";
  address.addresses = {"tcp://[::1]:5", "tcp://10.0.0.1:6"};
  const net::RankAddress again = net::RankAddress::parse(address.str(), "here");
  EXPECT_EQ(again.str(), address.str());
  EXPECT_EQ(again.host, address.host);
  expect_error(error_of([] { net::RankAddress::parse("hello", "tcp://master:1"); }), Errc::connection,
               {"tcp://master:1"});
}

TEST(Addresses, end_with_the_loopback) {
  const auto addresses = net::reachable_addresses("tcp://127.0.0.1:29500", 4711);
  ASSERT_FALSE(addresses.empty());
  EXPECT_TRUE(addresses.back().starts_with("tcp://127.") || addresses.back() == "tcp://[::1]:4711")
      << addresses.back();
  setenv("DIST_SOCKET_IFNAME", "lo", 1);
  for (const auto& address : net::reachable_addresses("", 1))
    EXPECT_TRUE(address.find("127.0.0.1") != std::string::npos || address.find("::1") != std::string::npos);
  setenv("DIST_SOCKET_IFNAME", "nosuch0", 1);
  expect_error(error_of([] { net::reachable_addresses("", 1); }), Errc::invalid_argument,
               {"nosuch0", "those that are: ", "lo"});
  unsetenv("DIST_SOCKET_IFNAME");
}

TEST(Addresses, are_of_the_loopback_device_where_the_store_is) {
  for (const auto& [store, host] : {std::pair{"tcp://127.0.0.1:29500", "127.0.0.1"},
                                    {"tcp://localhost:29500", "127.0.0.1"},
                                    {"tcp://[::1]:29500", "::1"},
                                    {"unix://@job", "127.0.0.1"}}) {
    EXPECT_EQ(net::listening_host(store), host) << store;
    const auto addresses = net::reachable_addresses(store, 4711);
    ASSERT_EQ(addresses.size(), 1u) << store;
    EXPECT_EQ(parse_address(addresses[0]).host, host);
  }
  EXPECT_EQ(net::scope_of("tcp://[fe80::1%eth0]:29500"), "%eth0");
  EXPECT_EQ(net::scope_of("tcp://10.0.0.1:29500"), "");
}

}  // namespace
}  // namespace dist::test
