// The mesh as a whole. connect() publishes this rank's address, waits for those of the others (collect),
// decides how to reach each rank (way_to), and connects (meet(), in mesh_connect.cpp, with mesh_dial.cpp)
// until every rank is linked. give_up() and fail_by_reason_or() bring a failure to all ranks.
#include "dist/transport/mesh/mesh.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>
#include <sstream>

#include <sys/resource.h>

#include "dist/core/fail.h"
#include "dist/core/limits.h"
#include "dist/core/log.h"
#include "dist/core/memory/arena.h"
#include "dist/store/host_id.h"
#include "dist/store/socket.h"
#include "dist/transport/link/self_link.h"

namespace dist::net {
namespace {

constexpr std::string_view failed_key = "endpoint/failed";
constexpr std::string_view world_key = "endpoint/world_size";

std::string card_key(int rank) { return fmt::format("endpoint/{}", rank); }

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
    : store_(store), options_(options), linked_(static_cast<std::size_t>(std::max(options.world_size, 0))) {
  if (options.world_size < 1 || options.rank < 0 || options.rank >= options.world_size)
    fail(Errc::invalid_argument, "rank {} of a world of {} ranks: ranks go from 0 to world size - 1",
         options.rank, options.world_size);
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
  publish();
  collect();
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

void Mesh::publish() {
  // The first rank to come says how large the world is; a rank that was started with another size finds out
  // at once.
  const Bytes said =
      store_.compare_set(world_key, {}, to_bytes(fmt::format("{} {}", mine_.world_size, mine_.rank)));
  int world_size = 0, rank = 0;
  std::istringstream(to_string(said)) >> world_size >> rank;
  if (world_size != mine_.world_size)
    fail(Errc::mismatch,
         "rank {} was told that the world has {} ranks, but rank {} was told {}; check WORLD_SIZE", rank,
         world_size, mine_.rank, mine_.world_size);
  const std::string text = mine_.str();
  if (to_string(store_.compare_set(card_key(mine_.rank), {}, to_bytes(text))) != text)
    fail(Errc::mismatch, "two processes say that they are rank {}; check RANK of each (store {})", mine_.rank,
         store_.where());
}

void Mesh::collect() {
  std::vector<std::string> keys;
  for (int rank = 0; rank < options_.world_size; ++rank) keys.push_back(card_key(rank));
  await_all(keys);
  for (const std::string& key : keys)
    addresses_.push_back(RankAddress::parse(store_.get_text(key, options_.deadline), store_.where()));
}

void Mesh::await_all(const std::vector<std::string>& keys) {
  const auto began = Clock::now();
  for (;;) {
    try {
      return store_.wait(keys, Deadline::sooner(options_.deadline, Deadline::after(check_interval)));
    } catch (const Error& error) {
      if (error.code() != Errc::timeout) throw;
    }
    if (options_.deadline.passed()) break;
    check_reasons();
    for (int rank : absent_of(keys))
      if (options_.is_gone && options_.is_gone(rank))
        fail(Errc::peer_failed, "rank {}: rank {} died or left before it had published its address",
             mine_.rank, rank);
  }
  const std::vector<int> absent = absent_of(keys);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began).count();
  fail(Errc::timeout,
       "rank {} waited {} ms for rank{} {} of {} to come; were they started, with the same address and world "
       "size?",
       mine_.rank, ms, absent.size() == 1 ? "" : "s", join(absent), options_.world_size);
}

std::vector<int> Mesh::absent_of(const std::vector<std::string>& keys) {
  std::vector<int> absent;
  for (int rank = 0; rank < options_.world_size; ++rank)
    if (!store_.check(std::span(&keys[static_cast<std::size_t>(rank)], 1))) absent.push_back(rank);
  return absent;
}

Mesh::LinkKind Mesh::way_to(const RankAddress& peer) const {
  if (peer.rank == mine_.rank) return LinkKind::self;
  if (options_.transport == "tcp" || peer.local_address.empty()) return LinkKind::tcp;
  if (peer.host == mine_.host) return peer.process == mine_.process ? LinkKind::thread : LinkKind::process;
  if (options_.transport == "shm")
    fail(Errc::unsupported,
         "rank {} and rank {} are on different hosts ({} and {}), which share no memory; use "
         "DIST_TRANSPORT=auto or tcp",
         mine_.rank, peer.rank, mine_.host, peer.host);
  return LinkKind::tcp;
}

bool Mesh::is_local(const RankAddress& peer) const { return way_to(peer) != LinkKind::tcp; }

int Mesh::local_index(int rank) const {
  return static_cast<int>(std::count_if(addresses_.begin(), addresses_.begin() + rank,
                                        [this](const RankAddress& address) { return is_local(address); }));
}

std::vector<int> Mesh::nodes() const {
  std::map<std::string_view, int> first_of;  // by host
  std::vector<int> nodes;
  for (const RankAddress& address : addresses_)
    nodes.push_back(first_of.emplace(address.host, address.rank).first->second);
  return nodes;
}

static std::chrono::microseconds asked_spin_time(std::string_view given) {
  constexpr int longest = 1'000'000;
  int us = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), us);
  if (error != std::errc{} || end != given.data() + given.size() || us < 0 || us > longest)
    fail(Errc::invalid_argument, "DIST_SPIN_US=\"{}\" is not a number from 0 to {}", given, longest);
  return std::chrono::microseconds(us);
}

