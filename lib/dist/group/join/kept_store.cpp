// Rank 0 keeps the store (keep_store), or finds that another process does as the same rank (join_rival); the
// others connect to it (join_kept_store).
#include "dist/group/join/kept_store.h"

#include <algorithm>
#include <thread>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/store/address_problems.h"
#include "dist/store/socket.h"

namespace dist {
namespace {

using namespace std::chrono_literals;
constexpr const char* generation_key = "generation";  // which joining a store kept by rank 0 serves
constexpr Timeout pause_between_looks = 20ms;

// Another process keeps a store here as rank 0 of this very job: two processes were started as rank 0.
// Joining its store lets both of them be notified; a port that another program uses is simply taken.
OpenedStore join_rival(const RendezvousPlan& plan, const Error& taken, Deadline deadline) {
  const std::string first[]{join_key(0)};
  try {
    const Deadline soon = Deadline::sooner(deadline, Deadline::after(1s));
    auto store = make_tcp_store(plan.launch.store_address, plan.launch.token, soon);
    const int generation = std::stoi(store->get_text(generation_key, soon));
    if (meeting_place(store, plan.launch.restart_count, generation)->check(first))
      return {nullptr, store, generation};
  } catch (const std::exception&) {
    // It is not a store of this job.
  }
  throw taken;
}

// The others look for the store where the address leads; so rank 0 does, too. That may be this machine by
// another name (a forwarded port), or another machine, where no store is.
std::shared_ptr<Store> reach_own_store(const SocketAddress& asked, const std::string& token,
                                       Deadline deadline) {
  const std::string problem = foreign_address_problem(asked);
  if (problem.empty()) return make_tcp_store(asked.str(), token, deadline);
  log(LogLevel::warn,
      "store {}: rank 0 keeps the store here, but {}; unless that address leads here, set MASTER_ADDR "
      "(or init_method) to an address of this machine on all ranks",
      asked.str(), problem);
  try {
    return make_tcp_store(asked.str(), token, deadline);
  } catch (const Error& error) {
    fail(error.code(), "{}; rank 0 keeps the store, and {}", error.what(), problem);
  }
}

}  // namespace

OpenedStore keep_store(const RendezvousPlan& plan, int generation, Deadline deadline) {
  OpenedStore opened;
  try {
    opened.server = std::make_unique<StoreServer>(plan.launch.store_address, plan.launch.token);
  } catch (const Error& error) {
    if (error.code() != Errc::resource) throw;
    return join_rival(plan, error, deadline);
  }
  SocketAddress asked = parse_address(plan.launch.store_address);  // 0.0.0.0 is more than the loopback device
  asked.port = opened.server->port();
  opened.store = reach_own_store(asked, plan.launch.token, deadline);
  opened.store->set(generation_key, std::to_string(generation));
  opened.generation = generation;
  return opened;
}

// A store of an earlier generation is one that rank 0 is about to close: this rank came back earlier than
// rank 0 did. One of a later generation shows that the others tried without this rank.
OpenedStore join_kept_store(const RendezvousPlan& plan, int generation, Deadline deadline) {
  const auto& launch = plan.launch;
  const LastWill will{gone_key(launch.rank), "lost"};
  for (;; std::this_thread::sleep_for(std::min(pause_between_looks, deadline.left()))) {
    auto store = make_tcp_store(launch.store_address, launch.token, deadline, will);
    int served = -1;
    try {
      served = std::stoi(store->get_text(generation_key, deadline));
    } catch (const Error& error) {
      if (error.code() != Errc::connection) throw;  // it closed in the meantime
    }
    if (served >= generation) return {nullptr, store, served};
    if (deadline.passed()) {
      fail(Errc::timeout,
           "store {}: rank 0 still keeps the one of its joining number {}, this rank joins for the {}th "
           "time; did "
           "rank 0 call destroy_process_group and init_process_group as often?",
           launch.store_address, served, generation);
    }
  }
}

}  // namespace dist
