// Both ends count alike.
#include "dist/trace/message_numbers.h"

#include <set>

#include <gtest/gtest.h>

#include "traces.h"

namespace dist::test {
namespace {

using trace::Event;
using trace::Kind;
using trace::message_number;
using trace::MessageChannel;
using trace::MessageNumbers;

constexpr MessageChannel channel{0, 7, true};
constexpr int any = -1;

Event from(int source) { return part(Kind::receive, 0, source, 0, 0, 1); }

std::vector<std::uint64_t> numbers_of(const std::vector<Event>& events) {
  std::vector<std::uint64_t> numbers;
  for (const Event& event : events) numbers.push_back(event.message);
  return numbers;
}

using Numbers = std::vector<std::uint64_t>;

TEST(MessageNumbers, DifferInEveryPart) {
  std::set<std::uint64_t> seen;
  for (const int source : {0, 1, 2})
    for (const int destination : {0, 1, 2})
      for (const std::uint64_t tag : {0, 1, 2})
        for (const std::uint32_t context : {0, 1, 2})
          for (const bool point_to_point : {false, true})
            for (const std::uint64_t count : {0, 1, 2})
              seen.insert(message_number(source, destination, {context, tag, point_to_point}, count));
  EXPECT_EQ(seen.size(), 3u * 3 * 3 * 3 * 2 * 3);
  EXPECT_GT(*seen.begin(), 0u);
  EXPECT_LT(*seen.rbegin(), std::uint64_t{1} << 53);
}

TEST(MessageNumbers, AreEqualAtBothEnds) {
  MessageNumbers here(0), there(1);
  const auto first = here.post_receive(channel, 1), second = here.post_receive(channel, 1);
  const auto sent_1 = there.send(channel, 0), sent_2 = there.send(channel, 0);
  EXPECT_NE(sent_1, sent_2);
  EXPECT_EQ(numbers_of(here.received(second, from(1))), Numbers{sent_2});
  EXPECT_EQ(numbers_of(here.received(first, from(1))), Numbers{sent_1});
}

TEST(MessageNumbers, OfReceivesFromAnyRankGoByWhereTheyWerePosted) {
  MessageNumbers here(0), there(1), elsewhere(2);
  const auto a = here.post_receive(channel, any), b = here.post_receive(channel, 1),
             c = here.post_receive(channel, any), d = here.post_receive(channel, 2);
  const auto sent_1 = there.send(channel, 0), sent_2 = there.send(channel, 0);
  const auto sent_3 = elsewhere.send(channel, 0), sent_4 = elsewhere.send(channel, 0);
  EXPECT_TRUE(here.received(d, from(2)).empty()) << "who sent to a and c is not known yet";
  EXPECT_TRUE(here.received(b, from(1)).empty());
  EXPECT_EQ(numbers_of(here.received(a, from(1))), (Numbers{sent_1, sent_2}));
  EXPECT_EQ(numbers_of(here.received(c, from(2))), (Numbers{sent_3, sent_4}));
  const auto later = here.post_receive(channel, 2);
  EXPECT_EQ(numbers_of(here.received(later, from(2))), Numbers{elsewhere.send(channel, 0)});
}

TEST(MessageNumbers, DoNotCountWhatFailed) {
  MessageNumbers here(0), there(1);
  here.receive_failed(here.post_receive(channel, 1));
  there.send_failed(channel, 0, there.send(channel, 0));
  const auto a = here.post_receive(channel, any), b = here.post_receive(channel, 1);
  const auto sent = there.send(channel, 0);
  EXPECT_TRUE(here.received(b, from(1)).empty());
  EXPECT_EQ(numbers_of(here.receive_failed(a)), Numbers{sent});
}

}  // namespace
}  // namespace dist::test
