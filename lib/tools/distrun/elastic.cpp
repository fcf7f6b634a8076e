// Jobs whose nodes come and go (--nnodes 1:4), as torchrun's elastic agent has them. The attempts are rounds:
// each begins with a meeting of those that are there. The first of them that is still alive closes the
// meeting: not before every living member of the round before has come, because its ranks run until then; at
// once if those that waited have come as well; and otherwise some time after there are enough. A node that
// comes later says that it waits, and the others, who look for that, end their ranks and meet again. Members
// stay members: only what they leave free goes to others. The keys of a round:
//   distrun/ID/attemptN/arrived   how many have come
//   .../memberK                   who was number K: "NAME SIZE ROLE"
//   .../closed                    "RESTARTS K K K": who takes part, in the order of their node numbers
//   .../waiting                   how many came too late
//   .../why                       why it ended (board.h)
// and of the job:
//   distrun/ID/over               that no round will follow: "finished", or that the host of the store leaves
#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "dist/core/fail.h"

#include "machine.h"
#include "nodes.h"

namespace distrun {
namespace {

using dist::Deadline;
using dist::Errc;
using dist::fail;

constexpr double goodbye_s = 30;  // the host of the store waits no longer for the other nodes

}  // namespace

struct Nodes::Member {
  int arrival = 0;
  std::string name, role;
  int size = 0;

  static Member parse(int arrival, const std::string& text) {
    std::istringstream in(text);
    Member member{arrival, "", "", 0};
    in >> member.name >> member.size >> std::ws;
    std::getline(in, member.role);
    return member;
  }
};

struct Nodes::Round {
  int restarts = 0;
  std::vector<Member> members;

