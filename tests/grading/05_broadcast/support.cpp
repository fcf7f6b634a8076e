// Lab 05: what all parts share.
#include "support.h"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace lab05 {
namespace {

using dist::check::Code, dist::check::Finding;

void diagnose_self() {
  judge::misconception("sends_to_itself",
                       "a rank cannot send to itself, and the root has the data already; fix: send to every "
                       "rank except the root");
}

void diagnose_finding(const Finding& finding, const std::string& call) {
  judge::diagnose_mixed_calls(finding);
  for (const auto& party : finding.parties) {
    if (party.doing.find("new_group") != std::string::npos) {
      return judge::misconception("only_members_make_the_group",
                                  "new_group is a call of all ranks, also of those that are not in the "
                                  "group; fix: call new_group on every rank first, then ask is_member()");
    }
    const bool waits_for_itself = std::ranges::find(party.waits_for, party.rank) != party.waits_for.end();
    if (finding.code != Code::deadlock || !waits_for_itself) continue;
    if (party.doing.find("send") != std::string::npos) return diagnose_self();
    // In a chain every rank receives from the rank before it; in the others it is a mistake about the root.
    if (party.doing.find("recv") != std::string::npos && call == "chain_broadcast") {
      return judge::misconception(
          "minus_one_is_not_given",
          "(rank - 1) % n is -1 for group rank 0, and .group_src = -1 means that it is not given, so the "
          "second argument is used; fix: add n first, (rank + n - 1) % n");
    }
  }
}

void diagnose_error(const std::string& error) {
  const auto says = [&](std::string_view words) { return error.find(words) != std::string::npos; };
  if (says("send to oneself")) return diagnose_self();
  if (says("takes global ranks")) {
    judge::misconception(
        "group_rank_as_global_rank",
        "dst and src are global ranks, also with .group; fix: pass a group rank as .group_dst or .group_src");
  } else if (says(".group_dst = ") || says(".group_src = ")) {
    judge::misconception("no_such_group_rank",
                         "a group rank is between 0 and n - 1, where n is the size of the group: either the "
                         "number went beyond the last rank, or a global rank was given");
  }
}

}  // namespace

Round round_of(judge::Random& random, int world_size, int root, int elements, int segment) {
  Round round{.root = root, .before = {}, .segment = segment, .shape = {elements}};
  for (int rank = 0; rank < world_size; ++rank) {
    Numbers numbers;
    for (int i = 0; i < elements; ++i)
      numbers.push_back(static_cast<float>(100 * (rank + 1) + random.between(0, 99)));
    round.before.push_back(numbers);
  }
  return round;
}

std::vector<Round> other_tensors(judge::Random& random, int world_size, int segment) {
  const auto tensor = [&](const std::string& dtype, int elements, const std::vector<int>& shape) {
    auto round = round_of(random, world_size, random.between(0, world_size - 1), elements, segment);
    round.dtype = dtype;
    round.shape = shape;
    return round;
  };
  return {tensor("f64", 6, {2, 3}), tensor("i64", 1, {})};
}

std::vector<Json> answers(const judge::SimRun& run, const std::string& call,
                          const std::vector<std::string_view>& allowed) {
  for (const auto& finding : run.report.findings) diagnose_finding(finding, call);
  for (const auto& failure : run.report.failures) diagnose_error(failure.what);
  return run.answers(allowed);
}

bool are_in_place(const std::vector<Json>& replies, const std::string& call) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    for (const auto& seen : replies[rank]) {
      if (seen.at("same_memory")) continue;
      judge::misconception(
          "not_in_place",
          "the tensor now refers to other memory, so whoever holds the old memory (the optimizer or the "
          "caller) does not see the new values; fix: receive into the tensor's own memory, or copy_ into it");
      ADD_FAILURE() << fmt::format(
          "rank {}: after {} the tensor has other memory than the caller gave; expected the same memory, "
          "written in place",
          rank, call);
      return false;
    }
  }
  return true;
}

}  // namespace lab05
