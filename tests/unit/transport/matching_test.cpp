#include "dist/transport/engine/matching.h"

#include <gtest/gtest.h>

#include "dist/transport/opcode.h"
#include "dist/transport/transport.h"

namespace dist::net {
namespace {

Frame message(std::uint64_t tag, std::uint64_t id, std::uint32_t context = 1, bool point_to_point = false) {
  Frame frame{.kind = FrameKind::eager, .context = context, .tag = tag, .id = id};
  if (point_to_point) frame.flags = flag_point_to_point;
  return frame;
}

TEST(Matching, parked_messages_come_out_first_in_first_out_for_each_source) {
  Matching matching;
  Mailbox& box = matching.open({1, false, 7});
  for (std::uint64_t i = 0; i < 6; ++i)
    matching.keep_unexpected(message(7, i), static_cast<int>(i % 2), nullptr);
  EXPECT_EQ(matching.take_unexpected(box, 2), nullptr);
  EXPECT_EQ(matching.take_unexpected(box, 1)->frame.id, 1u);
  EXPECT_EQ(matching.take_unexpected(box, any_rank)->frame.id, 0u);
  EXPECT_EQ(matching.take_unexpected(box, any_rank)->frame.id, 2u);
  EXPECT_EQ(matching.take_unexpected(box, 1)->frame.id, 3u);
}

TEST(Matching, receives_meet_messages_in_the_order_they_were_posted) {
  Matching matching;
  Mailbox& box = matching.open({1, false, 7});
  Transfer from_two, from_any, also_from_two;
  from_two.peer = also_from_two.peer = 2;
  from_any.peer = any_rank;
  for (Transfer* t : {&from_two, &from_any, &also_from_two}) matching.post(box, *t);
  EXPECT_EQ(matching.take_posted({1, false, 7}, 3), &from_any);
  EXPECT_EQ(matching.take_posted({1, false, 7}, 3), nullptr);
  EXPECT_EQ(matching.take_posted({1, false, 7}, 2), &from_two);
  EXPECT_EQ(matching.take_posted({1, false, 7}, 2), &also_from_two);
}

TEST(Matching, context_tag_and_kind_separate_messages) {
  Matching matching;
  Mailbox& mine = matching.open({1, false, 7});
  matching.keep_unexpected(message(8, 0), 0, nullptr);
  matching.keep_unexpected(message(7, 0, 2), 0, nullptr);
  matching.keep_unexpected(message(7, 0, 1, true), 0, nullptr);
  EXPECT_EQ(matching.take_unexpected(mine, any_rank), nullptr);
  Mailbox& user = matching.open({1, true, 7});
  EXPECT_NE(&mine, &user);
  EXPECT_NE(matching.take_unexpected(user, any_rank), nullptr);
}

TEST(Matching, a_message_waits_for_an_operation_that_is_opened_later) {
  Matching matching;
  const std::byte payload[3] = {std::byte{1}, std::byte{2}, std::byte{3}};
  Frame frame = message(9, 5);
  frame.bytes = 3;
  matching.keep_unexpected(frame, 4, payload);
  Mailbox& other = matching.open({1, false, 10});
  matching.close(other);
  UnexpectedMessage* unexpected = matching.take_unexpected(matching.open({1, false, 9}), 4);
  ASSERT_NE(unexpected, nullptr);
  EXPECT_EQ(unexpected->payload, std::vector<std::byte>(payload, payload + 3));
}

TEST(Matching, many_channels_share_the_buckets) {
  Matching matching;
  for (std::uint64_t tag = 0; tag < 5000; ++tag) matching.keep_unexpected(message(tag, tag), 0, nullptr);
  for (std::uint64_t tag = 5000; tag-- > 0;) {
    Mailbox& box = matching.open({1, false, tag});
    UnexpectedMessage* unexpected = matching.take_unexpected(box, 0);
    ASSERT_NE(unexpected, nullptr) << tag;
    EXPECT_EQ(unexpected->frame.id, tag);
    matching.recycle(*unexpected);
    matching.close(box);
  }
}

TEST(Opcode, says_what_it_is) {
  EXPECT_EQ(describe_opcode(opcode_of(OpKind::broadcast, DType::f32)), "broadcast f32");
  EXPECT_EQ(describe_opcode(opcode_of(OpKind::all_to_all, DType::boolean)), "all_to_all bool");
  EXPECT_EQ(describe_opcode(opcode_of(OpKind::barrier, DType::u8)), "barrier");
  EXPECT_EQ(describe_opcode(0x1234), "operation 0x1234");
  EXPECT_NE(opcode_of(OpKind::send, DType::u8), 0u);
  EXPECT_EQ(describe_opcode(opcode_of(OpKind::reduce, DType::f32, 0x7fff)), "reduce f32");
}

TEST(Opcode, tells_other_terms_from_another_operation) {
  const std::uint32_t mine = opcode_of(OpKind::reduce, DType::f32, 1);
  EXPECT_TRUE(differ_in_terms(mine, opcode_of(OpKind::reduce, DType::f32, 2)));
  EXPECT_FALSE(differ_in_terms(mine, mine));
  EXPECT_FALSE(differ_in_terms(mine, opcode_of(OpKind::reduce, DType::f64, 2)));
  EXPECT_FALSE(differ_in_terms(mine, opcode_of(OpKind::all_reduce, DType::f32, 2)));
}

}  // namespace
}  // namespace dist::net
