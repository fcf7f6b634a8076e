// Jobs whose nodes come and go (--nnodes 1:4), as torchrun's elastic agent has them. The attempts are rounds:
// each begins with a meeting of those that are there. The first of them that is still alive closes the
// meeting: at once if all come that were there before or wait, and otherwise some time after there are
// enough. A node that comes later says that it waits, and the others, who look for that, end their ranks and
// meet again. The keys of a round:
//   distrun/ID/attemptN/arrived   how many have come
//   .../memberK                   who was number K: "NAME SIZE ROLE"
//   .../closed                    "RESTARTS K K K": who takes part, in the order of their node numbers
//   .../waiting                   how many came too late
//   .../why                       why it ended, for those who are to agree: "joins" or "failure"
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

struct Member {
  std::string name, role;
  int size = 0;
};

Member parse_member(const std::string& text) {
  std::istringstream in(text);
  Member member;
  in >> member.name >> member.size >> std::ws;
  std::getline(in, member.role);
  return member;
}

}  // namespace

struct Nodes::Round {
  int restarts = 0;
  std::vector<int> arrivals;  // of those that take part
};

bool Board::is_joined(int attempt) const {
  return nodes < most && store->add(key(attempt, "waiting"), 0) > 0;
}

void Nodes::meet(const Options& options) {
  const Deadline deadline = after_s(options.join_timeout_s);
  if (name_.empty())
    take_name(options, deadline);
  else
    store_->compare_set(key("round"), dist::to_bytes(std::to_string(attempt_)),
                        dist::to_bytes(std::to_string(attempt_ + 1)));
  while (true) {
    attempt_ = static_cast<int>(store_->add(key("round"), 0));
    const int arrival = static_cast<int>(store_->add(board_.key(attempt_, "arrived"), 1)) - 1;
    store_->set(board_.key(attempt_, fmt::format("member{}", arrival)),
                fmt::format("{} {} {}", name_, options.nproc_per_node, options.role));
    const Round round = wait_for_round(options, arrival, deadline);
    restarts_ = round.restarts;
    const auto found = std::ranges::find(round.arrivals, arrival);
    if (found != round.arrivals.end()) {
      place_.node_rank = board_.node_rank = static_cast<int>(found - round.arrivals.begin());
      take_place(round);
      return agree_on_master(options, [this](const std::string& name) { return board_.key(attempt_, name); });
    }
    err_.say(fmt::format("job \"{}\" at {} is running; it starts again with this node", board_.run_id,
                         place_.store_address));
    wait_for_next_round();
  }
}

// Also agrees with the others on --nnodes.
void Nodes::take_name(const Options& options, Deadline deadline) {
  const auto first = meeting_.reach(deadline);
  const std::string wanted = fmt::format("{}:{}", options.least_nodes, options.nodes);
  const auto agreed = dist::to_string(first->compare_set(key("nnodes"), {}, dist::to_bytes(wanted)));
  if (agreed != wanted)
    fail(Errc::invalid_argument,
         "distrun: --nnodes is {} here, but {} on the node that started job \"{}\" at {}; give the same "
         "--nnodes "
         "on every node",
         wanted, agreed, board_.run_id, place_.store_address);
  name_ = std::to_string(first->add(key("names"), 1) - 1);
  store_ = meeting_.reach(deadline, {key("gone" + name_), fmt::format("{}:{}", host_name(), getpid())});
}

// The arrivals of a round whose nodes are still there.
std::vector<int> Nodes::present(int attempt) const {
  std::vector<int> there;
  const auto arrived = static_cast<int>(store_->add(board_.key(attempt, "arrived"), 0));
  for (int arrival = 0; arrival < arrived; ++arrival) {
    const std::string who = board_.key(attempt, fmt::format("member{}", arrival));
    if (!store_->check(std::span(&who, 1))) continue;  // it is about to write that
    const std::string gone = key("gone" + parse_member(store_->get_text(who, after_s(1))).name);
    if (!store_->check(std::span(&gone, 1))) there.push_back(arrival);
  }
  return there;
}

std::optional<Nodes::Round> Nodes::closed(int attempt) const {
  const std::string at = board_.key(attempt, "closed");
  if (!store_->check(std::span(&at, 1))) return std::nullopt;
  std::istringstream in(store_->get_text(at, after_s(1)));
  Round round;
  in >> round.restarts;
  for (int arrival; in >> arrival;) round.arrivals.push_back(arrival);
  return round;
}

