// The server's logic without sockets: messages cut short, waiting clients that go away, many waiters.
#include "dist/store/store_service.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace dist::test {
namespace {

using wire::Command;
using wire::Status;
using wire::Writer;
using namespace std::chrono_literals;

Bytes message(Writer& writer) {
  Bytes frame = writer.finish();
  frame.erase(frame.begin(), frame.begin() + wire::prefix_bytes);
  return frame;
}
Bytes message(Writer&& writer) { return message(writer); }

Status status(const StoreService::Answer& answer) {
  return static_cast<Status>(std::to_integer<int>(answer.frame.at(wire::prefix_bytes)));
}

std::vector<Bytes> one_of_each() {
  const std::vector<std::string> keys{"a", "b"};
  return {message(Writer(Command::set).put(std::string_view("a")).put(std::string_view("1"))),
          message(Writer(Command::append).put(std::string_view("a")).put(std::string_view("2"))),
          message(Writer(Command::get).put(std::string_view("a")).put(std::int64_t{0})),
          message(Writer(Command::add).put(std::string_view("n")).put(std::int64_t{1})),
          message(Writer(Command::compare_set)
                      .put(std::string_view("c"))
                      .put(std::string_view(""))
                      .put(std::string_view("x"))),
          message(Writer(Command::wait).put(keys).put(std::int64_t{0})),
          message(Writer(Command::check).put(keys)),
          message(Writer(Command::remove).put(std::string_view("a"))),
          message(Writer(Command::num_keys))};
}

TEST(StoreService, EveryRequestCutShortOrDrawnOutIsRefused) {
  for (const Bytes& whole : one_of_each()) {
    StoreService service;
    StoreService::Answers answers;
    for (std::size_t n = 0; n < whole.size(); ++n) {
      EXPECT_THROW(service.handle(1, ConstBytes(whole).first(n), answers), Error)
          << n << " of " << whole.size();
    }
    Bytes longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_THROW(service.handle(1, longer, answers), Error);
    EXPECT_TRUE(answers.empty());
    EXPECT_NO_THROW(service.handle(1, whole, answers));
  }
}

TEST(StoreService, UnknownRequestsAndWildCountsAreRefused) {
  StoreService service;
  StoreService::Answers answers;
  expect_error(Errc::connection, {"unknown"}, [&] { service.handle(1, Bytes{std::byte{200}}, answers); });
  const Bytes billions = message(Writer(Command::check).put(std::uint32_t{4'000'000'000}));
  EXPECT_THROW(service.handle(1, billions, answers), Error);
  const Bytes long_key = message(Writer(Command::remove).put(std::uint32_t{0xffffffff}));
  EXPECT_THROW(service.handle(1, long_key, answers), Error);
  EXPECT_TRUE(answers.empty());
}

TEST(StoreService, AWaiterIsAnsweredOnceByTheLastOfItsKeys) {
  StoreService service;
  StoreService::Answers answers;
  const std::vector<std::string> keys{"a", "b"};
  service.handle(1, message(Writer(Command::wait).put(keys).put(std::int64_t{-1})), answers);
  EXPECT_TRUE(service.is_waiting(1));
  EXPECT_EQ(service.next_expiry(), StoreService::Clock::time_point::max());
  service.handle(2, message(Writer(Command::set).put(std::string_view("b")).put(std::string_view(""))),
                 answers);
  ASSERT_EQ(answers.size(), 1u);  // the setter's own
  service.handle(2, message(Writer(Command::set).put(std::string_view("a")).put(std::string_view(""))),
                 answers);
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[2].to, 1u);
  EXPECT_EQ(status(answers[2]), Status::ok);
  EXPECT_FALSE(service.is_waiting(1));
}

TEST(StoreService, AForgottenClientIsNotAnswered) {
  StoreService service;
  StoreService::Answers answers;
  const auto get = message(Writer(Command::get).put(std::string_view("a")).put(std::int64_t{1'000'000}));
  for (StoreService::ClientId client : {1, 2, 3}) service.handle(client, get, answers);
  service.forget(2);
  service.forget(77);  // never seen
  service.execute_will("a", "gone", answers);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0].to + answers[1].to, 4u);
  service.expire(StoreService::Clock::now() + 1h, answers);
  EXPECT_EQ(answers.size(), 2u);
}

TEST(StoreService, TimeUpIsAnsweredWithTheMissingKeys) {
  StoreService service;
  StoreService::Answers answers;
  service.execute_will("a", "", answers);
  service.execute_will("a", "not again", answers);
  const std::vector<std::string> keys{"a", "b"};
  const auto start = StoreService::Clock::now();
  service.handle(1, message(Writer(Command::wait).put(keys).put(std::int64_t{5'000'000})), answers);
  service.handle(2, message(Writer(Command::wait).put(keys).put(std::int64_t{3'600'000'000'000})), answers);
  service.expire(start, answers);
  EXPECT_TRUE(answers.empty());
  service.expire(start + 1s, answers);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(status(answers[0]), Status::timeout);
  wire::Reader reader(ConstBytes(answers[0].frame).subspan(wire::prefix_bytes + 1));
  EXPECT_EQ(reader.texts(), std::vector<std::string>{"b"});
  EXPECT_GT(service.next_expiry(), start + 59min);
}

TEST(StoreService, RefusesAValueThatNoReplyCouldCarry) {
  const Bytes half(wire::max_frame / 2);
  EXPECT_EQ(appended("k", nullptr, half), half);
  expect_error(Errc::invalid_argument, {"append()", "'k'", "67108864 bytes"},
               [&] { (void)appended("k", &half, half); });
}

}  // namespace
}  // namespace dist::test
