// Strangers, fools and the half-dead at the store's port: each is disconnected, and no other client notices.
#include <random>
#include <thread>

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dist/store/tcp_store.h"

#include "raw_client.h"
#include "support/expect_error.h"
#include "unit/store/soon.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;
using wire::Command;
using wire::Writer;

class ServerAbuse : public testing::Test {
 protected:
  static constexpr StoreLimits brief{.hello = 150ms, .stall = 150ms, .strangers = 32};
  StoreServer server{"tcp://127.0.0.1:0", "secret", brief};
  std::shared_ptr<Store> store = make_tcp_store(server.address(), "secret", soon());

  void TearDown() override {  // whatever happened, the store still serves
    store->set("alive", "yes");
    EXPECT_EQ(store->get_text("alive", soon()), "yes");
    EXPECT_EQ(make_tcp_store(server.address(), "secret", soon())->get_text("alive", soon()), "yes");
  }
  // A stranger who knows the token.
  RawClient insider() {
    RawClient client(server.address());
    client.greet("secret");
    char welcome[64];
    EXPECT_TRUE(wait_ready(client.fd(), POLLIN, soon()));
    EXPECT_GT(::recv(client.fd(), welcome, sizeof welcome, 0), 0);
    return client;
  }
};

TEST_F(ServerAbuse, GarbageIsShownOut) {
  for (std::string_view text : {"GET / HTTP/1.1\r\n\r\n", "\x16\x03\x01\x02 tls hello",
                                "\xff\xff\xff\xff\xff", "SSH-2.0-OpenSSH_9.2\r\n"}) {
    RawClient client(server.address());
    client.say(text);
    EXPECT_TRUE(client.is_closed_by_server()) << text;
  }
}

