// Lab 06: which rank sends how much to which, in how many rounds, and how much memory it takes.
#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support.h"

namespace lab06 {
namespace {

using judge::misconception;

constexpr std::uint64_t size_message_bytes = 16;  // scatter_rows: the message with the number of rows

std::uint64_t bytes_of(const Numbers& numbers) { return 4 * numbers.size(); }

void broadcast_and_slice() {
  misconception("broadcast_and_slice",
                "a rank receives the chunks of other ranks, too, and discards them: this takes n times the "
                "bytes and the memory; fix: send each rank its own chunk only");
}

void room_for_everything() {
  misconception("room_for_everything",
                "this rank allocates room for all chunks, most of which are not its own; fix: allocate room "
                "for this rank's data only");
}

// The traffic and memory that are allowed to a rank of a flat scatter or gather other than the root.
struct Allowed {
  std::uint64_t sent_messages, sent_bytes, received_messages, received_bytes, memory;
};

Allowed allowed(const Asked& asked, const Round& round, int rank) {
  const auto share = bytes_of(share_of(round, rank));
  if (asked.is("gather")) return {1, share, 0, 0, share};
  if (asked.is("scatter")) return {0, 0, 1, share, share};
  return {0, 0, 2, share + size_message_bytes, share + size_message_bytes};
}

std::string bytes_in_messages(std::uint64_t bytes, std::uint64_t messages) {
  return messages == 0 ? "nothing"
                       : fmt::format("{} in {}", counted(static_cast<std::int64_t>(bytes), "byte"),
                                     counted(static_cast<std::int64_t>(messages), "message"));
}

bool check_traffic(const Asked& asked, int rank, const dist::sim::RankTraffic& traffic) {
  const auto& round = asked.rounds[0];
  const auto most = allowed(asked, round, rank);
  if (traffic.messages_sent <= most.sent_messages && traffic.bytes_sent <= most.sent_bytes &&
      traffic.messages_received <= most.received_messages && traffic.bytes_received <= most.received_bytes)
    return true;
  if (asked.is("gather")) {
    misconception("everybody_gathers", "only the root needs the list; fix: send nothing to any other rank");
  } else if (traffic.bytes_sent == 0 && traffic.bytes_received >= bytes_of(round.all)) {
    broadcast_and_slice();
  } else if (traffic.bytes_sent > 0) {
    misconception("not_flat",
                  "this part asks for the flat algorithm, the tree comes in part 4; fix: let the root send "
                  "to every rank");
  }
  ADD_FAILURE() << fmt::format("{}: rank {} receives {} and sends {}; it may receive {} and send {}",
                               heading(asked, round), rank,
                               bytes_in_messages(traffic.bytes_received, traffic.messages_received),
                               bytes_in_messages(traffic.bytes_sent, traffic.messages_sent),
                               bytes_in_messages(most.received_bytes, most.received_messages),
                               bytes_in_messages(most.sent_bytes, most.sent_messages));
  return false;
}

// `tolerance`: an allowance for what is small compared with a chunk.
bool check_memory(const Asked& asked, int rank, std::uint64_t peak, std::uint64_t most,
                  std::uint64_t tolerance) {
  if (peak <= most + tolerance) return true;
  const auto& round = asked.rounds[0];
  if (peak >= bytes_of(round.all)) {
    room_for_everything();
  } else {
    misconception("one_buffer_too_many",
                  "a chunk is copied through an extra buffer; fix: receive it where it must stay, and send "
                  "it from where it is");
  }
  ADD_FAILURE() << fmt::format(
      "{}: the tensors of rank {} take {} bytes at the same time, those that it was given included; expected "
      "at most {} (a chunk has {})",
      heading(asked, round), rank, peak, most, bytes_of(share_of(round, rank)));
  return false;
}

// The bytes of each rank, by the tree's contract: a rank forwards everything except its own chunk.
bool check_forwarding(const Asked& asked, int rank, const dist::sim::RankTraffic& traffic) {
  const auto& round = asked.rounds[0];
  const auto share = bytes_of(share_of(round, rank)), all = bytes_of(round.all);
  const bool is_root = rank == round.root;
  const std::uint64_t messages = is_root ? 0 : 1, has = is_root ? all : traffic.bytes_received;
  if (traffic.messages_received == messages && traffic.bytes_sent + share == has) return true;
  if (traffic.messages_received > 1) {
    misconception("one_message_a_share",
                  "the chunks of a subtree arrive in several messages, and each costs its overhead; fix: "
                  "send them in one message, because they are contiguous in memory");
  } else if (is_root ? traffic.bytes_sent > all && traffic.bytes_sent == traffic.messages_sent * all
                     : traffic.bytes_received >= all) {
    misconception("forwards_everything",
                  "every rank receives all chunks, as in a broadcast; fix: send a child the chunks of its "
                  "subtree only");
  }
  ADD_FAILURE() << fmt::format(
      "{}: rank {} receives {} with {} and forwards {}; expected {} and all chunks except its own "
      "forwarded{}",
      heading(asked, round), rank, counted(static_cast<std::int64_t>(traffic.messages_received), "message"),
      counted(static_cast<std::int64_t>(traffic.bytes_received / share), "chunk"), traffic.bytes_sent / share,
      is_root ? "no message" : "1 message", is_root ? fmt::format(", {}", round.ranks - 1) : "");
  return false;
}

void diagnose_slow_tree(int depth, int n) {
  if (depth <= 1) {
    misconception("flat_for_a_tree",
                  "the root sends to every rank itself; fix: give half of the chunks to another rank that "
                  "deals them out");
  } else if (depth > ceil_log2(n)) {
    misconception(
        "tree_too_deep",
        "the path from the root to some rank has more than ceil(log2 n) links; fix: let the parent of "
        "relative rank v be v without its lowest set bit");
  } else {
    misconception("smallest_subtree_first",
                  "the tree is right, but its children are served in the wrong order; fix: send first to the "
                  "child with the largest subtree, because it has the most work left");
  }
}

bool run_in_rounds(const Asked& asked, judge::SimRun& done) {
  done = run(asked, false, "rounds");
  return !answers(done).empty();
}

// Chunks with this many elements; all elements of a chunk are the same.
Asked of_one_value(const std::string& call, int elements, int root, int value) {
  Round round{.ranks = 8, .root = root, .all = {}, .elements = elements};
  for (int rank = 0; rank < round.ranks; ++rank)
    round.all.insert(round.all.end(), 2, static_cast<float>(value + rank));
  return {call, {round}};
}

bool run_large(const Asked& asked, judge::SimRun& done) {
  const Round& round = asked.rounds[0];
  judge::SimPlan plan;
  for (int rank = 0; rank < round.ranks; ++rank)
    plan.tasks.push_back({{"call", "large"},
                          {"what", asked.call},
                          {"elements", round.elements},
                          {"root", round.root},
                          {"value", round.all[0]},
                          {"before", garbage(round, rank)[0]}});
  done = judge::simulate(plan);
  const auto replies = answers(done);
  return !replies.empty() && arrived(asked, replies, ", the first and the last element of each");
}

}  // namespace

void expect_only_shares(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const auto& round = asked.rounds[0];
  for (int rank = 0; rank < round.ranks; ++rank) {
    if (rank == round.root) continue;
    const auto me = static_cast<std::size_t>(rank);
    const auto most = allowed(asked, round, rank).memory;
    if (!check_traffic(asked, rank, done.report.traffic[me]) ||
        !check_memory(asked, rank, done.report.peak_buffer_bytes[me], most, most / 4))
      return;
  }
}

// In the tree only leaves are looked at, since other ranks may have half of all chunks.
void expect_little_memory(judge::Random& random, const std::string& call) {
  const int root = random.between(0, 7), value = random.between(1, 1000);
  const Asked small = of_one_value(call, 1, root, value), large = of_one_value(call, 2 << 20, root, value);
  judge::SimRun without, with;
  if (!run_large(small, without) || !run_large(large, with)) return;
  const Round& round = large.rounds[0];
  const std::uint64_t share = 4 * static_cast<std::uint64_t>(round.elements), all = share * with.ranks.size();
  for (int rank = 0; rank < round.ranks; ++rank) {
    const auto me = static_cast<std::size_t>(rank);
    const auto before = without.ranks[me].peak_memory_bytes, peak = with.ranks[me].peak_memory_bytes;
    const bool is_inner = with.report.traffic[me].bytes_received > share;
    if (rank == root || is_inner || peak < before + all / 2) continue;
    room_for_everything();
    ADD_FAILURE() << fmt::format(
        "{}: the process of rank {} takes {} MiB more than for chunks of one element; its chunk has {} MiB, "
        "all chunks together {}",
        heading(large, round), rank, (peak - before) >> 20, share >> 20, all >> 20);
    return;
  }
}

void expect_only_the_subtree(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const auto& round = asked.rounds[0];
  for (int rank = 0; rank < round.ranks; ++rank) {
    if (!check_forwarding(asked, rank, done.report.traffic[static_cast<std::size_t>(rank)])) return;
  }
  for (int rank = 0; rank < round.ranks; ++rank) {
    const auto me = static_cast<std::size_t>(rank);
    const auto share = bytes_of(share_of(round, rank)), all = bytes_of(round.all);
    // What the rank was given, and what it may allocate.
    const auto most = rank == round.root ? all + share + all : share + done.report.traffic[me].bytes_received;
    if (!check_memory(asked, rank, done.report.peak_buffer_bytes[me], most, share / 4)) return;
  }
}

void expect_few_rounds(const Asked& asked) {
  judge::SimRun done;
  if (!run_in_rounds(asked, done)) return;
  const auto& round = asked.rounds[0];
  const int rounds = judge::rounds(done.report), most = ceil_log2(round.ranks);
  if (rounds <= most) return;
  const int depth = std::ranges::max(judge::depths(done, round.root));
  diagnose_slow_tree(depth, round.ranks);
  ADD_FAILURE() << fmt::format(
      "{} took {}; expected at most ceil(log2 {}) = {}. The longest path from the root has {}",
      heading(asked, round), counted(rounds, "round"), round.ranks, most, counted(depth, "link"));
}

}  // namespace lab06
