// Lab 04, part 5: blocks through two buffers on each side.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab04 {
namespace {

using judge::misconception;

struct Stream {
  int blocks, length, first;
  double produce_seconds = 0, consume_seconds = 0;
};

judge::SimRun run_stream(const Stream& stream, const How& how) {
  std::vector<Json> tasks;
  for (const double seconds : {stream.produce_seconds, stream.consume_seconds}) {
    tasks.push_back({{"call", "stream"},
                     {"blocks", stream.blocks},
                     {"count", stream.length},
                     {"first", stream.first},
                     {"seconds", seconds}});
  }
  return run(
      fmt::format("a stream of {} of {}", counted(stream.blocks, "block"), counted(stream.length, "element")),
      tasks, how);
}

bool check_order(const std::string& about, const Json& answer, int rank, int blocks) {
  std::vector<double> right;
  for (int i = 0; i < blocks; ++i) right.push_back(i);
  if (answer.at("order") == Json(right)) return true;
  const auto* const call = rank == 0 ? "produce" : "consume";
  ADD_FAILURE() << fmt::format(
      "{}rank {}: {} must be called for the blocks {} in this order; it was called for {}", about, rank, call,
      shown(right), shown(answer.at("order")));
  return false;
}

void more_than_two_buffers() {
  misconception(
      "more_than_two_buffers",
      "a clone() of each block is safe, but it needs the memory of a third buffer; fix: use the two "
      "buffers that you have");
}

// Block i must be in buffers[i % 2], at either end.
bool check_places(const std::string& about, const Json& answer, int rank) {
  const std::vector<int> places = answer.at("places");
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] == static_cast<int>(i % 2)) continue;
    if (places[i] < 0)
      more_than_two_buffers();
    else
      misconception(
          "wrong_buffer",
          "a block is in the other buffer; fix: use buffers[i % 2] for block i, so that one buffer is "
          "free while the other one is being sent or received");
    ADD_FAILURE() << fmt::format(
        "{}rank {}: {} got {} for block {}; expected buffers[{}]", about, rank,
        rank == 0 ? "produce" : "consume",
        places[i] < 0 ? "a tensor that is neither of the two buffers" : fmt::format("buffers[{}]", places[i]),
        i, i % 2);
    return false;
  }
  return true;
}

// Whether everything except the times is right. Reports the first difference.
bool check_stream(const judge::SimRun& done, const Stream& stream) {
  const auto replies = answers(done);
  if (replies.empty()) return false;
  for (const int rank : {0, 1}) {
    const Json& reply = replies[static_cast<std::size_t>(rank)];
    if (!check_order(done.about, reply, rank, stream.blocks) || !check_places(done.about, reply, rank))
      return false;
  }
  const Json& seen = replies[1].at("seen");
  for (int i = 0; i < stream.blocks; ++i) {
    const auto told = static_cast<std::size_t>(stream.length > 64 ? 2 : stream.length);
    const Json right = std::vector<double>(told, stream.first + i);
    const Json& got = seen.at(static_cast<std::size_t>(i));
    if (got == right) continue;
    if (std::ranges::count(seen, right) != 0)
      misconception("wrong_buffer", "the block is in the other buffer; fix: use buffers[i % 2] for block i");
    ADD_FAILURE() << fmt::format("{}consume({}) must see {}; it saw {} (-1: nothing arrived)", done.about, i,
                                 shown(right), shown(got));
    return false;
  }
  return true;
}

std::vector<SlowIdea> slow_ideas(const Stream& stream) {
  const double p = stream.produce_seconds, c = stream.consume_seconds, t = transfer_seconds();
  const double left = hold_seconds();  // how long a transfer occupies the sender
  const auto times = [&](double period) { return (stream.blocks - 1) * period + p + t + c; };
  return {{"sender_waits_at_once",
           "the sender waits for each block before it produces the next one, so its second buffer is "
           "useless; fix: wait for the Work of a buffer when that buffer is needed again, two blocks later",
           times(std::max(p + left, c))},
          {"receiver_waits_at_once",
           "the receiver asks for a block only after it has consumed the block before; fix: let the receive "
           "of the next block run during consume(), into the other buffer",
           times(std::max(p, t + c))},
          {"sender_and_receiver_wait_at_once",
           "on both sides no computation runs while a block is moving; fix: wait for the Work of a buffer "
           "when that buffer is needed again",
           times(std::max(p + left, t + c))}};
}

}  // namespace

void expect_stream(judge::Random& random, int blocks, int length, const How& how) {
  const Stream stream{blocks, length, random.between(1, 1000), 1e-6 * random.between(0, 9),
                      1e-6 * random.between(0, 9)};
  check_stream(run_stream(stream, how), stream);
}

void expect_stream_memory() {
  const Stream stream{6, many, 1};
  const auto done = run_stream(stream, {.timed = true});
  if (!check_stream(done, stream)) return;
  const std::uint64_t block = many * sizeof(double);
  for (std::size_t rank = 0; rank < done.report.peak_buffer_bytes.size(); ++rank) {
    const auto peak = done.report.peak_buffer_bytes[rank];
    if (peak < 2 * block + block / 2) continue;
    more_than_two_buffers();
    ADD_FAILURE() << fmt::format("rank {}: two buffers of {} bytes are enough; its tensors took {} bytes",
                                 rank, block, peak);
    return;
  }
}

void expect_stream_time(double produce_seconds, double consume_seconds, int blocks) {
  const Stream stream{blocks, many, 1, produce_seconds, consume_seconds};
  const auto done = run_stream(stream, {.timed = true});
  if (!check_stream(done, stream)) return;
  if (!judge::has_computed(done, 0, stream.blocks * produce_seconds) ||
      !judge::has_computed(done, 1, stream.blocks * consume_seconds))
    return;
  const double transfer = transfer_seconds();
  const double slowest = std::max({produce_seconds, transfer, consume_seconds});
  expect_within(done, (stream.blocks - 1) * slowest + produce_seconds + transfer + consume_seconds,
                fmt::format("{} blocks, each produced in {}, moved in {} and consumed in {}; the slowest of "
                            "the three for all blocks, the other two once",
                            stream.blocks, in_us(produce_seconds), in_us(transfer), in_us(consume_seconds)),
                slow_ideas(stream));
}

}  // namespace lab04
