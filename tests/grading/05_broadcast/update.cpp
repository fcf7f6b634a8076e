// Lab 05, part 4: new weights for the servers.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab05 {
namespace {

using judge::misconception;

// [tensor] of one rank.
using Weights = std::vector<Numbers>;

std::string heading(const Update& update) {
  return fmt::format("update_weights among {} ranks, trainers {{{}}}, servers {{{}}}, buckets of {}",
                     update.world_size, fmt::join(update.trainers, ", "), fmt::join(update.servers, ", "),
                     update.bucket_elements);
}

// Different on all ranks, but the same on all trainers.
std::vector<Weights> weights_before(judge::Random& random, const Update& update) {
  std::vector<Weights> before(static_cast<std::size_t>(update.world_size));
  for (int rank = 0; rank < update.world_size; ++rank) {
    for (const auto& parameter : update.parameters)
      before[static_cast<std::size_t>(rank)].push_back(
          round_of(random, 1, 0, parameter.elements()).before[0]);
    for (auto& numbers : before[static_cast<std::size_t>(rank)]) {
      for (auto& number : numbers) number += static_cast<float>(100 * rank);
    }
  }
  for (const int trainer : update.trainers)
    before[static_cast<std::size_t>(trainer)] = before[static_cast<std::size_t>(update.trainers[0])];
  return before;
}

judge::SimRun run(const Update& update, const std::vector<Weights>& before, bool eager) {
  judge::SimPlan plan;
  plan.eager = eager;
  plan.trace = true;
  for (const auto& weights : before) {
    Json task{{"call", "update_weights"},
              {"trainers", update.trainers},
              {"servers", update.servers},
              {"bucket_elements", update.bucket_elements},
              {"parameters", Json::array()}};
    if (update.is_second) {
      std::vector<int> servers = update.servers;
      servers.front() = update.trainers.front();
      task["earlier"] = {{"trainers", {update.servers.front()}}, {"servers", servers}};
    }
    for (std::size_t i = 0; i < weights.size(); ++i)
      task["parameters"].push_back({{"shape", update.parameters[i].shape}, {"numbers", weights[i]}});
    plan.tasks.push_back(task);
  }
  return judge::simulate(plan);
}

// Which tensors of this server still have their old values.
std::vector<std::size_t> unchanged(const Json& reply, const Weights& before) {
  std::vector<std::size_t> tensors;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!before[i].empty() && reply.at(i).at("numbers").get<Numbers>() == before[i]) tensors.push_back(i);
  }
  return tensors;
}

void diagnose(const Update& update, const Json& reply, const Weights& before, std::uint64_t bytes_received) {
  const auto old = unchanged(reply, before);
  const auto is = [&](auto&& left_out) {
    std::vector<std::size_t> expected;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!before[i].empty() && left_out(i)) expected.push_back(i);
    }
    return !old.empty() && old == expected;
  };
  const auto last = update.buckets().back();
  if (is([](std::size_t) { return true; })) {
    if (bytes_received > 0) {
      misconception("not_unpacked",
                    "the buckets arrived, but all parameters are old: the buckets' elements were not copied "
                    "into the parameters");
    }
  } else if (is([&](std::size_t i) { return std::ranges::find(last, i) != last.end(); })) {
    misconception(
        "last_bucket_forgotten",
        "the tensors of the last bucket are old; fix: at the end, send the bucket that is not full, too");
  } else if (is([&](std::size_t i) { return update.parameters[i].shape.empty(); })) {
    misconception("no_axis_no_tensor",
                  "the tensors without an axis are old; fix: use numel(), which is 1 for such a tensor");
  } else if (is([&](std::size_t i) { return update.parameters[i].elements() > update.bucket_elements; })) {
    misconception(
        "large_tensor_left_out",
        "the tensors that are larger than a bucket are old; fix: give each of them a bucket of its own");
  }
}

bool check_weights(const Update& update, const judge::SimRun& done, const std::vector<Weights>& before) {
  const auto replies = answers(done, "update_weights", {"new_group", "split_group"});
  if (replies.empty() || !are_in_place(replies, "update_weights")) return false;
  for (int rank = 0; rank < update.world_size; ++rank) {
    const auto me = static_cast<std::size_t>(rank);
    const auto& right = before[update.is_server(rank) ? static_cast<std::size_t>(update.trainers[0]) : me];
    for (std::size_t i = 0; i < right.size(); ++i) {
      const auto got = replies[me].at(i).at("numbers").get<Numbers>();
      if (got == right[i]) continue;
      if (update.is_server(rank))
        diagnose(update, replies[me], before[me], done.report.traffic[me].bytes_received);
      ADD_FAILURE() << fmt::format(
          "{}: expected {} in tensor {} of rank {}; it has {} and had {} before ({})", heading(update),
          text(right[i]), i, rank, text(got), text(before[me][i]), difference(right[i], got));
      return false;
    }
  }
  return true;
}

bool check_bystanders(const Update& update, const judge::SimRun& done) {
  for (int rank = 0; rank < update.world_size; ++rank) {
    const auto& traffic = done.report.traffic[static_cast<std::size_t>(rank)];
    if (update.takes_part(rank) || traffic.messages_sent + traffic.messages_received == 0) continue;
    if (std::ranges::find(update.trainers, rank) != update.trainers.end()) {
      misconception(
          "trainers_take_part",
          "the other trainers have the weights already; fix: make the group of trainers[0] and the servers");
    }
    ADD_FAILURE() << fmt::format(
        "{}: rank {} is neither trainers[0] nor a server and must take no part; it sends {} and receives {}",
        heading(update), rank, traffic.messages_sent, traffic.messages_received);
    return false;
  }
  return true;
}

