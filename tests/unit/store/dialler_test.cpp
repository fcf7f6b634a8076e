// A host with several addresses, of which some do not answer.
#include "dist/store/dialler.h"

#include <thread>

#include <gtest/gtest.h>

#include "unit/store/soon.h"

namespace dist::test {
namespace {

using namespace std::chrono_literals;

SocketAddress local_address(int port) { return {.host = "127.0.0.1", .port = port, .name = {}}; }

// A port at which the kernel drops every connection attempt, because its queue is full.
class BlackHole {
 public:
  BlackHole() : listener_(listen_at(local_address(0))) {
    ::listen(listener_.get(), 0);
    for (UniqueFd& knock : knocks_) {
      knock = stream_socket(AF_INET);
      std::string ignored;
      const RawAddress here = resolve(address(), 0, &ignored).front();
      (void)::connect(knock.get(), here.get(), here.length);
    }
  }
  SocketAddress address() const { return local_address(local_port(listener_.get())); }

 private:
  UniqueFd listener_, knocks_[3];
};

std::optional<Dialler::Connection> next_connection(Dialler& dialler, Deadline deadline) {
  for (;;) {
    if (auto connection = dialler.poll()) return connection;
    if (deadline.passed()) return std::nullopt;
    dialler.wait(deadline);
  }
}

TEST(Dialler, AnAddressThatDoesNotAnswerDoesNotHoldUpTheNext) {
  const BlackHole hole, another;
  const UniqueFd good = listen_at(local_address(0));
  Dialler dialler({hole.address(), another.address(), local_address(local_port(good.get()))});
  const auto start = Dialler::Clock::now();
  const auto connection = next_connection(dialler, soon());
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->place, 2u);
  EXPECT_LT(Dialler::Clock::now() - start, 3s);
  const auto silent = dialler.silent(Dialler::head_start);
  ASSERT_EQ(silent.size(), 2u);
  EXPECT_EQ(silent[0], hole.address().str() + " (no answer)");
}

// A name may resolve to the store's host and to a dead one, before the store has begun to listen.
TEST(Dialler, ARefusedAddressIsTriedAgainBesideOneThatDoesNotAnswer) {
  const BlackHole hole;
  const SocketAddress late = local_address(local_port(listen_at(local_address(0)).get()));
  Dialler dialler({late, hole.address()});
  EXPECT_FALSE(next_connection(dialler, Deadline::after(100ms)));
  const UniqueFd listener = listen_at(late);
  const auto start = Dialler::Clock::now();
  const auto connection = next_connection(dialler, soon());
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->place, 0u);
  EXPECT_LT(Dialler::Clock::now() - start, 2s);
}

TEST(Dialler, AfterAConnectionOfNoUseTheNextAddressIsTriedAtOnce) {
  const UniqueFd first = listen_at(local_address(0)), second = listen_at(local_address(0));
  Dialler dialler({local_address(local_port(first.get())), local_address(local_port(second.get()))});
  const auto useless = next_connection(dialler, soon());
  ASSERT_TRUE(useless);
  EXPECT_FALSE(next_connection(dialler, Deadline::after(400ms))) << "its answer is awaited first";
  dialler.reject(useless->place, "it hung up");
  const auto connection = next_connection(dialler, soon());
  ASSERT_TRUE(connection);
  EXPECT_EQ(connection->place, 1u);
  EXPECT_NE(dialler.problems().find("(it hung up)"), std::string::npos) << dialler.problems();
}

TEST(Dialler, NobodyListensAnywhereIsBelievedAfterSomeTries) {
  const UniqueFd gone = listen_at(local_address(0));
  const SocketAddress nobody = local_address(local_port(gone.get()));
  ::shutdown(gone.get(), SHUT_RDWR);
  Dialler dialler({nobody});
  EXPECT_FALSE(next_connection(dialler, Deadline::after(20ms)));
  EXPECT_TRUE(dialler.is_refused());
  EXPECT_FALSE(dialler.is_hopeless());
  EXPECT_TRUE(dialler.silent(0ms).empty()) << "it has answered";
  for (const Deadline deadline = soon(); !dialler.is_hopeless() && !deadline.passed();)
    (void)next_connection(dialler, Deadline::after(20ms));
  EXPECT_TRUE(dialler.is_hopeless());
  EXPECT_EQ(dialler.problems(), "Connection refused");
}

}  // namespace
}  // namespace dist::test
