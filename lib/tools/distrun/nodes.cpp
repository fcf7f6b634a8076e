#include "nodes.h"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/group/join/rendezvous.h"

#include "machine.h"

namespace distrun {
namespace {

using dist::Deadline;
using dist::Errc;
using dist::fail;

}  // namespace

Nodes::Nodes(const Options& options, Outlet& err)
    : err_(err), meeting_(options, err), interval_s_(options.monitor_interval_s) {
  place_.nodes = board_.nodes = board_.most = options.nodes;
  for (int node = 0; node < options.nodes; ++node) board_.members.push_back(std::to_string(node));
  board_.run_id = options.run_id;
  place_.token = meeting_.token();
  place_.store_address = meeting_.address();
}

bool Nodes::join(const Options& options) {
  if (options.is_elastic()) return meet(options);
  take_number(options);
  agree_on_ranks(options);
  if (const auto lost = agree_on_master(options, [this](const std::string& name) { return key(name); }))
    fail(Errc::connection, "distrun: {}", *lost);
  return true;
}

void Nodes::take_number(const Options& options) {
  const Deadline deadline = after_s(options.join_timeout_s);
  auto first = meeting_.reach(deadline);
  const auto wanted = std::to_string(options.nodes);
  const auto agreed = dist::to_string(first->compare_set(key("nnodes"), {}, dist::to_bytes(wanted)));
  if (agreed != wanted) {
    fail(Errc::invalid_argument,
         "distrun: --nnodes is {} here, but {} on the node that started job \"{}\" at {}; give the same "
         "--nnodes on every node",
         wanted, agreed, board_.run_id, place_.store_address);
  }
  const auto arrival = static_cast<int>(first->add(key("nodes"), 1)) - 1;
  if (arrival >= options.nodes) {
    fail(
        Errc::invalid_argument,
        "distrun: job \"{}\" at {} already has its {}; for another job choose another --rdzv-id and endpoint",
        board_.run_id, place_.store_address, dist::counted(options.nodes, "node"));
  }
  place_.node_rank = board_.node_rank = options.node_rank < 0 ? arrival : options.node_rank;
  const std::string me = fmt::format("{}:{}", host_name(), getpid());
  const auto holder = dist::to_string(
      first->compare_set(key(fmt::format("node{}", place_.node_rank)), {}, dist::to_bytes(me)));
  if (holder != me) {
    fail(Errc::invalid_argument,
         "distrun: {1} is node {0} already; give each node a different --node-rank, or leave the flag out",
         place_.node_rank, holder);
  }
  store_ = meeting_.reach(deadline, {key(fmt::format("gone{}", place_.node_rank)), me});
}

void Nodes::wait_for_all(const Options& options, const std::vector<std::string>& sizes, Deadline deadline) {
  const auto arrived = [&] { return store_->add(key("nodes"), 0); };
  const Deadline silence = Deadline::sooner(deadline, after_s(late_after_s));
  for (const Deadline patience : {silence, deadline}) {
    try {
      return store_->wait(sizes, patience);
    } catch (const dist::Error& error) {
      if (error.code() != Errc::timeout) throw;
    }
    if (deadline.passed()) break;
    err_.say(fmt::format("arrived at {}: {} of {} nodes; waiting up to {:g} s in all for the others",
                         place_.store_address, arrived(), place_.nodes, options.join_timeout_s));
  }
  fail(Errc::timeout,
       "distrun: only {} of {} nodes arrived at {} within {} s; is distrun running on the others, with the "
       "same --nnodes, --rdzv-endpoint and --rdzv-id?",
       arrived(), place_.nodes, place_.store_address, options.join_timeout_s);
}

void Nodes::agree_on_ranks(const Options& options) {
  const Deadline deadline = after_s(options.join_timeout_s);
  const auto role_key = [&](int node) { return key(fmt::format("role{}", node)); };
  store_->set(role_key(place_.node_rank), options.role);  // before the size, for which the others wait
  store_->set(key(fmt::format("size{}", place_.node_rank)), std::to_string(options.nproc_per_node));
  std::vector<std::string> sizes;
  for (int node = 0; node < place_.nodes; ++node) sizes.push_back(key(fmt::format("size{}", node)));
  wait_for_all(options, sizes, deadline);
  place_.local_size = options.nproc_per_node;
  place_.world_size = place_.first_rank = place_.role_size = place_.first_role_rank = 0;
  for (int node = 0; node < place_.nodes; ++node) {
    const int size = std::stoi(store_->get_text(sizes[static_cast<std::size_t>(node)], deadline));
    if (node < place_.node_rank) place_.first_rank += size;
    place_.world_size += size;
    if (store_->get_text(role_key(node), deadline) != options.role) continue;
    if (node < place_.node_rank) place_.first_role_rank += size;
    place_.role_size += size;
  }
}

// Node 0 decides where rank 0 may listen.
std::optional<std::string> Nodes::agree_on_master(
    const Options& options, const std::function<std::string(const std::string&)>& key_of) {
  const bool alone = place_.nodes == 1;
  if (place_.node_rank == 0) {
    std::string address = !options.master_addr.empty()                    ? options.master_addr
                          : !options.local_addr.empty()                   ? options.local_addr
                          : alone                                         ? "127.0.0.1"
                          : meeting_.is_kept_here() || meeting_.is_here() ? bare_host(options.endpoint_host)
                                                                          : host_name();
    const bool port_is_ours =
        options.nodes > 1 && options.master_port == options.endpoint_port;  // the store listens there
    const int port = options.master_port != 0 && !port_is_ours ? options.master_port : free_port();
    store_->set(key_of("master_addr"), address);
    store_->set(key_of("master_port"), std::to_string(port));
  }
  const Deadline deadline = after_s(options.join_timeout_s);
  while (!board_.has(key_of("master_port"))) {
    if (auto lost = board_.lost_node()) return lost;
    if (deadline.passed())
      fail(Errc::timeout, "distrun: node 0 did not say within {} s where rank 0 listens",
           options.join_timeout_s);
    pause();
  }
  place_.master_addr = store_->get_text(key_of("master_addr"), deadline);
  place_.master_port = std::stoi(store_->get_text(key_of("master_port"), deadline));
  return std::nullopt;
}

void Nodes::pause() const { std::this_thread::sleep_for(std::chrono::duration<double>(interval_s_)); }

void Nodes::report_end(int attempt, int rank) {
  background_.post([store = store_, size = place_.world_size, attempt, rank] {
    dist::note_end(store, attempt, rank, size);
  });
}

void Nodes::report_failure(int attempt, const dist::RankFailure& failure) {
  background_.post([board = board_, attempt, failure] {
    const std::string text = fmt::format("rank {}: {}", failure.rank, failure.what);
    try {
      if (board.most > 1) board.decide(attempt, End::failed);
      dist::cancel_rendezvous(board.store, attempt, text);
      if (board.nodes == 1) return;
      publish(*board.store, board.key(attempt, "failures"), {board.node_rank, failure});
    } catch (const dist::Error&) {
      // see tell()
    }
    board.tell(attempt, text);
  });
}

std::vector<NodeFailure> Nodes::failures(int attempt) {
  if (place_.nodes == 1) return {};
  const auto found = std::make_shared<std::vector<NodeFailure>>();
  background_.post([board = board_, attempt, found] {
    try {
      *found = published(*board.store, board.key(attempt, "failures"));
    } catch (const dist::Error&) {
      // none are known
    }
  });
  return background_.is_done_by(after_s(4)) ? *found : std::vector<NodeFailure>();
}

std::string Nodes::lost_node() {
  const auto found = std::make_shared<std::string>();
  background_.post([board = board_, found] {
    try {
      if (board.nodes > 1) *found = board.lost_node().value_or("");
    } catch (const dist::Error&) {
      // the store is lost
    }
  });
  return background_.is_done_by(after_s(2)) ? *found : "";
}

void Nodes::report_stop(int attempt, const std::string& why) {
  background_.post([board = board_, attempt, why] { board.tell(attempt, why); });
  background_.is_done_by(after_s(2));
}

std::optional<std::string> Nodes::finish(int attempt) {
  if (board_.most == 1) return std::nullopt;
  try {
    store_->set(board_.key(attempt, fmt::format("done{}", place_.node_rank)), "1");
    const auto is_finished = [&] {  // one node alone has ended well, even if another one has just come
      return board_.nodes == 1 || board_.decide(attempt, End::finished) == End::finished;
    };
    while (!board_.all_have(attempt, "done") || !is_finished()) {
      if (auto why = board_.failure_elsewhere(attempt)) return why;
      pause();
    }
    store_->compare_set(key("over"), {}, dist::to_bytes(has_finished));
    return std::nullopt;
  } catch (const dist::Error& error) {
    return fmt::format("the node that hosts the store is lost ({})", error.what());
  }
}

bool Nodes::regroup(const Options& options, int attempt) {
  if (options.is_elastic()) {
    try {
      return meet(options);
    } catch (const dist::Error& error) {
      err_.say(fmt::format("{}; the ranks are not restarted", error.what()));
      return false;
    }
  }
  attempt_ = ++restarts_;
  if (place_.nodes == 1) return true;
  try {
    background_.is_done_by(dist::Deadline::never());  // what failed is reported before anything is restarted
    store_->set(board_.key(attempt, fmt::format("ended{}", place_.node_rank)), "1");
    while (!board_.all_have(attempt, "ended")) {
      if (const auto lost = board_.lost_node()) {
        err_.say(fmt::format("{}; the ranks are not restarted", *lost));
        return false;
      }
      pause();
    }
    return true;
  } catch (const dist::Error&) {
    err_.say("another node is lost; the ranks are not restarted");
    return false;
  }
}

Nodes::~Nodes() {
  background_.is_done_by(after_s(1));
  if (board_.most == 1 || !meeting_.is_kept_here() || store_ == nullptr) return;
  try {
    if (!name_.empty()) wait_until_all_are_gone();
    for (int node = 0; name_.empty() && node < place_.nodes; ++node) {
      const std::string came = key(fmt::format("node{}", node));
      if (node == place_.node_rank || !store_->check(std::span(&came, 1))) continue;
      store_->get(key(fmt::format("gone{}", node)), after_s(30));
    }
  } catch (const dist::Error&) {
    // a node has not left in time; the store need not wait any longer
  }
}

}  // namespace distrun
