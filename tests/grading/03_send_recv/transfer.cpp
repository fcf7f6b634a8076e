// Lab 03, parts 2 and 3: the exchange and the ring. In both, rank r's tensor goes to one other rank.
#include "transfer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab03 {
namespace {

using judge::misconception;

bool some_pair(const std::vector<int>& partners, auto wanted) {
  for (int rank = 0; rank < static_cast<int>(partners.size()); ++rank) {
    if (wanted(rank, partners[static_cast<std::size_t>(rank)])) return true;
  }
  return false;
}

}  // namespace

Transfer make_transfer(Random& random, const std::string& call, const std::vector<int>& to, int length) {
  Transfer transfer{.trial = {.call = call}, .to = to, .given = {}};
  for (int rank = 0; rank < static_cast<int>(to.size()); ++rank) {
    const int target = to[static_cast<std::size_t>(rank)];
    transfer.given.push_back(draw(random, length));
    transfer.trial.tasks.push_back({{"call", call},
                                    {"given", packed(transfer.given.back())},
                                    {"filled", packed(draw(random, length))},
                                    {"partner", target}});
    if (target != rank) transfer.trial.links.emplace_back(rank, target);
  }
  return transfer;
}

Values Transfer::expected(int rank) const {
  const auto source = std::ranges::find(to, rank) - to.begin();
  return given[static_cast<std::size_t>(source)];
}

bool Transfer::is_right(const judge::SimRun& run) const {
  if (!run.report.ok() || !trial.has_used_its_links(run)) return false;
  for (int rank = 0; rank < trial.ranks(); ++rank) {
    const Json& reply = run.ranks[static_cast<std::size_t>(rank)].reply;
    if (!reply.is_object() || !reply.contains("value")) return false;
    if (unpacked(reply["value"].value("filled", Json("none"))) != expected(rank)) return false;
  }
  return true;
}

bool Transfer::expect_transferred(const judge::SimRun& run, const Names& names) const {
  const auto replies = answers(trial, run);
  for (int rank = 0; rank < static_cast<int>(replies.size()); ++rank) {
    const Json& reply = replies[static_cast<std::size_t>(rank)];
    const auto& mine = given[static_cast<std::size_t>(rank)];
    const auto left = unpacked(reply.value("given", Json("none")));
    const auto filled = unpacked(reply.value("filled", Json("none")));
    if (left != mine) {
      misconception(
          "overwrites_what_it_sends",
          fmt::format("`{}` belongs to the caller, and a copy of a Tensor shares its memory; fix: receive "
                      "into `{}` only",
                      names.given, names.filled));
      ADD_FAILURE() << fmt::format("{}rank {}'s `{}` was {} and must stay unchanged; it is {} now", run.about,
                                   rank, names.given, shown(mine), shown(left));
      return false;
    }
    if (filled == expected(rank) && !reply.value("moved", true)) continue;
    if (reply.value("moved", true)) {
      misconception("another_name",
                    fmt::format("`{0} = ...` makes {0} a name for other memory, and the memory that it had "
                                "is not filled; fix: copy the elements with {0}.copy_(...)",
                                names.filled));
    }
    ADD_FAILURE() << fmt::format(
        "{}the memory of rank {}'s `{}` must hold {}; it holds {}{}", run.about, rank, names.filled,
        shown(expected(rank)), shown(filled),
        reply.value("moved", true) ? "; the variable refers to another tensor now" : "");
    return false;
  }
  return !replies.empty();
}

void diagnose_not_blocking() {
  misconception("does_not_block",
                "isend and irecv, the topic of lab 04, move both directions at once; fix: use blocking calls "
                "in a suitable order");
}