// Polling pays when every rank of this host has a CPU of its own; otherwise it keeps other ranks from
// running.
std::chrono::microseconds Mesh::spin_time() const {
  if (const char* given = std::getenv("DIST_SPIN_US")) return asked_spin_time(given);
  std::set<int> cpus;
  std::size_t ranks = 0;
  for (const RankAddress& address : addresses_) {
    if (address.host != mine_.host) continue;
    cpus.insert(address.cpus.begin(), address.cpus.end());
    ++ranks;
  }
  const bool fits_quota = mine_.cpu_quota == 0 || ranks <= static_cast<std::size_t>(mine_.cpu_quota);
  return fits_quota && ranks <= cpus.size() ? net::spin_time : std::chrono::microseconds{0};
}

void Mesh::prepare() {
  const auto local = std::count_if(addresses_.begin(), addresses_.end(),
                                   [this](const RankAddress& c) { return is_local(c); });
  const auto threads = std::count_if(addresses_.begin(), addresses_.end(),
                                     [this](const RankAddress& c) { return way_to(c) == LinkKind::thread; });
  shared_segment_ =
      std::make_shared<SharedSegment>(static_cast<int>(local), affordable_areas(static_cast<int>(local)));
  engine_ = std::make_shared<Engine>(
      Engine::Config{mine_.rank, mine_.world_size, shared_segment_, spin_time(), nodes()});
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
    store_.compare_set(failed_key, {}, to_bytes(fmt::format("rank {} gave up: {}", mine_.rank, reason)));
  } catch (const std::exception& error) {
    log(LogLevel::debug, "the reason could not be left in the store: {}", error.what());
  }
}

void Mesh::check_reasons() {
  const std::string key(failed_key);
  if (!store_.check(std::span(&key, 1))) return;
  fail(Errc::peer_failed, "rank {} stops connecting: {}", mine_.rank,
       store_.get_text(key, options_.deadline));
}

// A rank that gives up leaves the reason in the store, and says goodbye to the ranks that it is linked with.
// Another rank may only see its process end: so quote the reason if there is one, unless the store died with
// a rank.
void Mesh::fail_by_reason_or(const std::string& what_was_seen) {
  try {
    check_reasons();
  } catch (const Error& error) {
    if (error.code() == Errc::peer_failed) throw;
    log(LogLevel::debug, "whether another rank gave up is not known: {}", error.what());
  }
  fail(Errc::peer_failed, "{}", what_was_seen);
}

void Mesh::check_peers() {
  const std::string seen = engine_->failed_peer();
  if (!seen.empty()) fail_by_reason_or(seen + " while the ranks were connecting");
}

// Ends the wait when a rank that is needed is gone.
void Mesh::check_health() {
  check_peers();
  const auto now = Clock::now();
  if (now >= next_check_) {
    next_check_ = now + check_interval;
    check_reasons();
  }
  if (!options_.deadline.passed()) return;
  fail(Errc::timeout,
       "rank {} could not connect to rank{} {} in time{}; is the network between the hosts open, and are "
       "they still running?",
       mine_.rank, missing().size() == 1 ? "" : "s", join(missing()), describe_calls());
}

}  // namespace dist::net
