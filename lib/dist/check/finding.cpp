// The texts of findings: titles and fixes by code, the lines of the ranks that take part (equal ones
// together), the drawing of a cycle. Then the functions that explain a deadlock, calls that differ, and a
// message that does not fit its receive.
#include "dist/check/finding.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "dist/check/who.h"
#include "dist/core/counted.h"

namespace dist::check {
namespace {

struct Words {
  std::string_view title, mend;
};

Words words(Code code) {
  switch (code) {
    case Code::deadlock:
      return {"deadlock",
              "let one rank receive before it sends, or start both operations with isend/irecv "
              "(batch_isend_irecv) and wait afterwards"};
    case Code::mismatched_collective:
      return {"mismatched collective", "let every rank of the group make the same calls in the same order"};
    case Code::misfit_message:
      return {"message that does not fit",
              "give send and receive the same number of elements and the same dtype"};
    case Code::read_before_wait:
      return {"receive buffer used before wait", "call wait() on the Work before you use the tensor"};
    case Code::changed_before_wait:
      return {"send buffer changed before wait",
              "call wait() on the Work before you write to the tensor, or send a clone()"};
    case Code::never_waited: return {"Work never waited for", "keep the Work and call wait() on it"};
    case Code::never_received:
      return {"message never received", "post the matching receive, or do not send the message"};
    case Code::overlap:
      return {"two operations in flight on the same memory",
              "wait for the first before you start the second, or give each its own tensor"};
    case Code::wrong_group:
      return {"group used wrongly",
              "let all ranks call new_group in the same order, and only members use the group"};
    case Code::wrong_device: return {"wrong device", "move the tensor to the group's device with .to()"};
    case Code::partial_sum:
      return {"partial sum used as a whole",
              "sum the ranks' partial sums before use (all_reduce; Partial() for a DTensor), and let one "
              "rank add "
              "the bias"};
    case Code::unreduced_gradient:
      return {
          "gradient of a replicated parameter never reduced",
          "call finish_gradients() before the step, and let the plan name every layer that works on a part"};
    case Code::different_replicas:
      return {
          "replicas that differ",
          "the ranks began with different weights: call nn::manual_seed() with the same seed on every rank "
          "before the model is made, or broadcast_state(model)"};
  }
  __builtin_unreachable();
}

constexpr std::string_view of_other_sizes =
    "let every rank of the group make the same calls in the same order, with the same number of elements and "
    "the same dtype";

constexpr std::string_view left_out =
    "let every rank make this call: all ranks of a group must call its collectives, and all ranks of the job "
    "must call new_group";

constexpr std::string_view crossed =
    "let all ranks make their calls in the same order, across groups as well, and let all ranks of the job "
    "call new_group";

bool is_message(const Party& party) {
  constexpr std::array names{"send", "recv", "isend", "irecv"};
  const auto is_named = [&](const char* name) { return party.doing.starts_with(name); };
  return std::ranges::any_of(names, is_named);
}

bool is_receive(const Party& party) {
  return party.doing.starts_with("recv") || party.doing.starts_with("irecv");
}

// "send #0 (4 f32, tag 1) in group 1": names the tag of a message if any of them is not 0, and the group if
// any of them is not the default group.
struct Paths {
  bool have_tags = false, have_groups = false;
  explicit Paths(const std::vector<Party>& parties) {
    for (const Party& party : parties) {
      have_tags |= party.tag != 0;
      have_groups |= !party.group.empty();
    }
  }
  std::string doing(const Party& party) const {
    std::string text = party.doing;
    if (!is_message(party)) return text;
    if (have_tags && text.ends_with(')')) text.insert(text.size() - 1, fmt::format(", tag {}", party.tag));
    if (have_groups) text += fmt::format(" in {}", party.group.empty() ? "the default group" : party.group);
    return text;
  }
};

// Ranks with the same call at the same line share one line; among many ranks, even if they wait for different
// ones.
std::string lines_of(const std::vector<Party>& parties) {
  const Paths paths(parties);
  constexpr std::size_t few = 8, most = 12;
  std::vector<RankSays> said;
  for (const Party& party : parties) {
    said.push_back({party.rank, fmt::format("{} at {}", paths.doing(party), party.where.str()), {}});
    if (party.waits_for.empty()) continue;
    auto& place = parties.size() <= few ? said.back().what : said.back().more;
    place += fmt::format(", waits for {}", list_ranks(party.waits_for));
  }
  const auto lines = told_together(said);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, lines.size()); ++i) {
    const auto& [first, ranks] = lines[i];
    text += fmt::format("\n  {}: {}{}", list_ranks(ranks), first->what, ranks.size() == 1 ? first->more : "");
  }
  if (lines.size() > most) text += fmt::format("\n  and {} more", lines.size() - most);
  return text;
}

std::string draw(const std::vector<int>& cycle) {
  constexpr std::size_t most = 8;
  std::string text = "\n  cycle: ";
  for (std::size_t i = 0; i < std::min(most, cycle.size()); ++i) text += fmt::format("rank {} -> ", cycle[i]);
  if (cycle.size() > most) text += fmt::format("({} more) -> ", cycle.size() - most);
  return text + fmt::format("rank {}", cycle[0]);
}

constexpr std::string_view all_receive =
    "let one rank send before it receives: each of these ranks is in a receive";
constexpr std::string_view to_itself =
    "let a rank copy what it would send to itself, or start both operations with isend/irecv and wait "
    "afterwards";

