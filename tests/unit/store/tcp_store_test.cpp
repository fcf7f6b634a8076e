#include "dist/store/tcp_store.h"

#include <thread>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "raw_client.h"
#include "support/expect_error.h"
#include "unit/store/soon.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

int free_port() { return local_port(listen_at(parse_address("tcp://127.0.0.1:0")).get()); }
std::string local(int port) { return "tcp://127.0.0.1:" + std::to_string(port); }

TEST(TcpStore, TheServerTellsItsRealPort) {
  StoreServer server("tcp://127.0.0.1:0", "t");
  EXPECT_GT(server.port(), 0);
  EXPECT_EQ(server.address(), local(server.port()));
  StoreServer everywhere("tcp://0.0.0.0:0", "t");
  EXPECT_EQ(everywhere.address(), local(everywhere.port()));
  StoreServer named("unix://@distlab-test-name", "t");
  EXPECT_EQ(named.port(), 0);
  EXPECT_EQ(make_tcp_store(named.address(), "t", soon())->where(), "unix://@distlab-test-name");
}

// The client runs without a network, as in a sandbox, and gets one connected socket.
TEST(TcpStore, AConnectedSocketIsGivenToAClientWithoutNetwork) {
  StoreServer server("unix://@distlab-test-given", "t");
  const auto outside = make_tcp_store(server.address(), "t", soon());
  const int given = dup(dial(parse_address(server.address()), soon()).fd.get());
  const auto address = "fd://" + std::to_string(given);
  const auto inside = make_tcp_store(address, "t", soon());
  EXPECT_EQ(inside->where(), address);
  inside->set("from inside", "1");
  EXPECT_EQ(outside->get_text("from inside", soon()), "1");
  outside->set("from outside", "2");
  EXPECT_EQ(inside->get_text("from outside", soon()), "2");
  expect_error(Errc::connection, {address, "already in use"},
               [&] { make_tcp_store(address, "t", Deadline::after(50ms)); });
  expect_error(Errc::invalid_argument, {address, "not a place to listen"},
               [&] { StoreServer(address, "t"); });
}

TEST(TcpStore, ATakenPortIsNamedWithTheOptionThatChoosesAnother) {
  StoreServer first("tcp://127.0.0.1:0", "t");
  const std::string port = std::to_string(first.port());
  expect_error(Errc::resource, {port, "taken", "MASTER_PORT", "--master-port"},
               [&] { StoreServer second(first.address(), "t"); });
  StoreServer unix_first("unix://@distlab-test-taken", "t");
  expect_error(Errc::resource, {"unix://@distlab-test-taken", "taken"},
               [&] { StoreServer second(unix_first.address(), "t"); });
}

TEST(TcpStore, AServersPortIsFreeAgainAtOnce) {
  const int port = free_port();
  for (int i = 0; i < 5; ++i) {
    StoreServer server(local(port), "t");
    auto store = make_tcp_store(server.address(), "t", soon());
    EXPECT_EQ(store->add("n", 1), 1);  // a new map each time
  }
}

TEST(TcpStore, AnUnreachableServerIsNamedWithTheReason) {
  const auto start = Deadline::Clock::now();
  const std::string nobody = local(free_port());
  expect_error(Errc::connection, {nobody, "Connection refused", "not reached in", "rank 0"},
               [&] { make_tcp_store(nobody, "t", Deadline::after(120ms)); });
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
  expect_error(Errc::connection, {"unix://@distlab-test-no-server", "Connection refused"},
               [&] { make_tcp_store("unix://@distlab-test-no-server", "t", Deadline::after(10ms)); });
  expect_error(Errc::connection, {"no.such.host.invalid"},
               [&] { make_tcp_store("tcp://no.such.host.invalid:1", "t", Deadline::after(10ms)); });
}

TEST(TcpStore, AServerThatStartsLaterIsFound) {
  const int port = free_port();
  std::unique_ptr<StoreServer> server;
  std::thread late([&] {
    std::this_thread::sleep_for(80ms);
    server = std::make_unique<StoreServer>(local(port), "t");
  });
  EXPECT_EQ(make_tcp_store(local(port), "t", soon())->add("n", 2), 2);
  late.join();
}

TEST(TcpStore, AWrongTokenIsRefusedAtOnce) {
  StoreServer server("tcp://127.0.0.1:0", "right");
  const auto start = Deadline::Clock::now();
  for (const char* token : {"wrong", "", "right ", "righ"}) {
    expect_error(Errc::connection, {server.address(), "refused this job's token", "DIST_JOB_TOKEN"},
                 [&] { make_tcp_store(server.address(), token, soon()); });
  }
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
}