namespace {

bool asks_itself(const std::vector<int>& partners, const judge::SimRun& run,
                 const std::map<int, std::string>& stuck) {
  const auto& failures = run.report.failures;
  return some_pair(partners, [&](int a, int b) { return a == b && stuck.contains(a); }) ||
         (!failures.empty() && failures.front().what.find("to oneself") != std::string::npos);
}

// What the ranks that a deadlock holds have in common.
void diagnose_exchange(const std::vector<int>& partners, const judge::SimRun& run) {
  const auto stuck = blocked(run);
  const auto any = [&](auto wanted) {
    return some_pair(partners, [&](int a, int b) { return a != b && wanted(a, b, stuck.contains(a)); });
  };
  const auto all_call = [&](const std::string& call) {
    return std::ranges::all_of(stuck, [&](const auto& one) { return one.second == call; });
  };
  const bool pairs_stuck = any([](int, int, bool is_stuck) { return is_stuck; });
  const bool unlike_go_on = any([](int a, int b, bool is_stuck) { return (a - b) % 2 != 0 && !is_stuck; });
  const bool unlike_stuck = any([](int a, int b, bool is_stuck) { return (a - b) % 2 != 0 && is_stuck; });
  const bool others_go_on = any([](int a, int b, bool is_stuck) { return a != 0 && b != 0 && !is_stuck; });
  if (!pairs_stuck) {
    if (!asks_itself(partners, run, stuck)) return;
    misconception("talks_to_itself", "a rank that is its own partner cannot send to itself; fix: copy");
  } else if (unlike_go_on && !unlike_stuck) {
    misconception("order_by_parity",
                  "\"even ranks first, odd ranks second\" gives no order to two partners that are both even "
                  "or both odd; fix: compare the rank with its partner");
  } else if (partners[0] != 0 && !stuck.contains(0) && !others_go_on) {
    misconception("only_rank_0_sends_first",
                  "the order covers only rank 0 and its partner; fix: decide the order of every pair by "
                  "comparing the two ranks");
  } else if (all_call("send")) {
    misconception("both_send_first",
                  "a blocking send returns when the partner receives, and the partner is sending, too; fix: "
                  "let one of the two receive first");
  } else if (all_call("recv")) {
    misconception("both_receive_first",
                  "both ranks wait for a message that neither has sent; fix: let one of the two send first");
  }
}

const Names exchange_names{"mine", "theirs"};

}  // namespace

void expect_exchange(Random& random, const std::vector<int>& partners, int length) {
  const auto transfer = make_transfer(random, "exchange", partners, length);
  for (const auto sends : {Sends::wait, Sends::eager}) {
    const auto done = run(transfer.trial, sends);
    diagnose_exchange(partners, done);
    if (!transfer.expect_transferred(done, exchange_names)) return;
  }
}

void expect_exchange_rounds(Random& random, const std::vector<int>& partners) {
  const auto transfer = make_transfer(random, "exchange", partners, random.between(3, 9));
  const auto done = run(transfer.trial, Sends::wait);
  diagnose_exchange(partners, done);
  if (!transfer.expect_transferred(done, exchange_names)) return;
  const int rounds = judge::rounds(done.report);
  if (rounds == 2) return;
  if (rounds < 2) diagnose_not_blocking();
  ADD_FAILURE() << fmt::format(
      "{}with blocking calls a rank either sends or receives, so the exchange takes 2 rounds; it took {}",
      done.about, rounds);
}

std::vector<int> draw_partners(Random& random, int ranks) {
  std::vector<int> order(static_cast<std::size_t>(ranks)), partners(order);
  std::iota(order.begin(), order.end(), 0);
  const auto pair_without_0 = [&](int distance_modulo_2) {
    return some_pair(partners, [&](int a, int b) {
      return a != 0 && b != 0 && a != b && std::abs(a - b) % 2 == distance_modulo_2;
    });
  };
  do {
    random.shuffle(order);
    std::iota(partners.begin(), partners.end(), 0);
    for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
      partners[static_cast<std::size_t>(order[i])] = order[i + 1];
      partners[static_cast<std::size_t>(order[i + 1])] = order[i];
    }
  } while (!pair_without_0(0) || !pair_without_0(1) || partners[0] == 0);
  return partners;
}

}  // namespace lab03
