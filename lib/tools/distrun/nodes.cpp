#include "nodes.h"

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/group/join/rendezvous.h"

#include "machine.h"

namespace distrun {
namespace {

using dist::Deadline;
using dist::Errc;
using dist::fail;

constexpr double goodbye_s = 30;  // the host of the store waits no longer for the other nodes

}  // namespace

Nodes::Nodes(const Options& options, Outlet& err)
    : err_(err), meeting_(options, err), interval_s_(options.monitor_interval_s) {
  place_.nodes = board_.nodes = board_.most = options.nodes;
  if (!options.is_elastic()) number_ = options.node_rank;
  board_.run_id = options.run_id;
  place_.token = meeting_.token();
  place_.store_address = meeting_.address();
}

bool Nodes::join(const Options& options) {
  take_name(options);
  return meet(options);
}

// Also agrees with the others on --nnodes.
void Nodes::take_name(const Options& options) {
  const Deadline deadline = after_s(options.join_timeout_s);
  const auto first = meeting_.reach(deadline);
  const auto agree = [&](const std::string& name, const std::string& mine) {
    return dist::to_string(first->compare_set(key(name), {}, dist::to_bytes(mine)));
  };
  const std::string wanted = options.is_elastic() ? fmt::format("{}:{}", options.least_nodes, options.nodes)
                                                  : std::to_string(options.nodes);
  const std::string agreed = agree("nnodes", wanted);
  if (agreed != wanted)
    fail(Errc::invalid_argument,
         "distrun: --nnodes is {} here, but {} on the node that started job \"{}\" at {}; give the same "
         "--nnodes on every node",
         wanted, agreed, board_.run_id, place_.store_address);
  const std::string me = fmt::format("{}:{}", host_name(), getpid());
  const std::string holder = number_ < 0 ? me : agree(fmt::format("node{}", number_), me);
  if (holder != me)
    fail(Errc::invalid_argument,
         "distrun: {1} is node {0} already; give each node a different --node-rank, or leave the flag out",
         number_, holder);
  name_ = std::to_string(first->add(key("names"), 1) - 1);
  store_ = meeting_.reach(deadline, {key("gone" + name_), me});
}

// Node 0 decides where rank 0 may listen.
bool Nodes::agree_on_master(const Options& options) {
  const std::string address_key = board_.key(attempt_, "master_addr"),
                    port_key = board_.key(attempt_, "master_port");
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
    store_->set(address_key, address);
    store_->set(port_key, std::to_string(port));
  }
  const Deadline deadline = after_s(options.join_timeout_s);
  while (!board_.has(port_key)) {
    if (board_.lost_node()) return false;
    if (deadline.passed())
      fail(Errc::timeout, "distrun: node 0 did not say within {} s where rank 0 listens",
           options.join_timeout_s);
    wait_for(port_key);
  }
  place_.master_addr = store_->get_text(address_key, deadline);
  place_.master_port = std::stoi(store_->get_text(port_key, deadline));
  return true;
}

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
      if (board.nodes > 1) *found = board.lost_node(false).value_or("");
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
    const auto is_finished = [&] {  // one node alone has succeeded, even if another one has just come
      return board_.nodes == 1 || board_.decide(attempt, End::finished) == End::finished;
    };
    while (!board_.all_have(attempt, "done") || !is_finished()) {
      if (auto why = board_.failure_elsewhere(attempt)) return why;
      std::this_thread::sleep_for(std::chrono::duration<double>(interval_s_));
    }
    store_->compare_set(key("over"), {}, dist::to_bytes(has_finished));
    return std::nullopt;
  } catch (const dist::Error& error) {
    if (board_.nodes == 1) return std::nullopt;  // it was the only one that had to end
    return fmt::format("{} ({})", store_is_lost, error.what());
  }
}

bool Nodes::agrees_to_join(int attempt) {
  try {
    return board_.decide(attempt, End::failed) == End::joins;
  } catch (const dist::Error&) {
    return false;  // the store is lost: there is no other attempt
  }
}

bool Nodes::regroup(const Options& options) {
  try {
    background_.is_done_by(Deadline::never());  // what failed is reported before anything is restarted
    if (!options.is_elastic()) number_ = place_.node_rank;
    end_round();
    return meet(options);
  } catch (const dist::Error& error) {
    const std::string_view what = error.what(), us = "distrun: ";
    err_.say(
        fmt::format("{}; the ranks are not restarted", what.substr(what.starts_with(us) ? us.size() : 0)));
    return false;
  }
}

void Nodes::leave() {
  background_.post([store = store_, gone = key("gone" + name_)] {
    try {
      store->set(gone, has_left);
    } catch (const dist::Error&) {
      // the store is lost
    }
  });
}

Nodes::~Nodes() {
  background_.is_done_by(after_s(1));
  if (board_.most == 1 || !meeting_.is_kept_here() || store_ == nullptr) return;
  try {
    store_->compare_set(key("over"), {}, dist::to_bytes("its host leaves"));
    const Deadline deadline = after_s(goodbye_s);
    const auto names = store_->add(key("names"), 0);
    for (std::int64_t name = 0; name < names; ++name)
      if (std::to_string(name) != name_) store_->get(key(fmt::format("gone{}", name)), deadline);
  } catch (const dist::Error&) {
    // a node has not left in time; the store need not wait any longer
  }
}

}  // namespace distrun
