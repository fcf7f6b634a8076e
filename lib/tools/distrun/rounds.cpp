// The attempts of a job are rounds: each begins with a meeting of the nodes that are there. The first of them
// that is still alive closes the meeting: not before every living member of the round before has come,
// because its ranks run until then; at once if all come; and otherwise, where nodes come and go (--nnodes
// 1:4, as torchrun's elastic agent has them), some time after there are enough. A node that comes later says
// that it waits, and the others, who look for that, end their ranks and meet again. Members stay members:
// only what they leave free goes to others. The keys of a round:
//   distrun/ID/attemptN/arrived   how many have come
//   .../memberK                   who was number K: "NAME SIZE NUMBER ROLE"
//   .../closed                    "RESTARTS K K K": who takes part, in the order of their node numbers
//   .../waiting                   how many came too late
//   .../why                       why it ended (board.h)
// and of the job:
//   distrun/ID/round              its newest round
//   distrun/ID/over               that no round will follow: "finished", or that the host of the store leaves
#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"

#include "nodes.h"

namespace distrun {
namespace {

using dist::Deadline;
using dist::Errc;
using dist::fail;

constexpr auto between_looks = std::chrono::milliseconds(100);
std::string how_many(const Options& options) {
  return fmt::format("{}{} nodes", options.is_elastic() ? "at least " : "", options.least_nodes);
}

}  // namespace

bool Nodes::meet(const Options& options) {
  while (true) {
    const int arrival = arrive(options);
    const auto round = wait_for_round(options, arrival);
    if (!round) return false;
    restarts_ = round->restarts;
    if (!take_place(*round, arrival)) {
      if (!wait_for_next_round(options, *round)) return false;
      continue;
    }
    if (agree_on_master(options)) return true;
    board_.decide(attempt_, End::joins);  // a node is lost, but no rank has run: the failure is not theirs
    end_round();
  }
}

int Nodes::arrive(const Options& options) {
  if (board_.has(key("gone" + name_)))
    fail(Errc::connection, "distrun: the host of the store at {} has lost its connection to this node",
         place_.store_address);
  attempt_ = static_cast<int>(store_->add(key("round"), 0));
  const int arrival = static_cast<int>(store_->add(board_.key(attempt_, "arrived"), 1)) - 1;
  store_->set(board_.key(attempt_, fmt::format("member{}", arrival)),
              Member{arrival, name_, options.role, options.nproc_per_node, number_}.text());
  return arrival;
}

// All members of a round do this, and the first one's counts. arrive() has created the key.
void Nodes::end_round() {
  store_->compare_set(key("round"), dist::to_bytes(std::to_string(attempt_)),
                      dist::to_bytes(std::to_string(attempt_ + 1)));
}

// The node that arrived as number `arrival`; none if it is gone, or has not told its name yet.
std::optional<Member> Nodes::member(int attempt, int arrival) const {
  const std::string who = board_.key(attempt, fmt::format("member{}", arrival));
  if (!board_.has(who)) return std::nullopt;
  auto member = Member::parse(arrival, store_->get_text(who, after_s(late_after_s)));
  return board_.has(key("gone" + member.name)) ? std::nullopt : std::optional(std::move(member));
}

std::vector<Member> Nodes::present(int attempt) const {
  std::vector<Member> there;
  const auto arrived = static_cast<int>(store_->add(board_.key(attempt, "arrived"), 0));
  for (int arrival = 0; arrival < arrived; ++arrival)
    if (auto one = member(attempt, arrival)) there.push_back(std::move(*one));
  return there;
}

std::optional<Round> Nodes::closed(int attempt) const {
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
  for (const Member& one : in_order(here)) arrivals.push_back(one.arrival);
  store_->compare_set(board_.key(attempt_, "closed"), {},
                      dist::to_bytes(fmt::format("{} {}", restarts, fmt::join(arrivals, " "))));
}

// This node is not one of a fixed number that have met.
void Nodes::fail_complete(const Options& options) const {
  fail(Errc::invalid_argument,
       "distrun: job \"{}\" at {} already has its {}; for another job choose another --rdzv-id and endpoint",
       board_.run_id, place_.store_address, dist::counted(options.nodes, "node"));
}

// Returns none when the job has succeeded. Before a restart the ranks of all nodes take their grace periods.
std::optional<Round> Nodes::wait_for_round(const Options& options, int arrival) {
  const double graces_s = attempt_ > 0 ? 4 * options.grace_s : 0;
  const Deadline deadline = after_s(std::max(options.join_timeout_s, graces_s));
  Deadline last_call = Deadline::never(), silence = after_s(late_after_s);
  const auto arrived = [&] { return store_->add(board_.key(attempt_, "arrived"), 0); };
  const auto is_first = [&] {
    for (int other = 0; other < arrival; ++other)
      if (member(attempt_, other)) return false;
    return true;
  };
  while (true) {
    if (auto round = closed(attempt_)) return round;
    if (is_over()) return std::nullopt;
    if (attempt_ > 0 && !options.is_elastic()) {
      if (board_.members.empty()) fail_complete(options);
      if (const auto lost = board_.lost_node()) fail(Errc::peer_failed, "distrun: {}", *lost);
    }
    const bool closes = is_first();
    if (closes && arrived() >= options.least_nodes)
      if (auto here = present(attempt_); may_close(options, here, last_call)) {
        close(options, std::move(here));
        continue;
      }
    if (deadline.passed()) say_who_is_missing(options);
    if (silence.passed()) {
      silence = Deadline::never();
      err_.say(fmt::format("arrived at {}: {} of {}; waiting up to {:g} s in all for the others",
                           place_.store_address, present(attempt_).size(), how_many(options),
                           options.join_timeout_s));
    }
    wait_for(board_.key(attempt_, closes ? fmt::format("member{}", arrived()) : "closed"));
  }
}

void Nodes::say_who_is_missing(const Options& options) const {
  const auto here = present(attempt_);
  if (std::ssize(here) >= options.least_nodes)
    fail(Errc::timeout, "distrun: a node of the last attempt has not ended its ranks within {} s",
         options.join_timeout_s);
  fail(Errc::timeout,
       "distrun: only {} of {} arrived at {} within {} s; is distrun running on the others, with the same "
       "--nnodes, --rdzv-endpoint and --rdzv-id?",
       here.size(), how_many(options), place_.store_address, options.join_timeout_s);
}

void Nodes::wait_for(const std::string& key) const {
  try {
    store_->wait(std::span(&key, 1), Deadline::after(between_looks));
  } catch (const dist::Error& error) {
    if (error.code() != Errc::timeout) throw;
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

// Returns false when the job has succeeded.
bool Nodes::wait_for_next_round(const Options& options, const Round& round) {
  if (!options.is_elastic()) fail_complete(options);
  if (board_.has(key("over")))
    fail(Errc::invalid_argument,
         "distrun: job \"{}\" at {} has ended; for another job choose another --rdzv-id and endpoint",
         board_.run_id, place_.store_address);
  const bool is_full = std::ssize(round.members) == options.nodes;
  const auto what_next =
      is_full ? fmt::format(" on {} nodes; this one waits until one of them is lost", options.nodes)
              : "; it starts again with this node";
  err_.say(fmt::format("job \"{}\" at {} is running{}", board_.run_id, place_.store_address, what_next));
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
    std::this_thread::sleep_for(between_looks);
  }
}

// Whether the job has succeeded, which is said then.
bool Nodes::is_over() const {
  if (!board_.has(key("over"))) return false;
  if (store_->get_text(key("over"), after_s(late_after_s)) != has_finished)
    fail(Errc::peer_failed, "distrun: job \"{}\" at {} has ended: the node that hosts its store leaves",
         board_.run_id, place_.store_address);
  err_.say(fmt::format("job \"{}\" at {} has ended, and did not need this node", board_.run_id,
                       place_.store_address));
  return true;
}

}  // namespace distrun
