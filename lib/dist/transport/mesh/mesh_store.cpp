#include "dist/transport/mesh/mesh_store.h"

#include <sstream>

#include <fmt/ranges.h>

#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist::net {
namespace {

constexpr std::string_view failed_key = "endpoint/failed";
constexpr std::string_view world_key = "endpoint/world_size";

std::string card_key(int rank) { return fmt::format("endpoint/{}", rank); }

}  // namespace

void MeshStore::publish(const RankAddress& mine) {
  // The first rank to come says how large the world is; a rank that was started with another size finds out
  // at once.
  const Bytes said =
      store_.compare_set(world_key, {}, to_bytes(fmt::format("{} {}", mine.world_size, mine.rank)));
  int world_size = 0, rank = 0;
  std::istringstream(to_string(said)) >> world_size >> rank;
  if (world_size != mine.world_size)
    fail(Errc::mismatch, "rank {} was told that the world has {}, but rank {} was told {}; check WORLD_SIZE",
         rank, counted(world_size, "rank"), mine.rank, mine.world_size);
  const std::string text = mine.str();
  if (to_string(store_.compare_set(card_key(mine.rank), {}, to_bytes(text))) != text)
    fail(Errc::mismatch, "two processes say that they are rank {}; check RANK of each (store {})", mine.rank,
         store_.where());
}

std::vector<RankAddress> MeshStore::collect() {
  std::vector<std::string> keys;
  for (int rank = 0; rank < options_.world_size; ++rank) keys.push_back(card_key(rank));
  await_all(keys);
  std::vector<RankAddress> addresses;
  for (const Bytes& card : store_.multi_get(keys, options_.deadline))
    addresses.push_back(RankAddress::parse(to_string(card), store_.where()));
  return addresses;
}

void MeshStore::await_all(const std::vector<std::string>& keys) {
  const auto began = std::chrono::steady_clock::now();
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
             options_.rank, rank);
  }
  const std::vector<int> absent = absent_of(keys);
  const auto ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began).count();
  fail(Errc::timeout,
       "rank {} waited {} ms for rank{} {} of {} to come; were they started, with the same address and world "
       "size?",
       options_.rank, ms, absent.size() == 1 ? "" : "s", fmt::join(absent, ", "), options_.world_size);
}

std::vector<int> MeshStore::absent_of(const std::vector<std::string>& keys) {
  std::vector<int> absent;
  for (int rank = 0; rank < options_.world_size; ++rank)
    if (!store_.check(std::span(&keys[static_cast<std::size_t>(rank)], 1))) absent.push_back(rank);
  return absent;
}

void MeshStore::give_up(const std::string& reason) {
  store_.compare_set(failed_key, {}, to_bytes(fmt::format("rank {} gave up: {}", options_.rank, reason)));
}

void MeshStore::check_reasons() {
  const std::string key(failed_key);
  if (!store_.check(std::span(&key, 1))) return;
  fail(Errc::peer_failed, "rank {} stops connecting: {}", options_.rank,
       store_.get_text(key, options_.deadline));
}

void MeshStore::fail_by_reason_or(const std::string& what_was_seen) {
  try {
    check_reasons();
  } catch (const Error& error) {
    if (error.code() == Errc::peer_failed) throw;
    log(LogLevel::debug, "whether another rank gave up is not known: {}", error.what());
  }
  fail(Errc::peer_failed, "{}", what_was_seen);
}

}  // namespace dist::net
