#include <algorithm>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "dist/transport/engine/tuning.h"
#include "dist/transport/link/frame_queue.h"

namespace dist::net {
namespace {

struct Pair {
  explicit Pair(RingShape shape)
      : memory(static_cast<std::byte*>(std::aligned_alloc(64, shape.bytes())), &std::free),
        writer((std::memset(memory.get(), 0, shape.bytes()), memory.get()), shape),
        reader(memory.get(), shape) {}
  std::unique_ptr<std::byte, decltype(&std::free)> memory;
  RingWriter writer;
  RingReader reader;
};

std::vector<std::byte> payload_of(std::uint64_t number, std::uint32_t bytes) {
  std::vector<std::byte> payload(bytes);
  for (std::uint32_t i = 0; i < bytes; ++i) payload[i] = static_cast<std::byte>(number * 13 + i);
  return payload;
}

Frame frame_of(std::uint64_t number, std::uint32_t bytes) {
  return {.kind = FrameKind::eager, .tag = number, .bytes = bytes};
}

bool put(RingWriter& writer, std::uint64_t number, std::uint32_t bytes) {
  const auto payload = payload_of(number, bytes);
  return writer.put(frame_of(number, bytes), payload.data());
}

void expect_next(RingReader& reader, std::uint64_t number, std::uint32_t bytes) {
  ASSERT_TRUE(reader.has_frame());
  EXPECT_EQ(reader.frame().tag, number);
  ASSERT_EQ(reader.frame().payload(), bytes);
  EXPECT_TRUE(std::ranges::equal(std::span(reader.payload(), bytes), payload_of(number, bytes)))
      << "frame " << number;
  reader.pop();
}

TEST(Ring, shared_segments_keep_within_their_budget) {
  for (int peers = 1; peers <= 15; ++peers)
    EXPECT_LE(ring_shape(peers).bytes() * static_cast<std::size_t>(peers), shared_segment_bytes) << peers;
  for (int peers : {1, 2, 15, 16, 63, 255}) {
    const RingShape shape = ring_shape(peers);
    EXPECT_GE(shape.largest_payload(), shared_eager_bytes) << peers;
    EXPECT_GE(shape.slots, 16u) << peers;
  }
  EXPECT_LE(ring_shape(63).bytes() * 63, shared_segment_bytes + 64 * least_ring_bytes);
}

TEST(Ring, frames_keep_their_order_and_their_bytes_through_many_laps) {
  Pair ring(ring_shape(63));
  std::uint64_t written = 0, read = 0;
  const auto size = [&](std::uint64_t number) {
    const std::uint32_t sizes[] = {0, 1, 8, 16, 17, 64, 65, 1000, ring.writer.shape().largest_payload()};
    return sizes[number % std::size(sizes)];
  };
  while (read < 5000) {
    while (put(ring.writer, written, size(written))) ++written;
    ASSERT_GT(written, read);
    for (std::uint64_t i = 0; i < (written - read + 1) / 2 + 1 && read < written; ++i, ++read)
      expect_next(ring.reader, read, size(read));
    ring.reader.publish();
  }
}

TEST(Ring, every_payload_fits_into_an_empty_ring_at_every_position) {
  const RingShape shape = ring_shape(63);
  Pair ring(shape);
  std::uint64_t number = 0;
  for (std::uint32_t step = 17; step < shape.payload_bytes; step += 777) {
    const std::uint32_t filler = step % shape.largest_payload();
    ASSERT_TRUE(put(ring.writer, number, filler));
    expect_next(ring.reader, number++, filler);
    ring.reader.publish();
    ASSERT_TRUE(put(ring.writer, number, shape.largest_payload()));
    expect_next(ring.reader, number++, shape.largest_payload());
    ring.reader.publish();
  }
}

TEST(Ring, a_writer_that_finds_no_room_is_told_when_there_is_some) {
  Pair ring(ring_shape(63));
  std::uint64_t written = 0;
  while (put(ring.writer, written, 0)) ++written;
  EXPECT_EQ(written, ring.writer.shape().slots);
  EXPECT_TRUE(ring.reader.pop());  // asked for: told at once
  EXPECT_FALSE(ring.reader.pop());
  EXPECT_TRUE(put(ring.writer, written++, 0));
}

TEST(Ring, nothing_is_there_before_it_was_written) {
  Pair ring(ring_shape(1));
  EXPECT_FALSE(ring.reader.has_frame());
  // Payload bytes that look like a stamp are not a frame.
  std::vector<std::byte> ones(4096);
  for (std::size_t i = 0; i < ones.size(); i += 8) ones[i] = std::byte{2};
  ASSERT_TRUE(ring.writer.put(frame_of(0, 4096), ones.data()));
  ASSERT_TRUE(ring.reader.has_frame());
  ring.reader.pop();
  EXPECT_FALSE(ring.reader.has_frame());
}

Frame asking(std::uint64_t id, bool is_odd) {
  Frame message = frame_of(0, 0);
  message.id = id;
  message.flags = is_odd ? flag_by_stamp | flag_odd : flag_by_stamp;
  return message;
}

TEST(Ring, an_answer_lies_where_the_next_frame_will_be) {
  Pair ring(ring_shape(63));
  for (std::uint64_t id = 1; id <= 3 * ring_shape(63).slots; ++id) {
    const bool is_odd = id % 2 == 1;
    EXPECT_FALSE(ring.reader.has_answer(id, is_odd));
    ASSERT_TRUE(ring.writer.answer(asking(id, is_odd), false));
    EXPECT_TRUE(ring.reader.has_answer(id, is_odd));
    EXPECT_FALSE(ring.reader.has_answer(id + 2, is_odd));  // of a later message
    EXPECT_FALSE(ring.reader.has_frame());
    ASSERT_TRUE(put(ring.writer, id, 8));
    EXPECT_TRUE(ring.reader.has_answer(id, is_odd)) << "it was written over before it was seen";
    EXPECT_FALSE(ring.reader.has_answer(id + 1, !is_odd));
    expect_next(ring.reader, id, 8);
    EXPECT_FALSE(ring.reader.has_answer(id, is_odd));
    ring.reader.publish();
  }
}

TEST(Ring, a_frame_without_an_answer_says_so) {
  Pair ring(ring_shape(63));
  ASSERT_TRUE(ring.writer.answer(asking(5, true), false));
  ASSERT_TRUE(put(ring.writer, 1, 0));
  ASSERT_TRUE(put(ring.writer, 2, 0));
  expect_next(ring.reader, 1, 0);
  EXPECT_FALSE(ring.reader.has_answer(5, true));
}

TEST(Ring, an_answer_is_not_written_over_a_frame_that_was_not_read) {
  const RingShape shape = ring_shape(63);
  Pair ring(shape);
  for (std::uint64_t i = 0; i < shape.slots; ++i) ASSERT_TRUE(put(ring.writer, i, 0));
  EXPECT_FALSE(ring.writer.answer(asking(9, true), false));
  expect_next(ring.reader, 0, 0);
  ring.reader.publish();
  EXPECT_TRUE(ring.writer.answer(asking(9, true), false));
  for (std::uint64_t i = 1; i < shape.slots; ++i) expect_next(ring.reader, i, 0);
  EXPECT_TRUE(ring.reader.has_answer(9, true));
}

TEST(Ring, two_threads) {
  Pair ring(ring_shape(63));
  constexpr std::uint64_t count = 20000;
  const auto size = [](std::uint64_t number) { return static_cast<std::uint32_t>(number * 37 % 3000); };
  std::thread writer([&] {
    for (std::uint64_t number = 0; number < count;)
      if (put(ring.writer, number, size(number)))
        ++number;
      else
        std::this_thread::yield();
  });
  for (std::uint64_t number = 0; number < count;) {
    if (!ring.reader.has_frame()) {
      ring.reader.publish();
      std::this_thread::yield();
      continue;
    }
    expect_next(ring.reader, number, size(number));
    ++number;
  }
  writer.join();
}

}  // namespace
}  // namespace dist::net
