// The mesh as a whole. connect() publishes this rank's address, waits for those of the others (mesh_store.h),
// and connects (meet(), in mesh_connect.cpp, with mesh_dial.cpp) until every rank is linked. give_up() brings
// a failure to all ranks.
#include "dist/transport/mesh/mesh.h"

#include <algorithm>

#include <sys/resource.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/log.h"
#include "dist/core/memory/arena.h"
#include "dist/store/host_id.h"
#include "dist/store/socket.h"
#include "dist/transport/link/self_link.h"

namespace dist::net {
namespace {

// Each peer needs a socket and a doorbell, and more while connecting; programs often start with a limit of
// 1024. A peer on another host needs a socket only, and which peers those are is not known yet: so one per
// peer is the minimum.
void reserve_descriptors(int world_size) {
  raise_soft_limit(RLIMIT_NOFILE, static_cast<std::uint64_t>(world_size) * 4 + 64);
  constexpr std::size_t own = 4;  // listener, shared segment, doorbell, epoll
  if (world_size > 1)
    expect_descriptors(own + static_cast<std::size_t>(world_size), fmt::format("a rank of {}", world_size));
}

// The address of this process's arena.
std::uint64_t arena_base() {
  void* probe = Arena::local().allocate(1);
  const auto base = reinterpret_cast<std::uint64_t>(probe) - *Arena::local().offset_of(probe, 1);
  Arena::local().deallocate(probe);
  return base;
}

std::string join(const std::vector<int>& ranks) { return fmt::format("{}", fmt::join(ranks, ", ")); }

}  // namespace

Mesh::Mesh(Store& store, const EndpointOptions& options)
    : options_(options),
      store_(store, options_),
      linked_(static_cast<std::size_t>(std::max(options.world_size, 0))) {
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size)
    fail(Errc::invalid_argument, "rank {} of a world of {}: ranks go from 0 to world size - 1", options.rank,
         counted(options.world_size, "rank"));
  if (options.transport != "auto" && options.transport != "shm" && options.transport != "tcp")
    fail(Errc::invalid_argument, "transport '{}' (DIST_TRANSPORT): choose auto, shm, tcp or plain",
         options.transport);
  if (options.token.size() > longest_token)
    fail(Errc::invalid_argument, "the job's token has {} bytes, {} are allowed", options.token.size(),
         longest_token);
}

std::shared_ptr<Engine> Mesh::connect() try {
  reserve_descriptors(options_.world_size);
  mine_ = describe_process();
  mine_.rank = options_.rank;
  mine_.world_size = options_.world_size;
  mine_.host = options_.host.empty() ? host_id() : options_.host;
  mine_.shared_segment = random_number();
  if (options_.world_size > 1) listen();
  store_.publish(mine_);
  roster_ = Roster(mine_, store_.collect(), options_.transport);
  prepare();
  meet();
  shared_segment_->close_memory_fd();
  return engine_;
} catch (const Error& error) {
  if (error.code() != Errc::resource) {
    give_up(error.what());
    throw;
  }
  const std::string text =
      fmt::format("rank {} cannot connect to the other ranks: {}", options_.rank, error.what());
  give_up(text);
  fail(Errc::resource, "{}", text);
}

void Mesh::listen() {
  if (options_.transport != "tcp") {
    Arena::expect_ranks(options_.world_size);
    arena_base_ = arena_base();  // first: without room for an arena, no rank is to wait for this one
    const SocketAddress local{.host = {}, .port = 0, .name = fmt::format("distlab-{:016x}", random_number())};
    local_listener_ = listen_at(local);
    mine_.local_address = local.str();
  }
  if (options_.transport != "shm") {
    tcp_listener_ = listen_at({.host = listening_host(store_.where()), .port = 0, .name = {}});
    mine_.addresses = reachable_addresses(store_.where(), local_port(tcp_listener_.get()));
  }
}

void Mesh::prepare() {
  const auto local =
      std::ranges::count_if(roster_.all(), [this](const RankAddress& c) { return roster_.is_local(c); });
  const auto threads = std::ranges::count_if(
      roster_.all(), [this](const RankAddress& c) { return roster_.way_to(c) == LinkKind::thread; });
  unlinked_threads_ = static_cast<int>(threads);
  shared_segment_ =
      std::make_shared<SharedSegment>(static_cast<int>(local), affordable_areas(static_cast<int>(local)));
  engine_ = std::make_shared<Engine>(
      Engine::Config{mine_.rank, mine_.world_size, shared_segment_, roster_.spin_time(), roster_.nodes()});
  link(mine_.rank, std::make_unique<SelfLink>(mine_.rank, engine_->events(), shared_segment_));
  SharedSegmentExchange::publish(mine_.shared_segment, shared_segment_, static_cast<int>(threads));
}

std::vector<int> Mesh::missing() const {
  std::vector<int> ranks;
  for (int rank = 0; rank < options_.world_size; ++rank)
    if (!is_linked(rank)) ranks.push_back(rank);
  return ranks;
}

void Mesh::link(int peer, std::unique_ptr<Link> link) {
  log(LogLevel::debug, "rank {} reaches rank {} by {}", mine_.rank, peer, link->kind());
  engine_->add_link(std::move(link));
  linked_[static_cast<std::size_t>(peer)] = true;
  processes_.erase(peer);
}

// The other ranks may wait for this one, or find its connection closed: they must learn why.
void Mesh::give_up(const std::string& reason) noexcept {
  try {
    if (engine_) engine_->leave(reason);
    SharedSegmentExchange::renounce(mine_.shared_segment);
    store_.give_up(reason);
  } catch (const std::exception& error) {
    log(LogLevel::debug, "the reason could not be left in the store: {}", error.what());
  }
}

void Mesh::check_peers() {
  const std::string seen = engine_->failed_peer();
  if (!seen.empty()) store_.fail_by_reason_or(seen + " while the ranks were connecting");
}

// Ends the wait when a rank that is needed is gone.
void Mesh::check_health() {
  check_peers();
  const auto now = Clock::now();
  if (now >= next_check_) {
    next_check_ = now + check_interval;
    store_.check_reasons();
  }
  if (!options_.deadline.passed()) return;
  fail(Errc::timeout,
       "rank {} could not connect to rank{} {} in time{}; is the network between the hosts open, and are "
       "they still running?",
       mine_.rank, missing().size() == 1 ? "" : "s", join(missing()), describe_calls());
}

}  // namespace dist::net
