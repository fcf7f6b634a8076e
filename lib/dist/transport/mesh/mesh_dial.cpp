// The mesh dials all lower ranks at the same time, each at all of its addresses (advance_calls), and reads
// their answers (hear). The rest reports what goes wrong or takes long: addresses that do not answer, and
// ranks that do not come, each once.
#include <algorithm>

#include "dist/core/fail.h"
#include "dist/core/log.h"
#include "dist/store/address_problems.h"
#include "dist/store/raw_address.h"
#include "dist/transport/mesh/mesh.h"

namespace dist::net {
namespace {

constexpr std::chrono::seconds silence_to_report{3};   // by an address
constexpr std::chrono::seconds missing_to_report{10};  // for a rank
constexpr std::size_t most_named = 8;

}  // namespace

void Mesh::advance_calls() {
  for (Call& call : calls_) {
    while (auto made = call.dialler.poll()) {
      auto talk = std::make_unique<Handshake>(std::move(made->fd));
      greet(*talk, call.peer, options_.token, true)
          ? call.talks.push_back({made->place, std::move(talk)})
          : call.dialler.reject(made->place, "it closed the connection");
    }
    hear(call);
    if (!is_linked(call.peer) && call.dialler.is_hopeless()) fail_to_reach(call);
  }
  std::erase_if(calls_, [this](const Call& call) { return is_linked(call.peer); });
}

void Mesh::hear(Call& call) {
  for (std::size_t i = 0; i < call.talks.size();) {
    auto& [place, talk] = call.talks[i];
    if (!is_ready(talk->fd())) {
      ++i;
      continue;
    }
    const auto state = talk->listen();
    if (state == Handshake::State::listening) {
      ++i;
      continue;
    }
    const bool is_right = state == Handshake::State::complete && talk->greeting().from == call.peer &&
                          talk->greeting().to == mine_.rank;
    if (is_right && greet(*talk, call.peer, {}, false)) {
      note_reached(call, place);
      return link(call.peer, *talk);
    }
    call.was_hung_up = true;
    call.dialler.reject(place, "it closed the connection instead of greeting");
    call.talks.erase(call.talks.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// What is learned about an address serves all ranks of that host.
void Mesh::note_reached(const Call& call, std::size_t place) {
  if (roster_.way_to(call.peer) != LinkKind::tcp) return;  // by a local socket, which has one address
  const std::string host = call.dialler.host(place);
  for (Call& other : calls_)
    if (roster_[other.peer].host == roster_[call.peer].host) other.dialler.prefer(host);
  const auto silent = call.dialler.silent(Dialler::head_start);
  if (silent.empty() || !roster_.is_first_here() || std::exchange(told_unreachable_, true)) return;
  log(LogLevel::warn,
      "rank {} reaches rank {} at {}, but not at {}; DIST_SOCKET_IFNAME, set for rank {}, names the network "
      "interface to use",
      mine_.rank, call.peer, host, fmt::join(silent, ", "), call.peer);
}

// What explains that this rank of another host is not reached: " (why)", or nothing.
static std::string explain(const RankAddress& peer, const RankAddress& mine) {
  const bool is_on_loopback = std::ranges::all_of(
      peer.addresses, [](const std::string& address) { return is_loopback(parse_address(address).host); });
  if (!is_on_loopback || peer.host == mine.host) return loopback_problem();
  return fmt::format(
      " (an address of the loopback device, which only rank {}'s own host reaches: if DIST_SOCKET_IFNAME "
      "names it "
      "there, name another network interface)",
      peer.rank);
}

void Mesh::fail_to_reach(const Call& call) {
  store_.check_reasons();
  if (call.was_hung_up)
    fail(Errc::connection,
         "rank {}: rank {} closed the connection instead of greeting; did it fail, or does it belong to "
         "another job "
         "(another token)?",
         mine_.rank, call.peer);
  const std::string where = call.dialler.tried();
  fail(Errc::connection,
       "rank {} could not reach rank {} at {}{}; has it ended, or is the network between the hosts closed?",
       mine_.rank, call.peer, where.empty() ? "any address" : where, explain(roster_[call.peer], mine_));
}

// Describes the calls to the first rank that is not reached.
std::string Mesh::describe_calls() const {
  for (const Call& call : calls_)
    if (call.talks.empty())
      return fmt::format(": rank {} at {}{}", call.peer, call.dialler.tried(),
                         explain(roster_[call.peer], mine_));
  return "";
}

// Reports, once each, the addresses that cannot be reached and, on one rank per host, those that do not
// answer.
void Mesh::report_silence() {
  for (const Call& call : calls_) {
    const auto silent = call.dialler.silent(silence_to_report);
    if (told_unreachable_ || silent.empty() || !call.talks.empty()) continue;
    told_unreachable_ = true;
    log(LogLevel::warn,
        "rank {} does not reach rank {} at {}{} yet; still trying. DIST_SOCKET_IFNAME, set for rank {}, "
        "names the network interface to use",
        mine_.rank, call.peer, fmt::join(silent, ", "), explain(roster_[call.peer], mine_), call.peer);
  }
  if (told_missing_ || Clock::now() - met_since_ < missing_to_report || !roster_.is_first_here()) return;
  told_missing_ = true;
  std::vector<int> ranks = missing();
  const std::size_t all = ranks.size();
  ranks.resize(std::min(all, most_named));
  log(LogLevel::warn, "rank {} still waits for rank{} {}{} to connect: stopped, or busy?", mine_.rank,
      all == 1 ? "" : "s", fmt::join(ranks, ", "), all > most_named ? ", ..." : "");
}

}  // namespace dist::net
