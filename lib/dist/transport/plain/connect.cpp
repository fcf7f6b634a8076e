// How the ranks connect: through the store each rank learns where the others listen (exchange_addresses),
// dials all lower ranks (dial_rank) and accepts all higher ones (accept_rank).
#include <map>
#include <sstream>

#include <fmt/ranges.h>
#include <poll.h>
#include <sys/socket.h>

#include "dist/core/fail.h"
#include "dist/store/host_id.h"
#include "dist/store/socket.h"
#include "dist/transport/mesh/rank_address.h"
#include "dist/transport/plain/plain.h"

namespace dist::net::plain {
namespace {

// The first bytes from the rank that dials.
struct Hello {
  std::uint64_t magic = 0x31306e69616c70;  // "plain01"
  std::uint64_t token = 0;                 // the token's hash: a rank of another job is refused
  std::int32_t rank = -1, world_size = 0;
};

constexpr std::chrono::milliseconds check_interval{200};
constexpr std::chrono::seconds patience{3};  // for one address, or one caller

std::string key_of(int rank) { return fmt::format("plain/{}", rank); }

// "HOST ADDRESS ADDRESS ..." for each rank, as that rank published it.
std::vector<std::string> exchange_addresses(Store& store, const EndpointOptions& options, int port) {
  const std::string host = options.host.empty() ? host_id() : options.host;
  store.set(key_of(options.rank),
            fmt::format("{} {}", host, fmt::join(reachable_addresses(store.where(), port), " ")));
  std::vector<std::string> all;
  std::vector<int> absent;
  for (int rank = 0; rank < options.world_size; ++rank) try {
      all.push_back(store.get_text(key_of(rank), options.deadline));
    } catch (const Error& error) {
      if (error.code() != Errc::timeout) throw;
      absent.push_back(rank);
    }
  if (!absent.empty())
    fail(Errc::timeout,
         "rank {}: rank{} {} of {} did not come; were they started, with the same address and world size?",
         options.rank, absent.size() == 1 ? "" : "s", fmt::join(absent, ", "), options.world_size);
  return all;
}

UniqueFd dial_rank(int peer, std::istream& addresses, const Hello& mine, const EndpointOptions& options) {
  std::string address, problems;
  while (addresses >> address) {
    auto call = dial(parse_address(address), Deadline::sooner(options.deadline, Deadline::after(patience)));
    if (call.fd && ::send(call.fd.get(), &mine, sizeof mine, MSG_NOSIGNAL) == sizeof mine)
      return std::move(call.fd);
    problems += fmt::format(" {} ({})", address, call.problem);
  }
  fail(Errc::connection, "rank {} could not reach rank {} at{}; has it ended, or is the network closed?",
       options.rank, peer, problems);
}

// Accepts the next higher rank; an empty descriptor when it was a stranger, or when no rank called for a
// while.
UniqueFd accept_rank(int listener, const Hello& mine, Hello& theirs) {
  if (!wait_ready(listener, POLLIN, Deadline::after(check_interval))) return {};
  UniqueFd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!fd || !wait_ready(fd.get(), POLLIN, Deadline::after(patience))) return {};
  const auto got = ::recv(fd.get(), &theirs, sizeof theirs, MSG_DONTWAIT);
  const bool is_ours = got == sizeof theirs && theirs.magic == mine.magic && theirs.token == mine.token &&
                       theirs.rank > mine.rank && theirs.rank < mine.world_size;
  return is_ours ? std::move(fd) : UniqueFd();
}

}  // namespace

Connections connect(Store& store, const EndpointOptions& options) {
  const Hello mine{.token = std::hash<std::string>{}(options.token),
                   .rank = options.rank,
                   .world_size = options.world_size};
  const UniqueFd listener = listen_at({.host = "0.0.0.0", .port = 0, .name = {}});
  Connections all;
  std::map<std::string, int> first_on;  // the first rank of each host
  for (const std::string& entry : exchange_addresses(store, options, local_port(listener.get()))) {
    std::istringstream words(entry);
    std::string host;
    words >> host;
    const int peer = static_cast<int>(all.nodes.size());
    all.nodes.push_back(first_on.emplace(host, peer).first->second);
    all.sockets.push_back(peer < mine.rank ? dial_rank(peer, words, mine, options) : UniqueFd());
  }
  for (int missing = mine.rank + 1; missing < mine.world_size;) {
    Hello theirs;
    UniqueFd fd = accept_rank(listener.get(), mine, theirs);
    if (fd) all.sockets[static_cast<std::size_t>(theirs.rank)] = std::move(fd);
    while (missing < mine.world_size && all.sockets[static_cast<std::size_t>(missing)]) ++missing;
    if (missing < mine.world_size && options.is_gone && options.is_gone(missing))
      fail(Errc::peer_failed, "rank {}: rank {} died while the ranks were connecting", mine.rank, missing);
    if (missing < mine.world_size && options.deadline.passed())
      fail(Errc::timeout, "rank {}: rank {} did not connect in time", mine.rank, missing);
  }
  for (const UniqueFd& socket : all.sockets)
    if (socket) tune_stream(socket.get());
  return all;
}

}  // namespace dist::net::plain