TEST_F(ServerAbuse, AGreetingOfTheRightLengthButWrongMagicIsShownOut) {
  RawClient client(server.address());
  client.say(Writer().put(std::uint64_t{42}).put(wire::version).put(std::string_view("secret")).finish());
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(ServerAbuse, AGreetingCutShortInsideItsFrameIsShownOut) {
  RawClient client(server.address());
  client.say(
      Writer().put(wire::magic).put(wire::version).put(std::string_view("secret")).finish());  // no will
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(ServerAbuse, AnotherVersionIsToldWhy) {
  RawClient client(server.address());
  client.say(Writer().put(wire::magic).put(std::uint32_t{99}).put(std::string_view("secret")).finish());
  bool closed = false;
  EXPECT_NE(client.listen(soon(), &closed).find("version"), std::string::npos);
  EXPECT_TRUE(closed);
}

TEST_F(ServerAbuse, OversizedFramesAreShownOutByTheirLengthAlone) {
  RawClient stranger(server.address());
  stranger.say(std::string_view("\x01\x10\x00\x00", 4));  // 4097 bytes: one more than a greeting may have
  EXPECT_TRUE(stranger.is_closed_by_server());
  RawClient known = insider();
  known.say(std::string_view("\x01\x00\x00\x04", 4));  // 64 MiB and one byte
  EXPECT_TRUE(known.is_closed_by_server());
}

TEST_F(ServerAbuse, NonsenseFromAnInsiderIsShownOut) {
  for (const Bytes& frame : {Writer().put(std::uint8_t{250}).finish(), Writer().finish(),
                             Writer(Command::get).put(std::uint32_t{1000}).finish(),
                             Writer(Command::num_keys).put(std::uint8_t{0}).finish()}) {
    RawClient client = insider();
    client.say(frame);
    EXPECT_TRUE(client.is_closed_by_server());
  }
}

TEST_F(ServerAbuse, TwoRequestsAtOnceAreShownOut) {
  RawClient client = insider();
  Bytes twice = Writer(Command::num_keys).finish();
  const Bytes again = twice;
  twice.insert(twice.end(), again.begin(), again.end());
  client.say(twice);
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(ServerAbuse, TheSilentAndTheSlowAreGivenUp) {
  RawClient silent(server.address());
  RawClient slow(server.address());
  const auto start = Deadline::Clock::now();
  const Bytes greeting =
      Writer().put(wire::magic).put(wire::version).put(std::string_view("secret")).finish();
  for (std::size_t i = 0; i + 1 < greeting.size() && Deadline::Clock::now() - start < 5s; ++i) {
    slow.say(ConstBytes(greeting).subspan(i, 1));
    std::this_thread::sleep_for(20ms);
    char byte;
    if (::recv(slow.fd(), &byte, 1, MSG_PEEK) == 0) break;
  }
  EXPECT_TRUE(slow.is_closed_by_server());
  EXPECT_LT(Deadline::Clock::now() - start, 5s);
  EXPECT_TRUE(silent.is_closed_by_server());
}

TEST_F(ServerAbuse, AnInsiderThatStopsInTheMiddleOfAFrameIsGivenUp) {
  RawClient client = insider();
  const Bytes frame = Writer(Command::set).put(std::string_view("k")).put(std::string_view("value")).finish();
  client.say(ConstBytes(frame).first(frame.size() - 1));
  EXPECT_TRUE(client.is_closed_by_server());
  const std::string key[]{"k"};
  EXPECT_FALSE(store->check(key));
}

TEST_F(ServerAbuse, AnInsiderThatIsIdleOrWaitsIsNotGivenUp) {
  RawClient waiting = insider();
  waiting.say(Writer(Command::get).put(std::string_view("later")).put(std::int64_t{-1}).finish());
  std::this_thread::sleep_for(400ms);  // well beyond `stall`; `store` has been idle meanwhile
  store->set("later", "now");
  EXPECT_TRUE(wait_ready(waiting.fd(), POLLIN, soon()));
}

// How long the server takes until it begins to write depends on the machine, so the client that does not read
// waits longer each time.
TEST_F(ServerAbuse, AReplyThatNobodyReadsIsGivenUp) {
  store->set("large", Bytes(16 << 20, std::byte{1}));
  bool closed = false;
  for (auto patience = 400ms; patience < 10s && !closed; patience *= 3) {
    RawClient client = insider();
    client.say(Writer(Command::get).put(std::string_view("large")).put(std::int64_t{0}).finish());
    std::this_thread::sleep_for(patience);
    const std::size_t heard = client.listen(Deadline::after(2s), &closed).size();
    EXPECT_TRUE(!closed || heard < std::size_t{16} << 20) << heard;
  }
  EXPECT_TRUE(closed);
}

TEST_F(ServerAbuse, HalfClosedConnectionsAreGivenUp) {
  RawClient stranger(server.address());
  shutdown(stranger.fd(), SHUT_WR);
  EXPECT_TRUE(stranger.is_closed_by_server());
  RawClient waiting = insider();
  waiting.say(Writer(Command::get).put(std::string_view("never")).put(std::int64_t{-1}).finish());
  std::this_thread::sleep_for(20ms);
  shutdown(waiting.fd(), SHUT_WR);
  EXPECT_TRUE(waiting.is_closed_by_server());
}

TEST_F(ServerAbuse, TooManyStrangersPushOutTheOldest) {
  std::vector<std::unique_ptr<RawClient>> crowd;
  for (int i = 0; i < 40; ++i) crowd.push_back(std::make_unique<RawClient>(server.address()));
  EXPECT_TRUE(crowd.front()->is_closed_by_server());
  EXPECT_EQ(make_tcp_store(server.address(), "secret", soon())->add("n", 1), 1);
}

TEST_F(ServerAbuse, WithoutDescriptorsLeftNewcomersWaitAndTheOthersGoOn) {
  const int lowest_free = dup(0);
  close(lowest_free);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit one_more{static_cast<rlim_t>(lowest_free) + 1, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &one_more);
  RawClient newcomer(server.address());  // takes the last descriptor: none is left for the server's end
  newcomer.greet("secret");
  std::this_thread::sleep_for(30ms);
  EXPECT_EQ(store->add("n", 1), 1);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(wait_ready(newcomer.fd(), POLLIN, soon()));  // the welcome
}

TEST_F(ServerAbuse, TwoHundredGarbageConnectionsDoNotDisturbRealClients) {
  const auto before = open_descriptors();
  std::vector<std::thread> clients;
  for (int c = 0; c < 4; ++c) {
    clients.emplace_back([&] {
      auto own = make_tcp_store(server.address(), "secret", soon());
      for (int i = 0; i < 100; ++i) own->add("sum", 1);
    });
  }
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    RawClient client(server.address());
    std::string noise(random() % 9000, '\0');
    for (char& c : noise) c = static_cast<char>(random());
    if (i % 4 == 0) client.greet("secret");
    if (i % 4 == 1) client.greet("guess");
    client.say(noise);
    if (i % 3) {
      EXPECT_TRUE(client.is_closed_by_server()) << "connection " << i;
    }
  }
  for (auto& client : clients) client.join();
  EXPECT_EQ(store->get_text("sum", soon()), "400");
  for (int i = 0; i < 100 && open_descriptors() > before; ++i) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace dist::test