// Whether there are enough. At the first meeting the others have a time to come; at later ones it is known
// who will: those that came to the one before, also too late, and are still alive.
bool Nodes::may_close(const Options& options, std::size_t here, Deadline& last_call) const {
  const auto least = static_cast<std::size_t>(options.least_nodes),
             most = static_cast<std::size_t>(options.nodes);
  if (attempt_ > 0) return here >= std::max(least, std::min(most, present(attempt_ - 1).size()));
  if (here < least) return last_call = Deadline::never(), false;
  if (last_call.is_never()) last_call = after_s(options.last_call_s);
  return here >= most || last_call.passed();
}

Nodes::Round Nodes::wait_for_round(const Options& options, int arrival, Deadline deadline) {
  Deadline last_call = Deadline::never(), silence = after_s(late_after_s);
  while (true) {
    if (auto round = closed(attempt_)) return *round;
    std::vector<int> here = present(attempt_);
    if (!here.empty() && here.front() == arrival && may_close(options, here.size(), last_call)) {
      here.resize(std::min(here.size(), static_cast<std::size_t>(options.nodes)));
      int restarts = 0;
      if (const auto before = attempt_ == 0 ? std::nullopt : closed(attempt_ - 1)) {
        const std::string why = board_.key(attempt_ - 1, "why");
        const bool joins = store_->check(std::span(&why, 1)) && store_->get_text(why, after_s(1)) == "joins";
        restarts = before->restarts + (joins ? 0 : 1);
      }
      store_->compare_set(board_.key(attempt_, "closed"), {},
                          dist::to_bytes(fmt::format("{} {}", restarts, fmt::join(here, " "))));
      continue;
    }
    if (deadline.passed())
      fail(Errc::timeout,
           "distrun: only {} of at least {} nodes arrived at {} within {} s; is distrun running on the "
           "others, "
           "with the same --nnodes, --rdzv-endpoint and --rdzv-id?",
           here.size(), options.least_nodes, place_.store_address, options.join_timeout_s);
    if (silence.passed()) {
      silence = Deadline::never();
      err_.say(fmt::format("arrived at {}: {} nodes of {} to {}; waiting up to {:g} s in all for the others",
                           place_.store_address, here.size(), options.least_nodes, options.nodes,
                           options.join_timeout_s));
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s_));
  }
}

void Nodes::take_place(const Round& round) {
  place_.nodes = board_.nodes = static_cast<int>(round.arrivals.size());
  place_.world_size = place_.first_rank = place_.role_size = place_.first_role_rank = 0;
  board_.members.clear();
  std::vector<Member> members;
  for (const int arrival : round.arrivals)
    members.push_back(parse_member(
        store_->get_text(board_.key(attempt_, fmt::format("member{}", arrival)), after_s(late_after_s))));
  const Member& me = members[static_cast<std::size_t>(place_.node_rank)];
  place_.local_size = me.size;
  for (const Member& member : members) {
    const bool is_before = static_cast<int>(board_.members.size()) < place_.node_rank;
    board_.members.push_back(member.name);
    place_.world_size += member.size;
    if (is_before) place_.first_rank += member.size;
    if (member.role != me.role) continue;
    place_.role_size += member.size;
    if (is_before) place_.first_role_rank += member.size;
  }
}

void Nodes::wait_for_next_round() {
  store_->add(board_.key(attempt_, "waiting"), 1);
  const std::string over = key("over");
  while (store_->add(key("round"), 0) == attempt_) {
    if (store_->check(std::span(&over, 1)))
      fail(Errc::invalid_argument,
           "distrun: job \"{}\" at {} has ended; for another job choose another --rdzv-id and endpoint",
           board_.run_id, place_.store_address);
    std::this_thread::sleep_for(std::chrono::duration<double>(interval_s_));
  }
}

bool Nodes::agrees_to_join(int attempt, const std::string& elsewhere) {
  if (name_.empty()) return false;
  try {
    const std::string mine = elsewhere == a_node_joins ? "joins" : "failure";
    return dist::to_string(store_->compare_set(board_.key(attempt, "why"), {}, dist::to_bytes(mine))) ==
           "joins";
  } catch (const dist::Error&) {
    return false;  // the store is lost: there is no other attempt
  }
}

void Nodes::wait_until_all_are_gone() {
  store_->set(key("over"), "1");
  const auto names = store_->add(key("names"), 0);
  for (std::int64_t name = 0; name < names; ++name)
    if (std::to_string(name) != name_) store_->get(key(fmt::format("gone{}", name)), after_s(30));
}

}  // namespace distrun
