// How the ranks of a group agree to work without messages: each offers an area of its shared segment.
#include <algorithm>
#include <utility>
#include <vector>

#include "dist/direct/peer_memory.h"

namespace dist {
namespace {

// What each rank sends to every other one. The group works without messages when all ranks offer an area.
struct Offer {
  std::int64_t area = -1;  // the number of an area in its shared segment
  std::int64_t has_cores = 0;
};

TensorView view_of(Offer& offer) {
  return {reinterpret_cast<std::byte*>(&offer), sizeof offer, DType::u8, cpu};
}

std::vector<Offer> exchange(Transport& net, Offer mine) {
  std::vector<Offer> offers(static_cast<std::size_t>(net.size()));
  std::vector<Request> requests;
  for (int r = 0; r < net.size(); ++r)
    if (r != net.rank()) requests.push_back(net.irecv(view_of(offers[static_cast<std::size_t>(r)]), r));
  for (int r = 0; r < net.size(); ++r)
    if (r != net.rank()) requests.push_back(net.isend(view_of(mine), r));
  for (Request& request : requests) request.wait();
  offers[static_cast<std::size_t>(net.rank())] = mine;
  return offers;
}

// Where the rounds of this group are numbered from, so that no group's round is taken for another's: there is
// room for 2^44 rounds of each group. The numbers repeat after a million groups; by then an area holds
// nothing of the first of them any more (begin_using). 0 stands for no group.
std::uint64_t group_number(std::uint32_t context) {
  constexpr std::uint32_t groups = (1U << 20) - 1;
  return (std::uint64_t{context % groups} + 1) << 44;
}

bool all_mapped(SharedPeers& shared, const Members& members) {
  bool all = members.size() <= direct::most_parts;
  for (const int member : members.list()) all = all && shared.mapped(member).has_value();
  return all;
}

direct::SharedArea& area_in(const SharedPeers::Peer& peer, std::int64_t index) {
  return *reinterpret_cast<direct::SharedArea*>(peer.shared_segment.area(static_cast<int>(index)));
}

void begin_using(direct::SharedArea& area, std::uint64_t group) {
  for (direct::Notice& notice : area.notices) notice.round.store(0, std::memory_order_relaxed);
  for (auto* flag : {&area.flags.working, &area.flags.done, &area.flags.withdrawn, &area.flags.left})
    flag->store(0, std::memory_order_relaxed);
  area.flags.group.store(group);
}

// An area of this rank for a group; it is given back unless it is kept. Members that know that the group has
// no such area do not wait for this rank to leave.
class OfferedArea {
 public:
  OfferedArea(SharedPeers& shared, std::uint64_t group, bool wanted)
      : shared_(shared), index_(wanted ? shared.areas().take().value_or(none) : none) {
    if (index_ != none) begin_using(area(), group);
  }
  ~OfferedArea() {
    if (index_ == none) return;
    area().flags.group.store(0);
    shared_.areas().give_back(index_);
  }
  OfferedArea(const OfferedArea&) = delete;
  OfferedArea& operator=(const OfferedArea&) = delete;

  int index() const { return index_; }
  int keep() { return std::exchange(index_, none); }

 private:
  static constexpr int none = -1;
  direct::SharedArea& area() const { return area_in(*shared_.mapped(shared_.rank()), index_); }
  SharedPeers& shared_;
  int index_;
};

}  // namespace

std::unique_ptr<PeerMemory> connect_direct(Endpoint& endpoint, TransportOptions options) {
  SharedPeers* const shared = endpoint.shared_peers();
  if (!shared) return nullptr;
  const Members members = options.members;
  PeerMemory::Setup setup{.shared = *shared,
                          .area = -1,
                          .rank = members.group_rank_of(shared->rank()),
                          .peers = {},
                          .group = group_number(options.channel.context),
                          .within_process = true,
                          .has_cores = shared->has_cores(),
                          .fenced = true,
                          .short_bytes = direct::short_bytes,
                          .root_reads = direct::root_reads(false)};
  OfferedArea mine(*shared, setup.group, all_mapped(*shared, members));
  const std::vector<Offer> offers = exchange(
      *shared->open(std::move(options)), {.area = mine.index(), .has_cores = shared->has_cores() ? 1 : 0});
  if (std::ranges::any_of(offers, [](const Offer& offer) { return offer.area < 0; })) return nullptr;
  for (int r = 0; r < members.size(); ++r) {
    const SharedPeers::Peer peer = *shared->mapped(members[r]);
    const Offer& offer = offers[static_cast<std::size_t>(r)];
    setup.peers.push_back({members[r], &area_in(peer, offer.area), &peer.shared_segment,
                           &peer.shared_segment.header().sleeping, peer.shift, peer.pages});
    setup.within_process &= peer.is_thread;
    setup.fenced &= peer.shared_segment.is_fenced();
    if (offer.has_cores == 0) {
      setup.short_bytes = direct::room_bytes;
      setup.root_reads = direct::root_reads(true);
    }
  }
  setup.area = mine.keep();
  return std::make_unique<PeerMemory>(std::move(setup));
}

}  // namespace dist