// Those that have elements.
std::uint64_t count_buckets(const Update& update) {
  const auto buckets = update.buckets();
  const auto has_elements = [&](const auto& bucket) {
    return std::ranges::any_of(bucket, [&](std::size_t i) { return update.parameters[i].elements() > 0; });
  };
  return static_cast<std::uint64_t>(std::ranges::count_if(buckets, has_elements));
}

void check_sizes(const judge::SimRun& done, const Update& update) {
  int limit = update.bucket_elements;
  for (const auto& parameter : update.parameters) limit = std::max(limit, parameter.elements());
  for (const auto& event : done.report.trace.events) {
    if (event.kind != dist::trace::Kind::send ||
        event.bytes <= std::uint64_t{4} * static_cast<unsigned>(limit))
      continue;
    misconception("bucket_limit_ignored",
                  "a message holds more elements than a bucket may; fix: limit a bucket to bucket_elements, "
                  "because buckets take memory beside the weights");
    ADD_FAILURE() << fmt::format("{}: rank {} sends {} bytes in one message; expected at most {}",
                                 heading(update), event.rank, event.bytes, 4 * limit);
    return;
  }
}

// The bytes of each message that a rank has received, in order.
std::vector<std::uint64_t> received(const judge::SimRun& done, int rank) {
  std::vector<std::uint64_t> bytes;
  for (const auto& event : done.report.trace.events)
    if (event.kind == dist::trace::Kind::receive && event.rank == rank) bytes.push_back(event.bytes);
  return bytes;
}

// Those of each tensor that has elements.
std::vector<std::uint64_t> bytes_of_tensors(const Update& update) {
  std::vector<std::uint64_t> bytes;
  for (const auto& parameter : update.parameters)
    if (parameter.elements() > 0)
      bytes.push_back(std::uint64_t{4} * static_cast<unsigned>(parameter.elements()));
  return bytes;
}

// The messages that arrive at a server are the buckets, in their order.
bool check_contents(const judge::SimRun& done, const Update& update) {
  std::vector<std::uint64_t> expected;
  for (const auto& bucket : update.buckets()) {
    std::uint64_t bytes = 0;
    for (const auto i : bucket)
      bytes += std::uint64_t{4} * static_cast<unsigned>(update.parameters[i].elements());
    if (bytes > 0) expected.push_back(bytes);
  }
  for (const int server : update.servers) {
    const auto got = received(done, server);
    if (got == expected) continue;
    ADD_FAILURE() << fmt::format(
        "{}: the buckets must have {} bytes, in this order: a tensor joins the open bucket if the two "
        "together "
        "have at most {} elements, and otherwise starts the next one; rank {} receives messages of {} bytes",
        heading(update), fmt::join(expected, ", "), update.bucket_elements, server, fmt::join(got, ", "));
    return false;
  }
  return true;
}

}  // namespace

std::vector<std::vector<std::size_t>> Update::buckets() const {
  std::vector<std::vector<std::size_t>> all;
  int elements = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const int more = parameters[i].elements();
    if (all.empty() || (elements > 0 && elements + more > bucket_elements)) {
      all.emplace_back();
      elements = 0;
    }
    all.back().push_back(i);
    elements += more;
  }
  return all;
}

std::int64_t Update::bytes() const {
  std::int64_t sum = 0;
  for (const auto& parameter : parameters) sum += 4 * parameter.elements();
  return sum;
}

judge::SimRun expect_updated(judge::Random& random, const Update& update) {
  const auto before = weights_before(random, update);
  judge::SimRun done;
  for (const bool eager : {true, false}) {
    done = run(update, before, eager);
    if (!check_weights(update, done, before) || !check_bystanders(update, done)) break;
  }
  return done;
}

void expect_buckets(const judge::SimRun& done, const Update& update) {
  const auto buckets = count_buckets(update);
  const std::uint64_t bytes = static_cast<std::uint64_t>(update.bytes());
  const auto trainer = static_cast<std::size_t>(update.trainers[0]);
  check_sizes(done, update);
  if (testing::Test::HasFailure()) return;
  for (const int server : update.servers) {
    const auto& traffic = done.report.traffic[static_cast<std::size_t>(server)];
    if (traffic.messages_received == buckets && traffic.bytes_received == bytes) continue;
    const auto got = received(done, server);
    if (std::ranges::count(got, 0) > 0) {
      misconception("sends_empty_buckets",
                    "a bucket without elements was sent: no rank needs it, and the message costs its "
                    "overhead; fix: skip it");
    } else if (got == bytes_of_tensors(update)) {
      misconception("one_message_a_tensor",
                    "every tensor is sent by itself, and each message costs its overhead; fix: pack small "
                    "tensors into one bucket");
    }
    ADD_FAILURE() << fmt::format(
        "{}, {} tensors: expected {} messages of {} bytes in all to rank {}; it receives {} messages of {} "
        "bytes in all",
        heading(update), update.parameters.size(), buckets, bytes, server, traffic.messages_received,
        traffic.bytes_received);
    return;
  }
  if (!check_contents(done, update)) return;
  const int n = static_cast<int>(update.servers.size()) + 1;
  const auto most = buckets * static_cast<std::uint64_t>(ceil_log2(n)),
             sent = done.report.traffic[trainer].messages_sent;
  if (sent <= most) return;
  misconception("trainer_serves_everybody",
                "trainers[0] sends every bucket to every server itself; fix: broadcast with a tree, so that "
                "the servers pass it on");
  ADD_FAILURE() << fmt::format(
      "{}: rank {} sends {} messages; expected at most {} buckets x ceil(log2 {}) = {}", heading(update),
      trainer, sent, buckets, n, most);
}

}  // namespace lab05