TEST(TcpStore, AnotherProgramAtThePortIsRecognised) {
  const UniqueFd other = listen_at(parse_address("tcp://127.0.0.1:0"));
  std::thread web_server([&] {
    wait_ready(other.get(), POLLIN, soon());
    const UniqueFd client(accept(other.get(), nullptr, nullptr));
    const std::string_view answer = "HTTP/1.1 400 Bad Request\r\n\r\n";
    ::send(client.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
    std::this_thread::sleep_for(100ms);
  });
  expect_error(Errc::connection, {"not a distlab store"},
               [&] { make_tcp_store(local(local_port(other.get())), "t", soon()); });
  web_server.join();
}

TEST(TcpStore, AProgramThatAcceptsAndSaysNothingEndsAtTheDeadline) {
  const UniqueFd mute = listen_at(parse_address("tcp://127.0.0.1:0"));
  expect_error(Errc::connection, {"not welcomed"},
               [&] { make_tcp_store(local(local_port(mute.get())), "t", Deadline::after(100ms)); });
}

TEST(TcpStore, TheServersEndIsAnErrorEverywhere) {
  auto server = std::make_unique<StoreServer>("tcp://127.0.0.1:0", "t");
  const std::string where = server->address();
  auto store = make_tcp_store(where, "t", soon());
  auto idle = make_tcp_store(where, "t", soon());
  std::thread blocked([&] {
    expect_error(Errc::connection, {where, "lost", "alive"}, [&] { store->get("never", Deadline::never()); });
  });
  std::this_thread::sleep_for(30ms);
  const auto start = Deadline::Clock::now();
  server.reset();
  blocked.join();
  expect_error(Errc::connection, {where}, [&] { store->set("a", "1"); });
  expect_error(Errc::connection, {where}, [&] { idle->add("a", 1); });
  expect_error(Errc::connection, {where}, [&] { idle->add("a", 1); });
  EXPECT_LT(Deadline::Clock::now() - start, 2s);
}

TEST(TcpStore, ALastWillIsExecutedWhenItsClientIsGone) {
  StoreServer server("tcp://127.0.0.1:0", "t");
  auto store = make_tcp_store(server.address(), "t", soon());
  auto mortal = make_tcp_store(server.address(), "t", soon(), {"gone/1", "lost"});
  auto polite = make_tcp_store(server.address(), "t", soon(), {"gone/2", "lost"});
  const std::string keys[]{"gone/1"};
  EXPECT_FALSE(store->check(keys));
  mortal.reset();
  EXPECT_EQ(store->get_text("gone/1", soon()), "lost");
  polite->set("gone/2", "left");
  polite.reset();
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(store->get_text("gone/2", soon()), "left");
}

// A client that took the store for silent and calls again has left a greeting behind, which is read later.
TEST(TcpStore, AWillOnAConnectionThatWasGivenUpIsNotExecuted) {
  StoreServer server("tcp://127.0.0.1:0", "t");
  auto store = make_tcp_store(server.address(), "t", soon());
  RawClient(server.address())
      .say(wire::Writer()
               .put(wire::magic)
               .put(wire::version)
               .put(std::string_view("t"))
               .put(std::string_view("gone/1"))
               .put(std::string_view("lost"))
               .finish());
  std::this_thread::sleep_for(50ms);
  const std::string keys[]{"gone/1"};
  EXPECT_FALSE(store->check(keys));
}

TEST(TcpStore, ValuesUpToTheFrameLimitPassAndLargerOnesAreRefusedHere) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "ThreadSanitizer takes a minute for the copies of 64 MiB";
#endif
  StoreServer server("unix://@distlab-test-large", "t");
  auto store = make_tcp_store(server.address(), "t", soon());
  const std::size_t overhead = 1 + 4 + 1 + 4;  // request, and the lengths of key and value
  Bytes value(wire::max_frame - overhead, std::byte{3});
  store->set("k", value);
  EXPECT_EQ(store->get("k", soon()).size(), value.size());
  value.push_back(std::byte{3});
  expect_error(Errc::invalid_argument, {"67108865", "67108864"}, [&] { store->set("k", value); });
  EXPECT_EQ(store->add("n", 1), 1);
}

TEST(TcpStore, NoDescriptorIsLost) {
  const auto before = open_descriptors();
  for (int i = 0; i < 3; ++i) {
    StoreServer server("tcp://127.0.0.1:0", "t");
    auto store = make_tcp_store(server.address(), "t", soon());
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
      threads.emplace_back([&] { EXPECT_THROW(store->get("never", Deadline::after(20ms)), Error); });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_THROW(make_tcp_store(server.address(), "wrong", soon()), Error);
    EXPECT_THROW(StoreServer(server.address(), "t"), Error);
    EXPECT_THROW(make_tcp_store(local(free_port()), "t", Deadline::after(1ms)), Error);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(TcpStore, AForkedChildIsTurnedAwayAndTheParentGoesOn) {
  auto server = std::make_unique<StoreServer>("tcp://127.0.0.1:0", "t");
  auto store = make_tcp_store(server->address(), "t", soon());
  const pid_t child = fork();
  if (child == 0) {
    bool refused = false;
    try {
      store->add("n", 1);
    } catch (const Error& error) {
      refused = error.code() == Errc::invalid_argument;
    }
    store.reset();
    server.reset();
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(store->add("n", 1), 1);
}

TEST(TcpStore, AChildThatHoldsTheDescriptorsDoesNotKeepThePort) {
  const int port = free_port();
  auto server = std::make_unique<StoreServer>(local(port), "t");
  auto store = make_tcp_store(server->address(), "t", soon());
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  server.reset();
  StoreServer again(local(port), "t");
  EXPECT_EQ(make_tcp_store(again.address(), "t", soon())->add("n", 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

}  // namespace
}  // namespace dist::test