  bool has(const std::string& name) const { return std::ranges::count(members, name, &Member::name) > 0; }
};

bool Nodes::meet(const Options& options) {
  if (name_.empty())
    take_name(options);
  else
    end_round();
  while (true) {
    const int arrival = arrive(options);
    const auto round = wait_for_round(options, arrival);
    if (!round) return false;
    restarts_ = round->restarts;
    if (!take_place(*round, arrival)) {
      if (!wait_for_next_round(options, *round)) return false;
      continue;
    }
    const auto lost =
        agree_on_master(options, [this](const std::string& name) { return board_.key(attempt_, name); });
    if (!lost) return true;
    board_.decide(attempt_, End::joins);  // no rank has run, so it is no failure of theirs
    end_round();
  }
}

// Also agrees with the others on --nnodes.
void Nodes::take_name(const Options& options) {
  const Deadline deadline = after_s(options.join_timeout_s);
  const auto first = meeting_.reach(deadline);
  const std::string wanted = fmt::format("{}:{}", options.least_nodes, options.nodes);
  const auto agreed = dist::to_string(first->compare_set(key("nnodes"), {}, dist::to_bytes(wanted)));
  if (agreed != wanted)
    fail(Errc::invalid_argument,
         "distrun: --nnodes is {} here, but {} on the node that started job \"{}\" at {}; give the same "
         "--nnodes on every node",
         wanted, agreed, board_.run_id, place_.store_address);
  name_ = std::to_string(first->add(key("names"), 1) - 1);
  store_ = meeting_.reach(deadline, {key("gone" + name_), fmt::format("{}:{}", host_name(), getpid())});
}

int Nodes::arrive(const Options& options) {
  attempt_ = static_cast<int>(store_->add(key("round"), 0));
  const int arrival = static_cast<int>(store_->add(board_.key(attempt_, "arrived"), 1)) - 1;
  store_->set(board_.key(attempt_, fmt::format("member{}", arrival)),
              fmt::format("{} {} {}", name_, options.nproc_per_node, options.role));
  return arrival;
}

// All members of a round do this, and the first one's counts. arrive() has created the key.
void Nodes::end_round() {
  store_->compare_set(key("round"), dist::to_bytes(std::to_string(attempt_)),
                      dist::to_bytes(std::to_string(attempt_ + 1)));
}

// Those that arrived for a round and are still there.
std::vector<Nodes::Member> Nodes::present(int attempt) const {
  std::vector<Member> there;
  const auto arrived = static_cast<int>(store_->add(board_.key(attempt, "arrived"), 0));
  for (int arrival = 0; arrival < arrived; ++arrival) {
    const std::string who = board_.key(attempt, fmt::format("member{}", arrival));
    if (!board_.has(who)) continue;  // it is about to write that
    Member member = Member::parse(arrival, store_->get_text(who, after_s(late_after_s)));
    if (!board_.has(key("gone" + member.name))) there.push_back(std::move(member));
  }
  return there;
}

std::optional<Nodes::Round> Nodes::closed(int attempt) const {
  const std::string at = board_.key(attempt, "closed");
  if (!board_.has(at)) return std::nullopt;
  std::istringstream in(store_->get_text(at, after_s(late_after_s)));
  Round round;
  in >> round.restarts;
  for (int arrival; in >> arrival;)
    round.members.push_back(Member::parse(
        arrival,
        store_->get_text(board_.key(attempt, fmt::format("member{}", arrival)), after_s(late_after_s))));
  return round;
}

bool Nodes::may_close(const Options& options, const std::vector<Member>& here, Deadline& last_call) const {
  bool all_are_here = false;
  double patience_s = options.last_call_s;
  if (const auto before = attempt_ == 0 ? std::nullopt : closed(attempt_ - 1)) {
    all_are_here = true;
    for (const Member& one : present(attempt_ - 1)) {
      if (std::ranges::count(here, one.name, &Member::name) > 0) continue;
      if (before->has(one.name)) return false;
      all_are_here = false;
    }
    patience_s = late_after_s;  // for those that waited and come at once, unless they are stopped
  }
  if (std::ssize(here) < options.least_nodes) return last_call = Deadline::never(), false;
  if (last_call.is_never()) last_call = after_s(patience_s);
  return all_are_here || std::ssize(here) >= options.nodes || last_call.passed();
}

void Nodes::close(const Options& options, std::vector<Member> here) {
  int restarts = 0;
  if (const auto before = attempt_ == 0 ? std::nullopt : closed(attempt_ - 1)) {
    const bool is_counted = board_.decide(attempt_ - 1, End::failed) == End::failed;
    restarts = before->restarts + (is_counted ? 1 : 0);
    std::ranges::stable_partition(here, [&](const Member& one) { return before->has(one.name); });
  }
  if (std::ssize(here) > options.nodes) here.resize(static_cast<std::size_t>(options.nodes));
  std::vector<int> arrivals;
  for (const Member& one : here) arrivals.push_back(one.arrival);
  store_->compare_set(board_.key(attempt_, "closed"), {},
                      dist::to_bytes(fmt::format("{} {}", restarts, fmt::join(arrivals, " "))));
}

// Returns none when the job has ended well.
std::optional<Nodes::Round> Nodes::wait_for_round(const Options& options, int arrival) {
  const Deadline deadline = after_s(options.join_timeout_s);
  Deadline last_call = Deadline::never(), silence = after_s(late_after_s);
  while (true) {
    if (auto round = closed(attempt_)) return round;
    if (is_over()) return std::nullopt;
    const std::vector<Member> here = present(attempt_);
    if (!here.empty() && here.front().arrival == arrival && may_close(options, here, last_call)) {
      close(options, here);
      continue;
    }
    if (deadline.passed())
      fail(Errc::timeout,
           "distrun: only {} of at least {} nodes arrived at {} within {} s; is distrun running on the "
           "others, with the same --nnodes, --rdzv-endpoint and --rdzv-id?",
           here.size(), options.least_nodes, place_.store_address, options.join_timeout_s);
    if (silence.passed()) {
      silence = Deadline::never();
      err_.say(fmt::format("arrived at {}: {} nodes of {} to {}; waiting up to {:g} s in all for the others",
                           place_.store_address, here.size(), options.least_nodes, options.nodes,
                           options.join_timeout_s));
    }
    pause();
  }
}

// Returns false when this node does not take part.
bool Nodes::take_place(const Round& round, int arrival) {
  const auto me = std::ranges::find(round.members, arrival, &Member::arrival);
  if (me == round.members.end()) return false;
  place_.node_rank = board_.node_rank = static_cast<int>(me - round.members.begin());
  place_.nodes = board_.nodes = static_cast<int>(round.members.size());
  place_.local_size = me->size;
  place_.world_size = place_.first_rank = place_.role_size = place_.first_role_rank = 0;
  board_.members.clear();
  for (const Member& member : round.members) {
    const bool is_before = static_cast<int>(board_.members.size()) < place_.node_rank;
    board_.members.push_back(member.name);
    place_.world_size += member.size;
    if (is_before) place_.first_rank += member.size;
    if (member.role != me->role) continue;
    place_.role_size += member.size;
    if (is_before) place_.first_role_rank += member.size;
  }
  return true;
}

// Returns false when the job has ended well.
bool Nodes::wait_for_next_round(const Options& options, const Round& round) {
  const bool is_full = std::ssize(round.members) == options.nodes;
  err_.say(fmt::format(
      "job \"{}\" at {} is running{}", board_.run_id, place_.store_address,
      is_full ? fmt::format(" on {} nodes; this one waits until one of them is lost", options.nodes)
              : "; it starts again with this node"));
  std::vector<std::string> gone;
  for (const Member& member : round.members) gone.push_back(key("gone" + member.name));
  store_->add(board_.key(attempt_, "waiting"), 1);
  while (true) {
    const bool nobody_is_left = store_->check(gone);  // before the two keys that its last member may have set
    if (store_->add(key("round"), 0) != attempt_) return true;
    if (is_over()) return false;
    if (nobody_is_left)
      fail(Errc::peer_failed, "distrun: job \"{}\" at {} has ended: all its nodes have left", board_.run_id,
           place_.store_address);
    pause();
  }
}

// Whether the job has ended well, which is said then.
bool Nodes::is_over() const {
  if (!board_.has(key("over"))) return false;
  if (store_->get_text(key("over"), after_s(late_after_s)) != has_finished)
    fail(Errc::peer_failed, "distrun: job \"{}\" at {} has ended: the node that hosts its store leaves",
         board_.run_id, place_.store_address);
  err_.say(fmt::format("job \"{}\" at {} has ended, and did not need this node", board_.run_id,
                       place_.store_address));
  return true;
}

bool Nodes::agrees_to_join(int attempt) {
  if (name_.empty()) return false;
  try {
    return board_.decide(attempt, End::failed) == End::joins;
  } catch (const dist::Error&) {
    return false;  // the store is lost: there is no other attempt
  }
}

void Nodes::wait_until_all_are_gone() {
  store_->compare_set(key("over"), {}, dist::to_bytes("its host leaves"));
  const Deadline deadline = after_s(goodbye_s);
  const auto names = store_->add(key("names"), 0);
  for (std::int64_t name = 0; name < names; ++name)
    if (std::to_string(name) != name_) store_->get(key(fmt::format("gone{}", name)), deadline);
}

}  // namespace distrun