// What keeps a send and a receive that wait for each other from matching; empty: there is no such pair.
std::string_view how_paths_meet(const std::vector<Party>& parties) {
  const auto waits = [](const Party& a, const Party& b) {
    return std::ranges::count(a.waits_for, b.rank) > 0;
  };
  for (const Party& send : parties) {
    if (is_receive(send)) continue;
    for (const Party& recv : parties) {
      if (!is_receive(recv) || !waits(send, recv) || !waits(recv, send)) continue;
      if (send.group != recv.group)
        return "give send and receive the same .group: messages of different groups never match";
      if (send.tag != recv.tag)
        return "give send and receive the same .tag: messages with different tags never match";
    }
  }
  return {};
}

}  // namespace

std::string str(Code code) { return fmt::format("D{}", static_cast<int>(code)); }
std::string_view title(Code code) { return words(code).title; }
// A cycle is a matter of order; without one, the ranks wait for a call that no rank makes.
std::string_view Finding::remedy() const {
  if (!fix.empty()) return fix;
  const bool of_collectives = !parties.empty() && std::ranges::none_of(parties, is_message);
  if (code == Code::misfit_message && of_collectives) return of_other_sizes;
  if (code != Code::deadlock || parties.empty()) return words(code).mend;
  if (of_collectives) return find_cycle(parties).empty() ? left_out : crossed;
  if (!std::ranges::all_of(parties, is_message)) return words(Code::mismatched_collective).mend;
  if (const auto meet = how_paths_meet(parties); !meet.empty()) return meet;
  if (const auto cycle = find_cycle(parties); cycle.size() == 1)
    return to_itself;
  else if (!cycle.empty())
    return std::ranges::all_of(parties, is_receive) ? all_receive : words(code).mend;
  return "let the awaited rank make the matching call: each send needs one receive, and each receive one "
         "send, with the same tag";
}

std::string Finding::text() const {
  std::string text = fmt::format("{} {}: {}{}", str(code), title(code), what, lines_of(parties));
  if (code == Code::deadlock) {
    if (const auto cycle = find_cycle(parties); !cycle.empty()) text += draw(cycle);
  }
  return text + fmt::format("\n  fix: {}", remedy());
}

std::string Finding::line() const {
  constexpr std::string_view new_line = "\n  ";
  const std::string all = text();
  std::string line;
  std::string_view rest = all;
  for (std::size_t end = 0; (end = rest.find(new_line)) != rest.npos;
       rest.remove_prefix(end + new_line.size()))
    line.append(rest.substr(0, end)).append("; ");
  return line.append(rest);
}

std::string_view without_finding(std::string_view text) {
  for (std::size_t at = 0; (at = text.find("; D", at)) != text.npos; ++at) {
    std::size_t end = at + 3;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    if (end > at + 3 && text.substr(end).starts_with(' ')) return text.substr(0, at);
  }
  return text;
}

std::vector<int> find_cycle(const std::vector<Party>& waiting) {
  std::map<int, const Party*> of;
  for (const Party& party : waiting) of[party.rank] = &party;
  std::set<int> seen;
  for (const Party& start : waiting) {
    std::vector<int> path;
    for (int at = start.rank; of.contains(at) && !seen.contains(at);) {
      seen.insert(at);
      path.push_back(at);
      const auto& next = of[at]->waits_for;
      const auto blocked = std::ranges::find_if(next, [&](int rank) { return of.contains(rank); });
      if (blocked == next.end()) break;
      at = *blocked;
      const auto begin = std::ranges::find(path, at);
      if (begin != path.end()) return {begin, path.end()};
    }
  }
  return {};
}

Finding explain_deadlock(std::vector<Party> waiting, const std::vector<int>& ended) {
  std::ranges::stable_sort(waiting, {}, &Party::rank);
  Finding finding{Code::deadlock, {}, std::move(waiting)};
  const auto cycle = find_cycle(finding.parties);
  std::vector<int> gone;
  for (const Party& party : finding.parties) {
    for (int rank : party.waits_for) {
      if (std::ranges::find(ended, rank) != ended.end()) gone.push_back(rank);
    }
  }
  std::ranges::sort(gone);
  gone.erase(std::unique(gone.begin(), gone.end()), gone.end());
  if (cycle.size() == 1)
    finding.what = fmt::format("rank {} waits for itself and can never go on", cycle[0]);
  else if (!cycle.empty())
    finding.what = fmt::format("{} ranks wait for each other in a cycle and none can go on", cycle.size());
  else if (!gone.empty())
    finding.what = fmt::format("the awaited call can never come: {} ended already", list_ranks(gone));
  else
    finding.what = "the awaited call can never come";
  return finding;
}

Finding explain_difference(Code code, std::vector<Party> parties) {
  const Party& first = parties.front();
  const auto other = std::ranges::find_if(parties, [&](const Party& p) { return p.doing != first.doing; });
  const Party& odd = other == parties.end() ? first : *other;
  std::string what =
      fmt::format("rank {} calls {} where rank {} calls {}", odd.rank, odd.doing, first.rank, first.doing);
  return {code, std::move(what), std::move(parties)};
}

Finding explain_misfit(Misfit misfit) {
  auto& [sender, receiver, sent, expected] = misfit;
  return {Code::misfit_message,
          fmt::format("{} {} sent {}", counted(sent, "byte"), sent == 1 ? "is" : "are",
                      sent != expected ? fmt::format("and {} expected", expected)
                                       : "with a different dtype from the receive's"),
          {std::move(sender), std::move(receiver)}};
}

std::string describe_message(std::string_view name, bool is_send, std::uint64_t bytes, int peer) {
  return fmt::format("{} ({} {} {})", name, counted(bytes, "byte"), is_send ? "to" : "from",
                     peer < 0 ? "any rank" : fmt::format("rank {}", peer));
}

}  // namespace dist::check
