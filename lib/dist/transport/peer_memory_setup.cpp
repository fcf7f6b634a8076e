// How the ranks of a group agree to work without messages.
#include "dist/transport/host_transport.h"
#include "dist/transport/peer_memory.h"

namespace dist::net {
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
// nothing of the first of them any more (AreaPool::take). 0 stands for no group.
std::uint64_t group_number(std::uint32_t context) {
  constexpr std::uint32_t groups = (1U << 20) - 1;
  return (std::uint64_t{context % groups} + 1) << 44;
}

bool maps(const Link& link) { return link.shift() && link.shared_segment(); }

}  // namespace

std::unique_ptr<PeerMemory> map_peers(Engine& engine, Transport& net, const TransportOptions& options) {
  const Members& members = options.members;
  PeerMemory::Setup setup{.engine = engine,
                          .area = -1,
                          .rank = net.rank(),
                          .peers = {},
                          .group = group_number(options.channel.context),
                          .within_process = true,
                          .has_cores = engine.has_cores(),
                          .fenced = true,
                          .short_bytes = short_bytes,
                          .root_reads = root_reads(false)};
  bool all_mapped = net.size() <= most_parts;
  for (const int member : members.list()) all_mapped &= maps(engine.link(member));
  Offer mine{.has_cores = engine.has_cores()};
  if (all_mapped) {
    setup.area = engine.with_areas([&](AreaPool& areas) { return areas.take(setup.group); }).value_or(-1);
    mine.area = setup.area;
  }
  const auto give_back = [&] {
    if (mine.area >= 0) engine.with_areas([&](AreaPool& areas) { areas.give_back(setup.area); });
  };

  std::vector<Offer> offers;
  try {
    offers = exchange(net, mine);
  } catch (...) {
    give_back();
    throw;
  }
  if (std::ranges::any_of(offers, [](const Offer& offer) { return offer.area < 0; })) {
    give_back();
    return nullptr;
  }
  for (int r = 0; r < net.size(); ++r) {
    Link& link = engine.link(members[r]);
    SharedArea& area =
        link.shared_segment()->area(static_cast<int>(offers[static_cast<std::size_t>(r)].area));
    SharedSegment& shared_segment = *link.shared_segment();
    setup.peers.push_back(
        {members[r], &area, &shared_segment, &shared_segment.header().sleeping, *link.shift(), link.pages()});
    setup.within_process &= link.kind() != "shm";
    setup.fenced &= shared_segment.is_fenced();
    if (offers[static_cast<std::size_t>(r)].has_cores == 0) {
      setup.short_bytes = shown_bytes;
      setup.root_reads = root_reads(true);
    }
  }
  return std::make_unique<PeerMemory>(std::move(setup));
}

}  // namespace dist::net
