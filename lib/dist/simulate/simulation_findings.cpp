// Simulation: what it finds wrong with the program, and what it does not report because something else
// explains it. It is called by the network (misfit, stranded, written), by the observers (note,
// compare_collective, compare_copies), and when no rank can continue (stalled).
#include <algorithm>

#include "dist/core/fail.h"
#include "dist/simulate/simulation.h"

namespace dist::sim {

void Simulation::note(check::Finding finding, Telling telling) {
  const auto is_another = [&](const auto& other) { return other.code != finding.code; };
  switch (telling) {
    case Telling::together: return note_together(std::move(finding));
    case Telling::unless_failed:
      if (!report_.failures.empty() || std::ranges::any_of(report_.findings, is_another)) return;
      break;
    case Telling::always: break;
  }
  std::string text = finding.text();
  if (noted_.insert(std::move(text)).second) report_.findings.push_back(std::move(finding));
}

// A difference that the ranks themselves have found was also noticed here: then one of the two findings
// contains the other.
void Simulation::note_together(check::Finding finding) {
  for (check::Finding& other : report_.findings) {
    if (other.code != finding.code) continue;
    auto news = finding.parties;
    std::erase_if(news, [&](const check::Party& p) { return std::ranges::count(other.parties, p) > 0; });
    const bool says_all = other.parties.size() == finding.parties.size() - news.size();
    if (other.what != finding.what && !news.empty() && !says_all) continue;
    other.parties.insert(other.parties.end(), news.begin(), news.end());
    return;
  }
  report_.findings.push_back(std::move(finding));
}

// All ranks that differ from the first one to call make one finding.
void Simulation::compare_collective(int rank, const Attendance& attendance) {
  const auto& [group, group_size, mine, where] = attendance;
  const auto entry = collectives_.try_emplace({group, mine.sequence}, Collective{mine, rank, where}).first;
  Collective& call = entry->second;
  if (call.first != mine) {
    check::Party party{rank, mine.str(), where, {}};
    if (call.finding < 0) {
      call.finding = static_cast<int>(report_.findings.size());
      report_.findings.push_back(
          check::explain_difference(kind_of_difference(call.first, mine),
                                    {{call.rank, call.first.str(), call.where, {}}, std::move(party)}));
    } else {
      report_.findings[index(call.finding)].parties.push_back(std::move(party));
    }
  }
  if (++call.came == group_size) collectives_.erase(entry);
}

// What differs after the first difference follows from it, except the same on another group of the mesh.
void Simulation::compare_copies(int rank, GroupCopies mine) {
  const std::pair key{mine.group, mine.copies.str()};
  auto& waiting = copies_[key];
  mine.copies.rank = rank;
  waiting[rank].push_back(std::move(mine.copies));
  if (static_cast<int>(waiting.size()) < mine.group_size) return;
  std::vector<check::Copies> all;
  for (auto& [of, copies] : waiting) {
    all.push_back(std::move(copies.front()));
    copies.pop_front();
  }
  std::erase_if(waiting, [](const auto& rank_and_copies) { return rank_and_copies.second.empty(); });
  if (waiting.empty()) copies_.erase(key);
  auto finding = check::explain_copies(all);
  if (!finding) return;
  const auto is_cause = [&](const check::Finding& other) {
    return other.code >= check::Code::partial_sum && other.what != finding->what;
  };
  if (std::ranges::none_of(report_.findings, is_cause)) note(std::move(*finding), Telling::together);
}

check::Party Simulation::party_of(const NetRequest& request) const {
  const auto& site = fabric_.sites[request.site];
  check::Party party{request.owner,
                     check::describe_message(site.name, request.is_send, request.bytes,
                                             request.peer == any_source ? -1 : request.peer),
                     site.where,
                     {}};
  add_path(party, request);
  return party;
}

// Adds a message's tag and group, from what distinguishes it in the network (SimTransport::post).
void Simulation::add_path(check::Party& party, const NetRequest& request) const {
  const std::uint32_t group = request.context / 2;
  const bool is_message = request.context % 2 == 1;
  if (!is_message) return;
  party.tag = request.tag;
  if (group == 0) return;
  const auto name = group_names_.find(group);
  party.group = name == group_names_.end() ? "another group" : name->second;
}

void Simulation::written(const NetRequest& recv) {
  if (globals_) globals_->received(recv.owner, recv.data, recv.bytes);
}

void Simulation::misfit(const NetRequest& send, const NetRequest& recv) {
  const auto& sent = fabric_.sites[send.site].name;
  const auto& received = fabric_.sites[recv.site].name;
  const bool are_messages = sent == "send" && received == "recv";
  // Collectives were reported when the calls were compared, except those in which each rank has a size of its
  // own.
  if (!are_messages && (sent != received || send.bytes == recv.bytes || !report_.findings.empty())) return;
  note(check::explain_misfit({party_of(send), party_of(recv), send.bytes, recv.bytes}));
}

void Simulation::stranded(const NetRequest& request, int gone) {
  if (!ended_well(gone) || fabric_.sites[request.site].name == gave_up_label) return;
  check::Party party = party_of(request);
  if (request.is_send && fabric_.sites[request.site].name == "send") {
    note({check::Code::never_received, fmt::format("rank {} has left without receiving it", gone), {party}});
  } else {
    party.waits_for = {gone};
    note(check::explain_deadlock({party}, {gone}));
  }
}

bool Simulation::ended_well(int rank) const {
  return fabric_.gone[index(rank)] == has_left && fabric_.gave_up.empty() && report_.findings.empty();
}

// The groups of one split share a context number, and so a name.
void Simulation::name_group(std::uint32_t context, const std::string& name) {
  if (!group_names_.contains(context)) group_names_[context] = name.substr(0, name.find(" color "));
}

std::vector<int> Simulation::waited_for(const BlockedTask& task) const {
  if (task.reason && task.request == no_request) return task.reason->waits_for();
  if (task.request == no_request) return {};
  const NetRequest& request = scheduler_.network()[task.request];
  if (request.peer != any_source) return {request.peer};
  std::vector<int> others;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    if (rank != task.rank) others.push_back(rank);
  }
  return others;
}

void Simulation::stalled(const std::vector<BlockedTask>& blocked) {
  if (!options_.check || !report_.findings.empty()) return;  // everything later follows from those
  if (std::ranges::any_of(blocked, [](const BlockedTask& task) { return task.bounded && !task.worker; }))
    return;
  std::vector<check::Party> waiting;
  for (const BlockedTask& task : blocked) {
    if (!task.reason) continue;  // a wait for a worker of its own, which is in the list, too
    waiting.push_back({task.rank, task.reason->doing(), task.reason->where(), waited_for(task)});
    if (task.request != no_request) add_path(waiting.back(), scheduler_.network()[task.request]);
  }
  std::vector<int> ended;
  for (int rank = 0; rank < options_.ranks; ++rank) {
    if (ended_[index(rank)]) ended.push_back(rank);
  }
  if (!waiting.empty()) note(check::explain_deadlock(std::move(waiting), ended));
}

void Simulation::look_for_unreceived() {
  if (!fabric_.gave_up.empty() || !report_.failures.empty() || !report_.findings.empty()) return;
  for (const RequestId id : scheduler_.network().unmatched_sends()) {
    if (fabric_.sites[scheduler_.network()[id].site].name == gave_up_label) continue;
    note({check::Code::never_received,
          "no rank received it before the program ended",
          {party_of(scheduler_.network()[id])}});
  }
}

}  // namespace dist::sim
