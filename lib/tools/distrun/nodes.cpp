#include "nodes.h"

#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "dist/core/fail.h"
#include "dist/group/rendezvous.h"

#include "machine.h"

namespace distrun {
namespace {

using dist::Deadline;
using dist::Errc;
using dist::fail;

Deadline after_s(double seconds) {
  return Deadline::after(std::chrono::duration_cast<dist::Timeout>(std::chrono::duration<double>(seconds)));
}

// All nodes must know it before they can speak. For one node nobody else needs to; for several it is made
// from the job's name unless DIST_JOB_TOKEN is set on all nodes.
std::string job_token(const Options& options) {
  const char* given = std::getenv("DIST_JOB_TOKEN");
  if (options.nodes == 1) return random_token();
  return given != nullptr ? given : "distrun:" + options.run_id;
}

}  // namespace

Nodes::Nodes(const Options& options) : run_id_(options.run_id), interval_s_(options.monitor_interval_s) {
  const bool alone = options.nodes == 1;
  place_.nodes = options.nodes;
  place_.token = job_token(options);
  place_.store_address =
      alone ? "tcp://127.0.0.1:0" : fmt::format("tcp://{}:{}", options.endpoint_host, options.endpoint_port);
  if (alone || options.node_rank == 0) {
    server_ = std::make_unique<dist::StoreServer>(place_.store_address, place_.token);
    if (alone) place_.store_address = server_->address();
  }
}

// The port may be another distrun's of this machine, which then keeps the store; or a connection's that
// happened to get this number and ends soon: we try both in turn.
std::shared_ptr<dist::Store> Nodes::reach_store(const Options& options, Deadline deadline) {
  const bool may_host =
      options.node_rank < 0 && options.hosts_endpoint.value_or(is_this_machine(options.endpoint_host));
  constexpr dist::Timeout turn = std::chrono::seconds(1);
  for (;;) {
    try {
      if (may_host && !server_)
        server_ = std::make_unique<dist::StoreServer>(place_.store_address, place_.token);
    } catch (const dist::Error& error) {
      if (error.code() != Errc::resource) throw;
    }
    const bool has_another_way = may_host && !server_;
    const Deadline patience = has_another_way ? Deadline::sooner(deadline, Deadline::after(turn)) : deadline;
    try {
      return dist::make_tcp_store(place_.store_address, place_.token, patience);
    } catch (const dist::Error&) {
      const bool was_refused = !patience.passed();
      if (!has_another_way || was_refused || deadline.passed()) throw;
    }
  }
}

void Nodes::join(const Options& options) {
  take_number(options);
  agree_on_ranks(options);
  agree_on_master(options);
}

std::string Nodes::key(const std::string& name) const { return fmt::format("distrun/{}/{}", run_id_, name); }
std::string Nodes::key(int attempt, const std::string& name) const {
  return fmt::format("distrun/{}/attempt{}/{}", run_id_, attempt, name);
}

void Nodes::take_number(const Options& options) {
  const Deadline deadline = after_s(options.join_timeout_s);
  auto first = reach_store(options, deadline);
  const auto wanted = std::to_string(options.nodes);
  const auto agreed = dist::to_string(first->compare_set(key("nnodes"), {}, dist::to_bytes(wanted)));
  if (agreed != wanted) {
    fail(Errc::invalid_argument,
         "distrun: --nnodes is {} here, and {} where job \"{}\" at {} was begun; it must be the same on "
         "every node",
         wanted, agreed, run_id_, place_.store_address);
  }
  const auto arrival = static_cast<int>(first->add(key("nodes"), 1)) - 1;
  if (arrival >= options.nodes) {
    fail(Errc::invalid_argument,
         "distrun: job \"{}\" at {} has its {} nodes already; another job needs another --rdzv-id and "
         "endpoint",
         run_id_, place_.store_address, options.nodes);
  }
  place_.node_rank = options.node_rank < 0 ? arrival : options.node_rank;
  const std::string me = fmt::format("{}:{}", host_name(), getpid());
  const auto holder = dist::to_string(
      first->compare_set(key(fmt::format("node{}", place_.node_rank)), {}, dist::to_bytes(me)));
  if (holder != me) {
    fail(Errc::invalid_argument,
         "distrun: node {} is taken by {}; give each node another --node-rank, or none at all",
         place_.node_rank, holder);
  }
  store_ = dist::make_tcp_store(place_.store_address, place_.token, deadline,
                                {key(fmt::format("gone{}", place_.node_rank)), me});
}

void Nodes::agree_on_ranks(const Options& options) {
  const Deadline deadline = after_s(options.join_timeout_s);
  store_->set(key(fmt::format("size{}", place_.node_rank)), std::to_string(options.nproc_per_node));
  std::vector<std::string> sizes;
  for (int node = 0; node < place_.nodes; ++node) sizes.push_back(key(fmt::format("size{}", node)));
  try {
    store_->wait(sizes, deadline);
  } catch (const dist::Error& error) {
    if (error.code() != Errc::timeout) throw;
    fail(Errc::timeout,
         "distrun: only {} of {} nodes came to {} in {} s; is distrun running on the others, with the same "
         "--nnodes, --rdzv-endpoint and --rdzv-id?",
         store_->add(key("nodes"), 0), place_.nodes, place_.store_address, options.join_timeout_s);
  }
  place_.local_size = options.nproc_per_node;
  place_.world_size = place_.first_rank = 0;
  for (int node = 0; node < place_.nodes; ++node) {
    const int size = std::stoi(store_->get_text(sizes[static_cast<std::size_t>(node)], deadline));
    if (node < place_.node_rank) place_.first_rank += size;
    place_.world_size += size;
  }
}

// Node 0 says where rank 0 may listen.
void Nodes::agree_on_master(const Options& options) {
  const bool alone = place_.nodes == 1;
  if (place_.node_rank == 0) {
    std::string address = !options.master_addr.empty()  ? options.master_addr
                          : !options.local_addr.empty() ? options.local_addr
                          : alone                       ? "127.0.0.1"
                          : server_ != nullptr          ? options.endpoint_host
                                                        : host_name();
    const bool port_is_ours = !alone && options.master_port == options.endpoint_port;  // the store is there
    const int port = options.master_port != 0 && !port_is_ours ? options.master_port : free_port();
    store_->set(key("master_addr"), address);
    store_->set(key("master_port"), std::to_string(port));
  }
  const Deadline deadline = after_s(options.join_timeout_s);
  place_.master_addr = store_->get_text(key("master_addr"), deadline);
  place_.master_port = std::stoi(store_->get_text(key("master_port"), deadline));
}

void Nodes::report_end(int attempt, int rank) { dist::note_end(store_, attempt, rank, place_.world_size); }

void Nodes::report_failure(int attempt, int rank, const std::string& what) {
  const std::string text = fmt::format("rank {}: {}", rank, what);
  dist::cancel_rendezvous(store_, attempt, text);
  tell(attempt, text);
}

void Nodes::report_stop(int attempt, const std::string& why) { tell(attempt, why); }

void Nodes::tell(int attempt, const std::string& what) {
  if (place_.nodes == 1) return;
  try {
    const std::string text = fmt::format("node {}: {}", place_.node_rank, what);
    store_->compare_set(key(attempt, "failure"), {}, dist::to_bytes(text));
  } catch (const dist::Error&) {
    // the store is gone, and with it the node that kept it: every node notices by itself
  }
}

std::optional<std::string> Nodes::lost_node() {
  for (int node = 0; node < place_.nodes; ++node) {
    const std::string gone = key(fmt::format("gone{}", node));
    if (node != place_.node_rank && store_->check(std::span(&gone, 1))) {
      return fmt::format("node {} is lost: its distrun has ended", node);
    }
  }
  return std::nullopt;
}

std::optional<std::string> Nodes::failure_elsewhere(int attempt) {
  if (place_.nodes == 1) return std::nullopt;
  try {
    const std::string failure = key(attempt, "failure");
    if (!store_->check(std::span(&failure, 1))) return lost_node();
    const std::string what = store_->get_text(failure, after_s(1));
    if (what.starts_with(fmt::format("node {}:", place_.node_rank)))
      return std::nullopt;  // our own came first
    return what;
  } catch (const dist::Error& error) {
    return fmt::format("the node that keeps the store is lost ({})", error.what());
  }
}

bool Nodes::all_have(int attempt, const std::string& mark) {
  std::vector<std::string> marks;
  for (int node = 0; node < place_.nodes; ++node)
    marks.push_back(key(attempt, fmt::format("{}{}", mark, node)));
  return store_->check(marks);
}

bool Nodes::finish(int attempt) {
  if (place_.nodes == 1) return true;
  try {
    store_->set(key(attempt, fmt::format("done{}", place_.node_rank)), "1");
    while (!all_have(attempt, "done")) {
      if (failure_elsewhere(attempt)) return all_have(attempt, "done");
      std::this_thread::sleep_for(std::chrono::duration<double>(interval_s_));
    }
    return true;
  } catch (const dist::Error&) {
    return false;
  }
}

bool Nodes::regroup(int attempt) {
  if (place_.nodes == 1) return true;
  try {
    store_->set(key(attempt, fmt::format("ended{}", place_.node_rank)), "1");
    while (!all_have(attempt, "ended")) {
      if (lost_node()) return false;
      std::this_thread::sleep_for(std::chrono::duration<double>(interval_s_));
    }
    return true;
  } catch (const dist::Error&) {
    return false;
  }
}

Nodes::~Nodes() {
  if (place_.nodes == 1 || server_ == nullptr || store_ == nullptr) return;
  try {
    for (int node = 0; node < place_.nodes; ++node) {
      const std::string came = key(fmt::format("node{}", node));
      if (node == place_.node_rank || !store_->check(std::span(&came, 1))) continue;
      store_->get(key(fmt::format("gone{}", node)), after_s(30));
    }
  } catch (const dist::Error&) {
    // a node that does not leave: nothing more to keep the store for
  }
}

}  // namespace distrun
